"""Commands on a table's schema, properties and layout, and those that create tables."""

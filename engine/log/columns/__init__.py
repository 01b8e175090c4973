"""What the log says of columns beyond their types: mapping, identity, changes of type."""

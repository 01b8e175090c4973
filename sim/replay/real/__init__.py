"""A real Delta Lake: its session, tables and commands, and what holds them between phases."""

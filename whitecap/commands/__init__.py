"""A module or a folder for each subcommand: it parses, calls who does the work, and prints."""

"""One module per subcommand: it parses, calls the room that does the work, and prints."""

"""What commands have in common: the files they search and write, the rows they make."""

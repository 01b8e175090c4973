"""Row versions kept once, by columns, and what commands do with the rows of files."""

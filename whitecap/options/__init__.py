"""Options that several commands have, and how what is given by options is read."""

"""What the log says when a run is over: walked commit by commit, checked, and made into tables."""

"""What fields of a scenario hold: durations, rates, distributions, and their bounds."""

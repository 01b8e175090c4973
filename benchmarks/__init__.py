"""Speed, always as ratios measured in one process; never a test."""

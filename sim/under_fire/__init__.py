"""Real writers on one table while things fail, judged by the same oracles."""

"""Many runs: the grid of a sweep, its Spark job, and regression scenarios."""

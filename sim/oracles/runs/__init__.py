"""What oracles look at of runs of the simulator besides the table that they left."""

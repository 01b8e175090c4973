"""What a run has to do with the machine it runs on: places to write to, processes, Ctrl-C, code."""

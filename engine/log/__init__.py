"""The table's log: actions, commits, snapshots, checkpoints."""

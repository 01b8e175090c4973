"""What a request is: its kind, how long it takes, which limits and faults it meets."""

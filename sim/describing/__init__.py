"""What there is to say in a scenario, told by its models: to editors, and to readers."""

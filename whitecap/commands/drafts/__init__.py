"""Commands that write a first scenario."""

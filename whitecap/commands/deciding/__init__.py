"""Commands that decide: how far to go, what moves a result, what to change."""

"""What the names that a scenario gives may be made of, as patterns."""

FILE_NAME = r"^\w[\w.-]*$"
"""Of a scenario, which directories and files are called by."""

TABLE_NAME = r"^[A-Za-z_]\w*$"
"""Of a table, which statements write without quotes."""

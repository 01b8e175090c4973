"""A scenario as it might be: with other numbers (`parameters.py`), each change paired with the
scenario as it stands (`paired.py`)."""

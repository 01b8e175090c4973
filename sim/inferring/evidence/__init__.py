"""How surely each figure of a draft is known, and why: written beside it, and read back."""

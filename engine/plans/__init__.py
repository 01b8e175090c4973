"""The short way: statements of simple shape, compiled once for a table's metadata.

What it does not take runs the general way (`engine/commands/`), which is its specification.
"""

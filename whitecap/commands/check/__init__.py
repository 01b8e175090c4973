"""`whitecap check`: regression scenarios for CI. Needs no Java."""

from whitecap.commands.check.command import check

__all__ = ["check"]

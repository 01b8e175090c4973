"""`whitecap sensitivity`: which parameters move a result."""

from whitecap.commands.sensitivity.command import sensitivity

__all__ = ["sensitivity"]

"""`whitecap advise`: the cheapest design that meets the objectives."""

from whitecap.commands.advise.command import advise

__all__ = ["advise"]

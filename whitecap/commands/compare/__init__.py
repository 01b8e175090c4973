"""`whitecap compare`: what differs between two recorded runs or sweeps."""

from whitecap.commands.compare.command import compare

__all__ = ["compare"]

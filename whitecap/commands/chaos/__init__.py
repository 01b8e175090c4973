"""`whitecap chaos`: many drawn variations of scenarios under faults, judged by oracles."""

from whitecap.commands.chaos.command import chaos

__all__ = ["chaos"]

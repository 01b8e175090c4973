"""`whitecap run`: one scenario, live progress, a summary, and a recording if asked for."""

from whitecap.commands.run.command import run

__all__ = ["run"]

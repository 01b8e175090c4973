"""The command line: one subcommand per job, nothing but parsing and printing.

Each command is imported only when it is called, so that `whitecap run` starts without Spark and
`whitecap --help` without anything.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from whitecap.engine.errors import nearest
from whitecap.exit_codes import exit_codes_of
from whitecap.options.misuse import require_usable, spellings_of
from whitecap.process import process_of_a_command

# NumPy and SciPy make threads for linear algebra as soon as they are imported, a tenth of what
# `whitecap run` takes in all. Nothing here has matrices worth a thread, and runs have processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COMMANDS = {
    "advise": "Find the cheapest design that meets the objectives.",
    "calibrate": "Measure an object store or a disk and make a profile of it.",
    "chaos": "Draw variations of scenarios, run them under faults, and judge them.",
    "check": "Run regression scenarios and test their expectations.",
    "compare": "Say what differs between two recorded runs or sweeps.",
    "conformance": "Run conformance cases on the engine, or on a real Delta Lake or delta-rs.",
    "dialects": "List the platforms that can be simulated and how they differ.",
    "explain": "Can two statements conflict on a table, why, and what avoids it.",
    "init": "Write a first scenario from a few answers.",
    "matrix": "Race every pair of commands; print which can conflict.",
    "from-log": "Write a first scenario from the log of a real table.",
    "fuzz": "Race random statements on the engine and on a real Delta Lake.",
    "oracle": "Look for anomalies in a Delta table or a recorded run.",
    "plan": "Find how far a parameter may go before objectives fail.",
    "replay": "Replay a recorded interleaving on a real Delta Lake.",
    "report": "Draw the figures and the page of a sweep or a run.",
    "run": "Run one scenario and print what happened.",
    "scenarios": "List the bundled scenarios, or print one to start from.",
    "schema": "Print the JSON Schema of scenario files, for editors.",
    "sensitivity": "Tell which parameters move a result, and by how much.",
    "stores": "List the store profiles, or every figure of one with its source.",
    "sweep": "Run a grid of scenarios, several runs at a time.",
    "validate": "Predict refusals on a real Delta Lake, then let threads run.",
}
"""Every subcommand with its line of help."""

IN_FOLDERS = {
    **dict.fromkeys(("advise", "plan", "sensitivity"), "deciding"),
    **dict.fromkeys(("from-log", "init"), "drafts"),
}
"""Subcommands whose module lies in a folder of `whitecap/commands/`."""


def command_named(name: str) -> click.Command:
    """A subcommand, from the module of its name."""
    module = name.replace("-", "_")
    place = ".".join(filter(None, ["whitecap.commands", IN_FOLDERS.get(name), module]))
    command: click.Command = getattr(importlib.import_module(place), module)
    return command


class FrontDoor(click.Group):
    """Loads subcommands on demand, and turns whatever ends one into a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = command_named(cmd_name)
        command.epilog = _exit_codes(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_no_such_command(args[0]))
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and command is not None:
            require_usable(command, name, rest, ctx)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            with process_of_a_command():
                return super().main(*args, **extra)
        except OSError as error:  # of help or usage that cannot be written: nothing was invoked
            from whitecap.endings import ended_by

            sys.exit(ended_by(error, {}))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (Exception, KeyboardInterrupt) as error:
            from whitecap.endings import ended_by

            ctx.exit(ended_by(error, _spellings(ctx.invoked_subcommand)))
        return result


def _spellings(command: str | None) -> dict[str, str]:
    return spellings_of(command_named(command)) if command in COMMANDS else {}


def _exit_codes(command: str | None = None) -> str:
    r"""The exit codes at the end of a help text; \b keeps click from filling the lines."""
    lines = (f"  {code:<4} {meaning}" for code, meaning in exit_codes_of(command).items())
    return "\n".join(["\b", "Exit codes:", *lines])


def _no_such_command(name: str) -> str:
    meant = nearest(name, COMMANDS)
    hint = f" Did you mean {meant!r}?" if meant else ""
    return f"No such command {name!r}.{hint}"


@click.group(
    cls=FrontDoor,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_exit_codes(),
)
@click.version_option(package_name="whitecap")
def main() -> None:
    """Simulate and chaos-test concurrent writers on Delta Lake tables."""

"""`whitecap matrix`: which commands can conflict, derived by racing every pair of them."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from whitecap.engine.dialects import Dialect
    from whitecap.engine.races.matrix.catalogue import Command
    from whitecap.engine.races.matrix.matrix import Matrix
    from whitecap.engine.races.matrix.observing import Observed

ON_OFF = {"on": True, "off": False, "both": None}
YES_NO = {"yes": True, "no": False, "both": None}
FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}

F = TypeVar("F", bound=Callable[..., Any])


def _tried(name: str, values: dict[str, bool | None], text: str) -> Callable[[F], F]:
    return click.option(
        name, type=click.Choice(list(values)), default="both", show_default=True, help=text
    )


@click.command()
@click.option(
    "--dialect",
    "dialect_name",
    default="delta-oss-4.4",
    show_default=True,
    help="Whose commands are aborted, or not: one of `whitecap dialects`.",
)
@click.option("--against", metavar="DIALECT", help="Whose commits it meets, if another engine's.")
@click.option("--isolation", help="Serializable or WriteSerializable; without it, all there are.")
@_tried("--row-level-concurrency", ON_OFF, "Tables where it applies, or those where not.")
@_tried("--deletion-vectors", ON_OFF, "Tables with them, or those without.")
@_tried("--partitioned", YES_NO, "Partitioned tables, or the others.")
@_tried("--clustered", YES_NO, "Liquid-clustered tables, or the others.")
@click.option("--pair", nargs=2, metavar="A B", help="Only these two commands, with the witnesses.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown", "json", "html"]),
    default="terminal",
    show_default=True,
    help="How to show it.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write there; its ending names the format."
)
def matrix(
    dialect_name: str,
    against: str | None,
    isolation: str | None,
    row_level_concurrency: str,
    deletion_vectors: str,
    partitioned: str,
    clustered: str,
    pair: tuple[str, str] | None,
    form: str,
    out: Path | None,
) -> None:
    """Race every pair of commands in every interleaving, and print the conflict matrices.

    "Cannot conflict" means that no interleaving on any table of the family ends in a conflict; of
    every "can conflict" the shortest witness is shown (--format html, markdown, json or --pair).
    With --against every command is raced with every command of that dialect, both ways, and looked
    at is what is aborted of the first dialect's.
    """
    from whitecap.engine.dialects import dialect_named
    from whitecap.engine.errors import gathered, noted
    from whitecap.engine.races.matrix.catalogue import commands_named, require_commands
    from whitecap.engine.races.matrix.matrix import choice_of, level_named
    from whitecap.out_file import form_of

    level = None
    with gathered() as problems:
        with noted(problems):
            form = form_of(form, out, FORMS)
        with noted(problems):
            level = level_named(isolation)
        with noted(problems):
            met = None if against is None else dialect_named(against, "--against")
        with noted(problems):
            require_commands(pair or ())
        dialect = dialect_named(dialect_name)
        commands = commands_named(pair, dialect) if pair else []
    choice = choice_of(
        dialect,
        level,
        ON_OFF[row_level_concurrency],
        ON_OFF[deletion_vectors],
        YES_NO[partitioned],
        YES_NO[clustered],
    )
    both = Both(dialect_name, against)
    commands = commands or both.commands()
    if pair and met:
        commands_named(pair, met)
    raced = _raced(both, choice, commands, pair)
    _give(raced, form, out, pair is not None)


class Both(NamedTuple):
    """The dialect that is looked at, and that of the winners if it is another; by their names."""

    dialect: str
    against: str | None = None

    def dialects(self) -> tuple[Dialect, Dialect | None]:
        """The two."""
        from whitecap.engine.dialects import dialect_named

        against = None if self.against is None else dialect_named(self.against)
        return dialect_named(self.dialect), against

    def commands(self) -> list[Command]:
        """The commands that both have."""
        from whitecap.engine.races.matrix.catalogue import commands_of

        dialect, against = self.dialects()
        theirs = commands_of(against or dialect)
        return [command for command in commands_of(dialect) if command in theirs]


def _raced(
    both: Both, choice: Any, commands: Sequence[Command], pair: tuple[str, str] | None
) -> Matrix:
    """Race on each table in a process of its own, as many at a time as there are cores.

    A single pair is raced sooner than processes start.
    """
    from functools import partial

    from whitecap.engine.errors import InvalidInput, Problem
    from whitecap.engine.races.matrix.family import variants
    from whitecap.engine.races.matrix.matrix import matrix_of
    from whitecap.sim.machine.processes import Processes
    from whitecap.terminal.progress import tracked

    dialect, against = both.dialects()
    writable = variants(against, choice) if against else ()
    tables = [
        table
        for table in variants(dialect, choice)
        if against is None or table.rows_reconciled or table in writable
    ]
    if not tables:
        raise InvalidInput([Problem("tables", "none of this kind can be written by all")])
    observe = partial(_observed, both, pair)
    if pair:
        return matrix_of(dialect, choice, commands, tables, list(map(observe, tables)), against)
    with Processes(os.cpu_count() or 1, _collect_less) as processes:
        observed = processes.map(observe, tables)
        raced = list(tracked(observed, len(tables), "racing on tables"))
    return matrix_of(dialect, choice, commands, tables, raced, against)


def _collect_less() -> None:
    """Look for garbage less often than Python does: a table leaves some 15,000 objects of it."""
    gc.set_threshold(1_000_000, 10, 10)


def _observed(both: Both, pair: tuple[str, str] | None, variant: Any) -> Observed:
    from whitecap.engine.races.matrix.catalogue import commands_named
    from whitecap.engine.races.matrix.observing import observe, ordered_pairs_of, pairs_of
    from whitecap.engine.settings import Settings

    dialect, against = both.dialects()
    if pair is None:
        pairs = (pairs_of if against is None else ordered_pairs_of)(both.commands())
    else:
        named = commands_named(pair, dialect)
        pairs = [(named[0], named[-1])] if against is None else ordered_pairs_of(named)
    return observe(variant, dialect, pairs, Settings(), against=against)


def _give(raced: Matrix, form: str, out: Path | None, with_witnesses: bool) -> None:
    from whitecap.engine.races.matrix.plain import plain
    from whitecap.out_file import write_out
    from whitecap.sim.machine.code_version import code_version

    document = {**plain(raced), "origin": f"whitecap {code_version()}"}
    if form == "terminal":
        from whitecap.terminal.matrix import show

        show(document, with_witnesses)
        return
    write_out(out, _written(document, form), "matrix")


def _written(document: dict[str, Any], form: str) -> str:
    from whitecap.reports.pages.matrix_page import matrix_html, matrix_markdown

    match form:
        case "json":
            return json.dumps(document, indent=2, ensure_ascii=False)
        case "markdown":
            return matrix_markdown(document)
    return matrix_html(document)

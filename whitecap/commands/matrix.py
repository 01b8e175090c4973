"""`whitecap matrix`: which commands can conflict, derived by racing every pair of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WordOf
from whitecap.out_file import PAGE_BEGINS, form_of

if TYPE_CHECKING:
    from whitecap.engine.races.matrix.matrix import Matrix

ON_OFF = {"on": True, "off": False, "both": None}
YES_NO = {"yes": True, "no": False, "both": None}
FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}
BEGINS = {
    "html": PAGE_BEGINS,
    "markdown": b"# Which commands conflict on ",
    "json": b'{\n  "dialect": ',
}
"""How a file of each format begins."""

F = TypeVar("F", bound=Callable[..., Any])


def _tried(name: str, values: dict[str, bool | None], text: str) -> Callable[[F], F]:
    return click.option(
        name, type=WordOf(list(values)), default="both", show_default=True, help=text
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
    type=WordOf(["terminal", "markdown", "json", "html"]),
    default="terminal",
    show_default=True,
    help="How to show it.",
)
@click.option("--out", type=PlaceOf(), help="Write there; its ending names the format.")
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
    from whitecap.engine.errors import noted
    from whitecap.engine.races.matrix.catalogue import commands_named, require_commands
    from whitecap.engine.races.matrix.choice import choice_of, table_level_named
    from whitecap.racing import Racing, raced

    level = met = None
    with gathered_with_options() as problems:
        with noted(problems):
            form = form_of(form, out, FORMS, BEGINS)
        with noted(problems):
            level = table_level_named(isolation)
        with noted(problems):
            met = None if against is None else dialect_named(against, "--against")
        with noted(problems):
            require_commands(pair or ())
        dialect = dialect_named(dialect_name)
        choice = choice_of(
            dialect,
            level,
            ON_OFF[row_level_concurrency],
            ON_OFF[deletion_vectors],
            YES_NO[partitioned],
            YES_NO[clustered],
        )
        for each in filter(None, (dialect, met)):
            commands_named(pair or (), each)
    _give(raced(Racing(dialect_name, against, pair), choice), form, out, pair is not None)


def _give(derived: Matrix, form: str, out: Path | None, with_witnesses: bool) -> None:
    from whitecap.engine.races.matrix.document import matrix_document
    from whitecap.out_file import write_out
    from whitecap.sim.machine.code_version import code_version

    document = {**matrix_document(derived), "origin": f"whitecap {code_version()}"}
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

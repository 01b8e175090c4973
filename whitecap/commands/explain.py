"""`whitecap explain`: two statements on one table, in every order, and what avoids conflicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from whitecap.exit_codes import ExitCode
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf, WordOf
from whitecap.out_file import PAGE_BEGINS, form_of

FORMS = {".json": "json", ".html": "html", ".htm": "html"}
"""Formats by a file's ending."""

BEGINS = {"html": PAGE_BEGINS, "json": b'{\n  "answer": '}
"""How a file of each format begins."""


@click.command()
@click.option(
    "--table",
    required=True,
    type=PlaceOf(),
    help="A table's YAML, a bundled one's name, or a Delta table's directory (only read).",
)
@click.argument("statement_a", metavar="[A]", required=False)
@click.argument("statement_b", metavar="[B]", required=False)
@click.option(
    "--other",
    "others",
    metavar="NAME=PATH",
    multiple=True,
    help="Another Delta table that A or B read, beside a real one; may be given again.",
)
@click.option(
    "--conf",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of the session, by Spark's key; may be given again.",
)
@click.option("--dialect", help="Instead of the table's; delta-oss-4.4 if it names none.")
@click.option(
    "--format",
    "form",
    type=WordOf(["terminal", "json", "html"]),
    default="terminal",
    show_default=True,
    help="How to show it.",
)
@click.option("--out", type=PlaceOf(), help="Write there; its ending names the format.")
@click.option(
    "--fail-on-conflict",
    is_flag=True,
    help="Exit 1 if the two can conflict, or damage rows side by side.",
)
@click.pass_context
def explain(
    ctx: click.Context,
    table: Path,
    statement_a: str | None,
    statement_b: str | None,
    others: tuple[str, ...],
    conf: tuple[str, ...],
    dialect: str | None,
    form: str,
    out: Path | None,
    fail_on_conflict: bool,
) -> None:
    """Can the SQL statements A and B conflict on a table, why, and what would avoid it?

    Every order of their snapshots and commits is played; every suggestion is checked in the same
    way. A and B may stand in the table's YAML instead.
    """
    from whitecap.engine.errors import noted
    from whitecap.engine.races.explain.document import explanation_document
    from whitecap.explaining import asked

    settings: dict[str, str] = {}
    beside: dict[str, str] = {}
    with gathered_with_options() as problems:
        with noted(problems):
            form = form_of(form, out, FORMS, BEGINS)
        with noted(problems):
            settings = _pairs(conf, "--conf needs KEY=VALUE")
        with noted(problems):
            beside = _pairs(others, "--other needs NAME=PATH")
        explained = asked(
            table, statement_a, statement_b, dialect=dialect, settings=settings, others=beside
        )
    document = explanation_document(explained())
    _give(document, form, out)
    if fail_on_conflict and (document["can_conflict"] or document["damage"]):
        ctx.exit(ExitCode.EXPECTATION_MISSED)


def _pairs(given: tuple[str, ...], needed: str) -> dict[str, str]:
    """Options of the form `key=value`."""
    from whitecap.engine.errors import InvalidInput, Problem

    parted = [option.partition("=") for option in given]
    if not all(key and equals and value for key, equals, value in parted):
        raise InvalidInput([Problem("", needed)])
    return {key: value for key, _, value in parted}


def _give(document: dict[str, Any], form: str, out: Path | None) -> None:
    from whitecap.out_file import write_out
    from whitecap.terminal.explanation import show

    if form == "terminal":
        show(document)
    else:
        write_out(out, _written(document, form), "explanation")


def _written(document: dict[str, Any], form: str) -> str:
    from whitecap.reports.pages.explanation_page import explanation_html

    if form == "json":
        return json.dumps(document, indent=2, ensure_ascii=False, default=str)
    return explanation_html(document)

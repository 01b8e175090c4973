"""`whitecap dialects`: the platforms that can be simulated, and how each differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from whitecap.engine.dialects import (
    DIALECTS,
    Dialect,
    RowLevelRules,
    dialect_named,
    versions_of,
)
from whitecap.engine.errors import each_read
from whitecap.engine.settings import own_options
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import WordOf

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@click.argument("names", nargs=-1, metavar="[DIALECT]...")
@click.option(
    "--format",
    "form",
    type=WordOf(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print them.",
)
def dialects(names: tuple[str, ...], form: str) -> None:
    """List the dialects with what each does otherwise than Delta Lake 4.4, and who says so.

    A scenario chooses one with `dialect:`. Of each: isolation levels, row-level concurrency,
    OPTIMIZE beside DML, options where documents leave room, differences, and what it lacks.
    """
    chosen = _named(names) or list(DIALECTS.values())
    if form == "json":
        click.echo(json.dumps([_described(dialect) for dialect in chosen], indent=2))
        return
    from whitecap.terminal.console import new_console

    console = new_console()
    for number, dialect in enumerate(chosen):
        if number:
            console.print()
        _show(console, dialect)


def _named(names: tuple[str, ...]) -> list[Dialect]:
    """Raises `InvalidInput` for every unknown one."""
    with gathered_with_options() as problems:
        return each_read(names, dialect_named, problems)


def _show(console: Console, dialect: Dialect) -> None:
    from whitecap.terminal.table import print_indented, print_named

    console.print(dialect.name, style="bold")
    print_named(console, dict(_facts(dialect)))
    for text, source in _points(dialect):
        print_indented(console, text, by=4, first="  -")
        print_indented(console, source, by=6, style="dim")


def _facts(dialect: Dialect) -> Iterator[tuple[str, str]]:
    yield "stands for", f"{versions_of(dialect)} of {dialect.vendor.value}"
    if dialect.of_newer_versions:
        yield "newer ones", dialect.of_newer_versions
    yield "isolation", _isolation(dialect)
    yield "row-level", _row_level(dialect.row_level)
    yield "OPTIMIZE", _optimize(dialect)
    options = [option for option in own_options() if option.partition(" ")[0] not in dialect.lacks]
    yield "options", ", ".join(options)
    if not dialect.differences:
        yield "differs", "in nothing: the other dialects are compared with it"


def _points(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Each difference and what is lacking, with its source or reason."""
    for difference in dialect.differences:
        yield difference.text, difference.source
    for reason in dict.fromkeys(dialect.lacks.values()):
        names = [name for name, why in dialect.lacks.items() if why == reason]
        yield f"lacks {', '.join(names)}:", reason


def _isolation(dialect: Dialect) -> str:
    if dialect.level_spellings is not None:
        spellings = " or ".join(sorted(dialect.level_spellings))
        return f"{dialect.default_isolation}, unless the table's level is spelled {spellings}"
    if len(dialect.settable_levels) > 1:
        levels = " or ".join(sorted(dialect.settable_levels))
        return f"{dialect.default_isolation} by default; SQL may set {levels}"
    return (
        f"{dialect.default_isolation}, and SQL sets no other level; one that a table's log already"
        " holds is obeyed"
    )


def _row_level(rules: RowLevelRules | None) -> str:
    if rules is None:
        return "none"
    only = "liquid-clustered" if rules.only_clustered_tables else "unpartitioned"
    merge = ", MERGE with a predicate on its target" if rules.merge_needs_target_predicate else ""
    covered = sorted(rules.commands_without_photon - {"WRITE"})
    photon = f"; without Photon {' and '.join(covered)} alone" if len(covered) < 3 else ""
    return f"on {only} tables with deletion vectors{merge}{photon}"


def _optimize(dialect: Dialect) -> str:
    if dialect.remaps_deletions_onto_compacted_files:
        return "no conflict with deletion vectors, unless ZORDER BY is used"
    if not dialect.checks.moves_concern_removers:
        return "its files may be removed by anybody at the same time, unseen"
    return "conflicts where both change or read a file, with deletion vectors too"


def _described(dialect: Dialect) -> dict[str, Any]:
    return {
        "name": dialect.name,
        "engine_info": dialect.engine_info,
        "stands_for": versions_of(dialect),
        "of_newer_versions": dialect.of_newer_versions or None,
        "default_isolation": dialect.default_isolation.value,
        "settable_levels": sorted(level.value for level in dialect.settable_levels),
        "row_level_concurrency": _rules(dialect),
        "differences": [{"text": d.text, "source": d.source} for d in dialect.differences],
        "lacks": dict(dialect.lacks),
        "writable_features": (
            None if dialect.writable_features is None else sorted(dialect.writable_features)
        ),
    }


def _rules(dialect: Dialect) -> dict[str, Any] | None:
    rules = dialect.row_level
    if rules is None:
        return None
    return {
        "applies": _row_level(rules),
        "only_clustered_tables": rules.only_clustered_tables,
        "merge_needs_target_predicate": rules.merge_needs_target_predicate,
        "commands_without_photon": sorted(rules.commands_without_photon),
    }

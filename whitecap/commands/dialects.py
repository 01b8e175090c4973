"""`whitecap dialects`: the platforms that can be simulated, and how each differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from whitecap.engine.dialects import (
    DELTA_OSS_4_4,
    DIALECTS,
    Dialect,
    RowLevelRules,
    dialect_named,
)
from whitecap.engine.settings import own_options


@click.command()
@click.argument("names", nargs=-1, metavar="[DIALECT]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print them.",
)
def dialects(names: tuple[str, ...], form: str) -> None:
    """List the dialects with what each does otherwise than Delta Lake 4.4, and who says so.

    A scenario chooses one with `dialect:`. Exits 2 for a name that there is not.
    """
    chosen = [dialect_named(name) for name in names] or list(DIALECTS.values())
    if form == "json":
        click.echo(json.dumps([_described(dialect) for dialect in chosen], indent=2))
        return
    click.echo("\n\n".join("\n".join(_lines(dialect)) for dialect in chosen))


def _lines(dialect: Dialect) -> Iterator[str]:
    yield dialect.name
    yield f"  isolation: {_isolation(dialect)}"
    yield f"  row-level concurrency: {_row_level(dialect.row_level)}"
    yield f"  OPTIMIZE beside DML: {_optimize(dialect)}"
    options = [one for one in own_options() if one.partition(" ")[0] not in dialect.lacks]
    yield f"  options where documents leave room: {', '.join(options)}"
    if dialect is DELTA_OSS_4_4:
        yield "  what the other dialects are compared with"
    for difference in dialect.differences:
        yield f"  - {difference.text}"
        yield f"      {difference.source}"
    for reason in dict.fromkeys(dialect.lacks.values()):
        names = [name for name, why in dialect.lacks.items() if why == reason]
        yield f"  - lacks {', '.join(names)}:"
        yield f"      {reason}"


def _isolation(dialect: Dialect) -> str:
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
    return "conflicts where both change or read a file, with deletion vectors too"


def _described(dialect: Dialect) -> dict[str, Any]:
    return {
        "name": dialect.name,
        "engine_info": dialect.engine_info,
        "default_isolation": dialect.default_isolation.value,
        "settable_levels": sorted(level.value for level in dialect.settable_levels),
        "row_level_concurrency": _rules(dialect),
        "differences": [{"text": d.text, "source": d.source} for d in dialect.differences],
        "lacks": dict(dialect.lacks),
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

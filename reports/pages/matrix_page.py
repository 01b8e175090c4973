"""Which commands conflict, as a page and as Markdown; made from plain values alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.reports.markup.templating import template
from whitecap.reports.words import counted

_Plain = Mapping[str, Any]


class _Grid(Struct, frozen=True):
    """A table of cells: `rows` are titles with one cell per column, `None` for an empty place."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[_Plain | None, ...]], ...]


def matrix_html(matrix: _Plain) -> str:
    """A page that opens without a network; every witness unfolds."""
    return template("matrix.html").render(**_shown(matrix))


def matrix_markdown(matrix: _Plain) -> str:
    """The same for a wiki or a pull request."""
    return template("matrix.md").render(**_shown(matrix))


def _shown(matrix: _Plain) -> dict[str, Any]:
    return {
        "matrix": matrix,
        "published": [(table, published_grid(table)) for table in matrix["published"]],
        "grids": [
            (number, grid, all_pairs(matrix, grid), list(_by_loser(matrix, grid)))
            for number, grid in enumerate(matrix["grids"])
        ],
        "headline": headline(matrix),
        "platform": platform(matrix),
        "anchor": anchor,
        "applies": applies,
        "counted": counted,
    }


def platform(matrix: _Plain) -> str:
    """Whose rules decide, and whose commits they decide about where those are another's."""
    dialect, against = str(matrix["dialect"]), matrix["against"]
    return f"{dialect}, against commits of {against}" if against else dialect


def headline(matrix: _Plain) -> str:
    """The answer in one sentence."""
    compared = [table["agrees"] for table in matrix["published"]]
    if not compared:
        pairs = [cell["can_conflict"] for grid in matrix["grids"] for cell in grid["pairs"]]
        if len(matrix["commands"]) > 2:
            return f"{sum(pairs)} of {len(pairs)} pairs can conflict."
        can = any(pairs)
        return f"{' and '.join(matrix['commands'])} {'can' if can else 'cannot'} conflict."
    if None in compared:
        return "Only some of the tables were raced, so the published cells may read differently."
    if all(compared):
        tables = "published table" if len(compared) == 1 else f"{len(compared)} published tables"
        as_far = "" if _all_apply(matrix) else f", as far as it applies to {matrix['dialect']}"
        return f"Every cell of the {tables} comes out as published{as_far}."
    differing = sum(not cell["agrees"] for table in matrix["published"] for cell in table["cells"])
    return f"{differing} published {'cell differs' if differing == 1 else 'cells differ'}."


def _all_apply(matrix: _Plain) -> bool:
    return all(applies(cell) for table in matrix["published"] for cell in table["cells"])


def applies(cell: _Plain) -> bool:
    """Whether all of a published cell's words can apply to the dialect."""
    return bool(cell["expected"] == cell["published"])


def published_grid(table: _Plain) -> _Grid:
    """The vendor's layout: groups down and across, the upper triangle empty."""
    titles = tuple(group["title"] for group in table["groups"])
    cells = {(cell["row"], cell["column"]): cell for cell in table["cells"]}
    rows = tuple((row, tuple(cells.get((row, column)) for column in titles)) for row in titles)
    return _Grid(titles, rows)


def all_pairs(matrix: _Plain, grid: _Plain) -> _Grid:
    """Every ordered pair: whether the command of the row is aborted by that of the column."""
    names: Sequence[str] = matrix["commands"]
    cells = {(cell["loser"], cell["winner"]): cell for cell in grid["pairs"]}
    rows = tuple((row, tuple(cells.get((row, column)) for column in names)) for row in names)
    return _Grid(tuple(names), rows)


def _by_loser(matrix: _Plain, grid: _Plain) -> Iterator[tuple[str, list[_Plain]]]:
    for name in matrix["commands"]:
        conflicts = [c for c in grid["pairs"] if c["loser"] == name and c["can_conflict"]]
        if conflicts:
            yield name, conflicts


def anchor(cell: _Plain, grid: int) -> str:
    """The place on the page where a pair's witness stands; `grid` counts from 0."""
    return "-".join(_words(f"{cell['loser']} by {cell['winner']} {grid or ''}"))


def _words(text: str) -> Iterable[str]:
    kept = "".join(char if char.isalnum() else " " for char in text)
    return kept.lower().split()


def symbol(cell: _Plain | None) -> str:
    """A cell in one character."""
    if cell is None:
        return " "
    if not cell["can_conflict"]:
        return "·"
    return "◐" if cell["only_when"] else "●"

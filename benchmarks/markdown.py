"""The pages that benchmarks write, in Markdown: tables, and sections of pages of other things."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
REAL_ENGINES = ROOT / "docs" / "real-engines.md"
"""Holds what benchmarks found out with real engines, a section of each."""


def table(
    head: Sequence[str], rows: Iterable[Iterable[object]], *, numbers: bool = False
) -> Iterator[str]:
    """The lines of a table; what stands behind its first column is on the right if it is
    `numbers`."""
    yield _line(head)
    yield f"|---|{('---:|' if numbers else '---|') * (len(head) - 1)}"
    yield from map(_line, rows)


def write_last_section(page: Path, title: str, lines: Iterable[str]) -> None:
    """End a page with these lines, in the place of the section that has their title now."""
    before = page.read_text(encoding="utf-8").partition(title)[0].rstrip()
    page.write_text("\n".join([before, "", title, "", *lines, ""]), encoding="utf-8")


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

"""Tables of the pages that benchmarks write, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(
    head: Sequence[str], rows: Iterable[Iterable[object]], *, numbers: bool = False
) -> Iterator[str]:
    """The lines of a table; what stands behind its first column is on the right if it is
    `numbers`."""
    yield _line(head)
    yield f"|---|{('---:|' if numbers else '---|') * (len(head) - 1)}"
    yield from map(_line, rows)


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"

"""The axis of a drafted sweep that asks how many writers a table takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

TIMES = (1, 2, 3)
"""How many times as many writers a drafted sweep tries: today's, and what growth may bring."""


def writers_axis(counts: Mapping[str, int], growing: Collection[str]) -> Iterator[str]:
    """The axis as lines of YAML: as many writers as `counts` has by group, and more.

    A variant is called by how many writers there are in all, so that an answer can name it.
    """
    yield "    writers:  # how many there are in all: as many as today, and more"
    for times in TIMES:
        more = {name: count * times for name, count in counts.items() if name in growing}
        variant = f'      "{sum({**counts, **more}.values())}":'
        if times == 1:
            yield f"{variant} {{}}"
            continue
        yield variant
        for name, count in more.items():
            yield f"        writers.{name}.count: {count}"

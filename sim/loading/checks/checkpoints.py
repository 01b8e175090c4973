"""A checkpoint is of one query, which appends to one table or has one function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import PlacedProblem, within


def checkpoint_problems(groups: Mapping[str, WriterGroup]) -> Iterator[PlacedProblem]:
    """Queries with the checkpoint of another one."""
    queries: dict[str, tuple[str, WriterGroup]] = {}
    for name, group in groups.items():
        query = group.streaming or group.foreach_batch
        if query is None:
            continue
        first, same = queries.setdefault(query.checkpoint, (name, group))
        problems = _of_another(query.checkpoint, group, first, same)
        yield from within(("writers", name), problems)


def _of_another(
    checkpoint: str, group: WriterGroup, first: str, same: WriterGroup
) -> Iterator[PlacedProblem]:
    """How a group's query differs from that of the `first` group with its checkpoint, `same`."""
    if group.streaming is not None and same.streaming is not None:
        if group.streaming.table != same.streaming.table:
            table = same.streaming.table
            said = f"checkpoint {checkpoint!r} is of a query that writes {table!r}"
            yield ("streaming", "table"), said, table
    elif (group.streaming, group.parts) != (same.streaming, same.parts):
        key = "foreach_batch" if group.streaming is None else "streaming"
        said = f"checkpoint {checkpoint!r} is of another query, that of {first!r}"
        yield (key, "checkpoint"), said, None

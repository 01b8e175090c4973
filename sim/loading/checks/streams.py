"""Do streaming queries, and queries with a function, fit their tables and parameters?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whitecap.engine.dialects import MICRO_BATCH, Dialect
from whitecap.engine.errors import UnsupportedFeature, nearest
from whitecap.sim.loading.checks.parameters import parameter_problems
from whitecap.sim.loading.checks.tables import GivenTable, no_such_table, table_named
from whitecap.sim.rehearsal.platform import Platform
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.scenario.writers import Streaming, WriterGroup
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem

NOT_OF_STREAMS = "a batch belongs to its checkpoint, and so to no member of a group"


def streaming_problems(
    group: WriterGroup, streaming: Streaming, tables: Sequence[GivenTable], platform: Platform
) -> Iterator[PlacedProblem]:
    """Every problem of a streaming query and its parameters, at its place within the writer."""
    name = streaming.table
    if name is None and len(tables) > 1:
        listed = ", ".join(each.table.name for each in tables)
        yield ("streaming",), f"needs the table that it writes: there are {listed}", None
    elif name is None:
        yield from _on_table(group, streaming, tables[0], platform)
    elif target := table_named(tables, name):
        yield from _on_table(group, streaming, target, platform)
    else:
        yield ("streaming", "table"), *no_such_table(name, tables)


def _on_table(
    group: WriterGroup, streaming: Streaming, target: GivenTable, platform: Platform
) -> Iterator[PlacedProblem]:
    if target.schema is None:
        return
    wrong = list(parameter_problems(group.parameters, target))
    yield from wrong
    if target.table.key is None:
        yield ("streaming",), f"rows need {target.dotted}.key", None
    if not wrong and target.is_sound(platform.maker, platform.start_ms):
        yield from _of_batches(group, streaming, target.table, platform)


def _of_batches(
    group: WriterGroup, streaming: Streaming, table: TableSection, platform: Platform
) -> Iterator[PlacedProblem]:
    yield from _not_streamed(platform.dialect)
    of_members = {name for name, each in group.parameters.items() if each.of_member}
    for name in sorted(of_members):
        yield ("parameters", name), NOT_OF_STREAMS, None
    if streaming.rows.choose.member:
        yield ("streaming", "rows", "choose"), NOT_OF_STREAMS, None
    unused = sorted(name for name in group.parameters.keys() - of_members - table.values.keys())
    for name in unused:
        said = "is not used: a batch takes only columns with listed values"
        yield ("parameters", name), said, nearest(name, table.values)
    if not (of_members or unused or streaming.rows.choose.member):
        yield from _refused(group, streaming, table, platform)


def _refused(
    group: WriterGroup, streaming: Streaming, table: TableSection, platform: Platform
) -> Iterator[PlacedProblem]:
    from whitecap.sim.rehearsal.dry_run import batch_refusals

    for said in batch_refusals(streaming.rows, group.parameters, table, platform):
        yield ("streaming",), said, None


def _not_streamed(dialect: Dialect) -> Iterator[PlacedProblem]:
    try:
        dialect.require([MICRO_BATCH])
    except UnsupportedFeature as error:
        yield ("streaming",), str(error), None


def function_problems(group: WriterGroup, platform: Platform) -> Iterator[PlacedProblem]:
    """Every problem of a query whose function runs a writer's statements."""
    for _, said, hint in _not_streamed(platform.dialect):
        yield ("foreach_batch",), said, hint
    for number, part in enumerate(group.parts):
        place: KeyPath = () if group.statements is None else ("statements", number)
        for name in sorted(name for name, each in part.parameters.items() if each.of_member):
            yield (*place, "parameters", name), NOT_OF_STREAMS, None

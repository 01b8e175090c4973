"""Are expectations of writers, commands and cells that there are, and can they be missed?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from whitecap.engine.errors import unknown_name
from whitecap.sim.loading.checks.sweep import unknown_variants
from whitecap.sim.loading.checks.writers import GivenWriters
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.vain import vain, vain_among
from whitecap.sim.scenario.writers import tells_statements_apart
from whitecap.sim.scenario.yaml.text import PlacedProblem, within


def expectation_problems(
    expectations: Mapping[int, Expectation],
    axes: Mapping[str, Sequence[str]] | None,
    writers: GivenWriters,
    tables: int,
) -> Iterator[PlacedProblem]:
    """What is wrong with expectations of a scenario with these writers and so many tables.

    Where a sweep has `axes`, which commands there are is asked of each cell.
    """
    for position, expectation in expectations.items():
        names = _unknown_names(expectation, axes or {}, writers)
        yield from within(("expect", position), names)
    for position, expectation in expectations.items():
        yield from within(("expect", position), vain(expectation))
    if axes is None:
        yield from commands_nobody_runs(expectations, writers, tables)


def commands_nobody_runs(
    expectations: Mapping[int, Expectation], writers: GivenWriters, tables: int
) -> Iterator[PlacedProblem]:
    """Expectations, by their position, of a command that these writers do not run."""
    with_tables = tells_statements_apart(writers.groups.values(), tables)
    for position, expectation in expectations.items():
        if expectation.writer is None or expectation.writer in writers.groups:
            problems = vain_among(expectation, writers.groups, with_tables=with_tables)
            yield from within(("expect", position), problems)


def _unknown_names(
    expectation: Expectation, axes: Mapping[str, Sequence[str]], writers: GivenWriters
) -> Iterator[PlacedProblem]:
    writer = expectation.writer
    if writer is not None and writer not in writers.names:
        yield ("writer",), *unknown_name("writer", writer, writers.names)
    yield from within(("when",), unknown_variants(expectation.when, axes))

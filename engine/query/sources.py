"""Rows that a write brings along, with their columns, and how they become other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.sql.expressions.scope import Letters, Relation
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters, Term
from whitecap.engine.storage.requests import Row

Projection = Callable[[Row], Row]


class Source(Struct, frozen=True):
    """Rows that a write brings along, with their columns.

    `tasks` are the rows of each task of the Spark job, `letters` those of CHAR columns.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    tasks: Sequence[Sequence[Row]]
    letters: Letters = ()

    @property
    def rows(self) -> Sequence[Row]:
        """All rows, of all tasks."""
        if len(self.tasks) == 1:
            return self.tasks[0]
        return [row for task in self.tasks for row in task]

    def spread(self, count: int) -> Source:
        """The rows dealt out to `count` tasks, or fewer where there are fewer rows.

        Source: Spark's LocalTableScanExec and ParallelCollectionRDD.slice.
        """
        rows = self.rows
        count = min(count, len(rows))
        if count < 2:
            return self
        cuts = [at * len(rows) // count for at in range(count + 1)]
        return replace(self, tasks=[rows[a:b] for a, b in pairwise(cuts)])

    def relation(self, names: Sequence[str], offset: int = 0) -> Relation:
        """The source's columns in a scope, by its names."""
        known_as = frozenset(name.lower() for name in names)
        return Relation(known_as, self.names, self.types, offset, letters=self.letters)


def projection(terms: Sequence[Term], parameters: Parameters, width: int) -> Projection:
    """Computes a row of `width` values from a row: one value for each term."""
    bounds = [term.bind(parameters) for term in terms]
    places = [bound.column for bound in bounds]
    if places == list(range(width)):
        return lambda row: row
    columns = [place for place in places if place is not None]
    if len(columns) == len(places) and len(columns) > 1:
        return itemgetter(*columns)
    evaluates: list[Evaluate] = [bound.evaluate for bound in bounds]
    return lambda row: tuple([evaluate(row) for evaluate in evaluates])

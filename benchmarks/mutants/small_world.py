"""A small world in which all that can happen is played: what a bug changes there, and what not.

One table of six rows in two files; every pair of a dozen statements, in every order of their
steps, on engines with and without conflicts by rows, at both levels, with deletion vectors and
without. Each ending and all rows afterwards are compared; by which exception somebody is refused
is not: that is a matter of the conformance cases. A bug that changes nothing here, and of which its
text says why, is taken for one that nobody can see.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from msgspec import Struct

from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.planting import plant

COLUMNS = "id BIGINT, g BIGINT, v BIGINT"
FILES = (((1, 0, 10), (2, 0, 20), (3, 1, 30)), ((4, 1, 40), (5, 0, 50), (6, 1, 60)))

ENGINES = ("delta-oss-4.4", "databricks-14.2", "databricks-14.3")
LEVELS = ("WriteSerializable", "Serializable")


def _merge(key: int, *clauses: str) -> str:
    source = f"(SELECT {key} AS id, 1 AS g, 99 AS v) AS s"
    return f"MERGE INTO t USING {source} ON t.id = s.id {' '.join(clauses)}"


UPDATES = "WHEN MATCHED THEN UPDATE SET v = t.v + s.v"
INSERTS = "WHEN NOT MATCHED THEN INSERT *"

STATEMENTS = (
    "INSERT INTO t VALUES (7, 1, 70)",
    "DELETE FROM t WHERE id = 1",
    "DELETE FROM t WHERE g = 0",
    "DELETE FROM t",
    "UPDATE t SET v = v + 1 WHERE id = 1",
    "UPDATE t SET v = v + 1 WHERE id = 2",
    "UPDATE t SET g = 1 WHERE id = 1",
    "UPDATE t SET v = v * 2 WHERE g = 1",
    _merge(1, UPDATES, INSERTS),
    _merge(7, UPDATES, INSERTS),
    _merge(1, INSERTS),
    _merge(1, "WHEN MATCHED THEN DELETE", INSERTS),
    _merge(2, UPDATES, "WHEN NOT MATCHED BY SOURCE AND t.g = 1 THEN UPDATE SET v = 0"),
    "OPTIMIZE t",
)

PlayedOutcomes = dict[str, tuple[str, ...]]
"""What was played -> how each ended, and the rows."""


class SmallWorld(Struct, frozen=True):
    """On which engines, and by which statements."""

    engines: Sequence[str] = ENGINES
    statements: Sequence[str] = STATEMENTS

    def shown(self, mutant: Mutant | None) -> PlayedOutcomes:
        """All that happens, with a bug planted or without: once in a process."""
        if mutant is not None:
            plant(mutant)
        return dict(self._played())

    def _played(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for engine, level, vectors in itertools.product(self.engines, LEVELS, (True, False)):
            table = f"{engine}, {level}, {'with' if vectors else 'without'} vectors"
            for pair in itertools.combinations_with_replacement(self.statements, 2):
                for schedule, what in _races(engine, level, vectors, pair):
                    yield f"{table}: {' | '.join(pair)}: {schedule}", what


def difference(with_bug: PlayedOutcomes, without: PlayedOutcomes) -> str | None:
    """The first thing that is not as without the bug."""
    for played in sorted(with_bug.keys() | without.keys()):
        if with_bug.get(played) != without.get(played):
            return f"{played} ends as {with_bug.get(played)}, not as {without.get(played)}"
    return None


def _races(
    engine: str, level: str, vectors: bool, statements: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    from whitecap.engine.commands import run_statement
    from whitecap.engine.dialects import dialect_named
    from whitecap.engine.races.interleaving.schedules import schedules
    from whitecap.engine.races.interleaving.world import World
    from whitecap.engine.races.row_tables import DataFile, TableOf
    from whitecap.engine.sql.parsing.parse import parse_statement

    names = ("id", "g", "v")
    rows = [[dict(zip(names, row, strict=True)) for row in file] for file in FILES]
    table = TableOf(
        schema=COLUMNS,
        partition_columns=[],
        properties={
            "delta.enableDeletionVectors": str(vectors).lower(),
            "delta.isolationLevel": level,
        },
        files=[DataFile(partition_values={}, rows=file) for file in rows],
        versions=len(rows) + 1,
    )
    world = World.of_tables({"t": table}, dialect_named(engine)).warmed()
    starts = [
        lambda tables, sql=sql: run_statement(parse_statement(sql), tables) for sql in statements
    ]
    for played in schedules(world, starts):
        endings = (type(ending).__name__ for ending in played.endings)
        live = sorted(str(tuple(row.values())) for row in played.rows["t"])
        yield str(played.schedule), (*endings, *live)

"""What the threads do: a few kinds of statements, once as SQL for Delta, once as a scenario.

Each workload is run twice. Apart, where every thread has partitions of its own and nothing can
conflict, to measure how long things take; then together, on partitions drawn by lot.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.rules import ConflictException

WORKLOAD_SCHEMA = "k BIGINT, part BIGINT, v BIGINT"
ROWS_PER_PARTITION = 20
"""Of the real table and of the simulated one. Ours."""

MIX = "mix"
MIX_PARTITIONS = 8
"""With them about a quarter of the mix's statements is refused: neither few nor all."""

FIRST_NEW_KEY = 1_000_000
"""Above all keys of the initial tables."""


class StatementKind(Struct, frozen=True):
    """One kind of statement, with places for `table`, `part`, `rows`, and for `apart`.

    `apart` stands in the statement only while threads are apart, `new_rows` of its rows have new
    keys, `known_rows` the keys of rows that are there. With `snapshot_first` the command takes its
    snapshot at once and looks for files in it before it begins its transaction. It `reads_state`
    if it asks which files there are.
    """

    name: str
    text: str
    new_rows: int = 0
    known_rows: int = 0
    apart: str = ""
    snapshot_first: bool = False
    reads_state: bool = True

    def in_scenario(self) -> dict[str, Any]:
        """Statement and parameters of a writer group."""
        text = self.text.format(table="events", part=":part", rows=":rows", apart="")
        parameters: dict[str, Any] = {}
        if "{part}" in self.text or self.new_rows:
            parameters["part"] = {"uniform": {}}
        if rows := self.new_rows + self.known_rows:
            parameters["rows"] = {"rows": {"count": rows, "existing": self.known_rows / rows}}
        return {"statement": text.strip(), "parameters": parameters}


UPDATE = StatementKind("update", "UPDATE {table} SET v = v + 1 WHERE part = {part}")
MERGE = StatementKind(
    "merge",
    "MERGE INTO {table} AS t USING (SELECT * FROM VALUES {rows} AS v(k, part, v)) AS s "
    "ON t.part = {part} AND t.k = s.k "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    new_rows=1,
    known_rows=1,
)
INSERT = StatementKind("insert", "INSERT INTO {table} VALUES {rows}", new_rows=2, reads_state=False)
OPTIMIZE = StatementKind("optimize", "OPTIMIZE {table} {apart}", snapshot_first=True)
"""It asks for the newest version before its transaction begins (OptimizeTableCommand.scala)."""

WORKLOAD_KINDS = {kind.name: kind for kind in (UPDATE, MERGE, INSERT, OPTIMIZE)}


class Hand(Struct, frozen=True):
    """One thread: what it does, and which partitions are its own while all are apart."""

    name: str
    kind: StatementKind
    own: Sequence[int]


class ThreadWorkload(Struct, frozen=True):
    """What threads do on a table of so many partitions; while apart it needs other ones.

    `exceptions` are the classes that get a range of their own.
    """

    name: str
    title: str
    partitions: int
    partitions_apart: int
    hands: Sequence[Hand]
    exceptions: Sequence[ConflictException]

    @property
    def kinds(self) -> dict[str, StatementKind]:
        """Its kinds of statements by name."""
        return {hand.kind.name: hand.kind for hand in self.hands}

    def threads_of(self, kind: str) -> int:
        """How many threads do nothing but this."""
        return sum(hand.kind.name == kind for hand in self.hands)


def update_workload(partitions: int, threads: int) -> ThreadWorkload:
    """Every thread updates one partition after the other, drawn by lot."""
    apart = max(partitions, threads)
    hands = [
        Hand(f"update-{n + 1}", UPDATE, tuple(range(n, apart, threads))) for n in range(threads)
    ]
    return ThreadWorkload(
        f"update-{partitions}", f"UPDATE on {partitions} partitions", partitions, apart, hands,
        (ConflictException.CONCURRENT_APPEND,),
    )  # fmt: skip


def mixed_workload(threads: int) -> ThreadWorkload:
    """One thread inserts, one compacts, all others merge.

    Apart, those who merge have a partition each; who compacts shares the others with who inserts,
    since added files do not disturb an OPTIMIZE, and it needs them.
    """
    merging = threads - 2
    rest = tuple(range(merging, merging + MIX_PARTITIONS))
    compacting = replace(OPTIMIZE, apart=f"WHERE part >= {merging}")
    hands = [
        *(Hand(f"merge-{n + 1}", MERGE, (n,)) for n in range(merging)),
        Hand("insert-1", INSERT, rest),
        Hand("optimize-1", compacting, rest),
    ]
    return ThreadWorkload(
        MIX, f"MERGE, INSERT and OPTIMIZE on {MIX_PARTITIONS} partitions", MIX_PARTITIONS,
        merging + MIX_PARTITIONS, hands,
        (
            ConflictException.CONCURRENT_APPEND,
            ConflictException.CONCURRENT_DELETE_READ,
            ConflictException.CONCURRENT_DELETE_DELETE,
        ),
    )  # fmt: skip


class ThreadStatements:
    """The SQL of one thread, one statement after the other."""

    def __init__(
        self, hand: Hand, number: int, table: str, partitions: int, seed: int, *, apart: bool
    ) -> None:
        self._hand = hand
        self._table = table
        self._partitions = partitions
        self._parts = hand.own if apart else range(partitions)
        self._where = hand.kind.apart if apart else ""
        self._random = random.Random(f"{seed} {table} {number}")
        self._next_key = FIRST_NEW_KEY * (number + 1)

    def next(self) -> str:
        """Another statement, on a partition drawn by lot."""
        part = self._random.choice(self._parts)
        kind = self._hand.kind
        keys = [self._new_key() for _ in range(kind.new_rows)]
        keys += [self._known_key(part) for _ in range(kind.known_rows)]
        rows = ", ".join(f"({key}L, {part}L, 1L)" for key in keys)
        return kind.text.format(table=self._table, part=part, rows=rows, apart=self._where)

    def _new_key(self) -> int:
        self._next_key += 1
        return self._next_key

    def _known_key(self, part: int) -> int:
        return part + self._partitions * self._random.randrange(ROWS_PER_PARTITION)


def initial_rows(partitions: int) -> list[tuple[int, int]]:
    """Key and partition of the rows that a table has at the start."""
    return [(key, key % partitions) for key in range(partitions * ROWS_PER_PARTITION)]

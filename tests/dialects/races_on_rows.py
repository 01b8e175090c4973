"""Races of SQL statements on one small table with rows, interleaved as a test says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from tests.oracles.log_validation import validate_log
from whitecap.engine.commands import SharedTable, Table, run_statement
from whitecap.engine.dialects import DATABRICKS_14_3, DELTA_OSS_4_4, Dialect
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.storage.requests import PutIfAbsent, Row, Steps

VECTORS = "delta.enableDeletionVectors"
LEVEL = "delta.isolationLevel"
SERIALIZABLE = {LEVEL: "Serializable"}
COLUMNS = "id BIGINT, g INT, v INT"
FOUR_ROWS = ((1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0))

Rows = tuple[Row, ...]


@dataclass
class Running:
    """A statement between its attempts to commit."""

    steps: Steps[Outcome]
    store: MemoryStore
    outcome: Outcome | None = None
    _answer: Any = None

    def advance(self) -> None:
        """Go on up to the next attempt to write a commit file, or to the end."""
        try:
            request = self.steps.send(self._answer)
            while not isinstance(request, PutIfAbsent):
                request = self.steps.send(self.store.answer(request))
        except StopIteration as end:
            self.outcome = end.value
        else:
            self._pending = request
            self._answer = None

    def attempt(self) -> None:
        """Make the attempt that it waits for, and go on to the next if that is lost."""
        self._answer = self.store.answer(self._pending)
        self.advance()

    def finish(self) -> Outcome:
        while self.outcome is None:
            self.attempt()
        return self.outcome


@dataclass
class World:
    """One table, named t; every statement is a client of its own."""

    dialect: Dialect = DATABRICKS_14_3
    settings: Settings = field(default_factory=Settings)
    store: MemoryStore = field(default_factory=MemoryStore)
    shared: SharedTable = field(default_factory=SharedTable)

    @classmethod
    def of(
        cls,
        *files: Sequence[Row],
        properties: Mapping[str, str] | None = None,
        partitioned_by: str = "",
        columns: str = COLUMNS,
        dialect: Dialect = DATABRICKS_14_3,
        **settings: Any,
    ) -> World:
        world = cls(dialect, Settings(**settings))
        given = {VECTORS: "true", **(properties or {})}
        assignments = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
        layout = f" PARTITIONED BY ({partitioned_by})" if partitioned_by else ""
        world.run(f"CREATE TABLE t ({columns}){layout} TBLPROPERTIES ({assignments})")
        for rows in files:
            world.run(f"INSERT INTO t VALUES {', '.join(map(str, rows))}")
        return world

    def client(self) -> Table:
        return Table("t", self.shared, self.settings, self.dialect)

    def begin(self, sql: str) -> Running:
        """Run a statement up to its first attempt to commit."""
        steps = run_statement(parse_statement(sql), {"t": self.client()})
        running = Running(steps, self.store)
        running.advance()
        return running

    def run(self, sql: str) -> Outcome:
        return self.begin(sql).finish()

    def race(self, current: str, *winners: str) -> Outcome:
        """`current` reads and writes its files; the winners run; then it commits."""
        running = self.begin(current)
        for winner in winners:
            assert isinstance(self.run(winner), Committed | NothingToCommit), winner
        return running.finish()

    def rows(self) -> Rows:
        """The live rows, sorted: the table as a bag."""
        table = self.client()
        snapshot = run(table.log.update(), self.store)
        files = run(table.data_files.read(snapshot.all_files(), snapshot.schema), self.store)
        return tuple(sorted((row for file in files for _, row in file), key=repr))

    def num_files(self) -> int:
        return run(self.client().log.update(), self.store).num_files

    def check_log(self) -> None:
        """Raises `InvalidLog` if what was written is not a sound table."""
        run(validate_log(), self.store)


def ending(outcome: Outcome) -> str:
    """How it ended: committed, nothing, or the conflict's sub-condition with its exception."""
    match outcome:
        case Committed():
            return "committed"
        case NothingToCommit():
            return "nothing"
        case Aborted(verdict):
            name = verdict.exception.removesuffix("Exception")
            return f"{name} {verdict.error_class.rpartition('.')[2]}"
    return "unknown"


def serial(files: Iterable[Sequence[Row]], statements: Iterable[str]) -> Rows:
    """The rows after the statements ran one after another, on open-source Delta."""
    world = World.of(*files, dialect=DELTA_OSS_4_4)
    for sql in statements:
        world.run(sql)
    return world.rows()


def serial_orders(files: Sequence[Sequence[Row]], statements: Sequence[str]) -> set[Rows]:
    """The rows after each order."""
    return {serial(files, order) for order in permutations(statements)}


@dataclass(frozen=True)
class Played:
    """One interleaving of statements: how each ended, and the rows afterwards."""

    schedule: tuple[int, ...]
    outcomes: tuple[Outcome, ...]
    rows: Rows

    @property
    def committed(self) -> tuple[int, ...]:
        """The statements that committed, in the order of their versions."""
        done = [(o.version, at) for at, o in enumerate(self.outcomes) if isinstance(o, Committed)]
        return tuple(at for _, at in sorted(done))


def interleavings(
    files: Sequence[Sequence[Row]], statements: Sequence[str], **options: Any
) -> Iterator[Played]:
    """Every order in which the statements can begin and make their attempts.

    One that begins later sees what was committed by then; a lost attempt is one more step, between
    which and the next the others go on.
    """
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        world = World.of(*files, **options)
        running: dict[int, Running] = {}
        schedule: tuple[int, ...] = ()
        while left := _unfinished(running, len(statements)):
            forced = len(schedule) < len(prefix)
            at = prefix[len(schedule)] if forced else left[0]
            if not forced:
                waiting += [(*schedule, other) for other in left[1:]]
            if at in running:
                running[at].attempt()
            else:
                running[at] = world.begin(statements[at])
            schedule = (*schedule, at)
        outcomes = tuple(running[at].finish() for at in range(len(statements)))
        world.check_log()
        yield Played(schedule, outcomes, world.rows())


def _unfinished(running: Mapping[int, Running], count: int) -> list[int]:
    return [at for at in range(count) if at not in running or running[at].outcome is None]

"""Real threads on a real table: no locks between phases, each as fast as it comes.

Each thread is a cluster of its own to Delta: it reaches the table by a path of its own (a symbolic
link), and Delta keeps a log per path. Threads that share one share its commit lock and the state
that one of them reads for all: they commit more nearly in step than independent writers do.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct, field

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.recorded import CONFLICTS
from whitecap.sim.freerun.statements import ObservedRun, TimedStatement, warm_up_of
from whitecap.sim.freerun.workloads import (
    WORKLOAD_SCHEMA,
    Hand,
    ThreadStatements,
    ThreadWorkload,
    initial_rows,
)
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.jvm import Jvm, in_session
from whitecap.sim.replay.real.tables import (
    commit_files,
    commit_info,
    forget_table,
    latest_version,
    name_table,
)
from whitecap.sim.replay.real.transaction_clock import TransactionClocks, TransactionInstants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOIN_S = 0.2
"""How long to wait for a thread before looking for Ctrl-C again."""

_Watch = Callable[[int], None]
"""Is called with how many statements have ended."""


class CommitLost(InvariantViolated):
    """A commit that a thread was told of is not in the log: a rival's file was renamed over it.

    Hadoop's rename on a local disk looks for the name first and then renames (`docs/decisions.md`).
    """


OF_EACH_APART = 5
"""Statements that every thread ends apart, however slow: some are for warmth, of the others each
with the one after it gives a window and what lies between two."""


def now() -> str:
    """The instant, UTC, as result files hold it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def run_threads(
    spark: SparkSession,
    workload: ThreadWorkload,
    statements: int,
    seed: int,
    *,
    apart: bool,
    watch: _Watch,
) -> ObservedRun:
    """Run so many statements of `workload` that count, `apart` or together on a table of its own.

    A refused statement is run again at once, like new and with its values, until it commits.

    Raises:
        CommitLost: the log lacks a commit. What else a thread then died of is its cause.
        InvariantViolated: the log holds a commit that no thread has made.
        Exception: whatever a statement died of that is no conflict.
    """
    warm_up = warm_up_of(len(workload.hands))
    with _table(spark, workload, apart=apart) as table:
        team = _Team(spark, table, statements + warm_up, OF_EACH_APART if apart else 0, watch)
        began_at = now()
        try:
            team.run(workload, seed, apart=apart)
        except Exception:
            _require_commits(team.ended, _commits(table))
            raise
        commits = _commits(table)
        _require_commits(team.ended, commits)
        timed = _with_versions(team.ended, commits)
    return ObservedRun(began_at, warm_up, sorted(timed, key=lambda each: each.begun_ms))


class _Table(Struct, frozen=True):
    name: str
    folder: Path
    partitions: int
    initial_version: int

    def own_name(self, number: int) -> str:
        """The name by which the thread of this number calls it."""
        return f"{self.name}_{number}"


@contextmanager
def _table(spark: SparkSession, workload: ThreadWorkload, *, apart: bool) -> Iterator[_Table]:
    partitions = workload.partitions_apart if apart else workload.partitions
    name = f"free_run_{workload.name}_{'apart' if apart else 'together'}".replace("-", "_")
    with TemporaryDirectory(prefix="whitecap-free-run-") as scratch:
        folder = Path(scratch, "table")
        spark.sql(
            f"CREATE TABLE delta.`{folder}` ({WORKLOAD_SCHEMA}) USING delta PARTITIONED BY (part)"
        )
        rows = [(key, part, 0) for key, part in initial_rows(partitions)]
        frame = spark.createDataFrame(rows, WORKLOAD_SCHEMA).coalesce(1)
        frame.write.format("delta").mode("append").save(str(folder))
        table = _Table(name, folder, partitions, latest_version(folder))
        numbers = range(len(workload.hands))
        for number in numbers:
            own = Path(scratch, f"of-thread-{number}")
            own.symlink_to(folder, target_is_directory=True)
            name_table(spark, table.own_name(number), own)
        try:
            yield table
        finally:
            for number in numbers:
                forget_table(spark, table.own_name(number))


class _Commit(Struct, frozen=True):
    version: int
    read_version: int | None
    written_ms: float
    checksum_ms: float | None


class _Ended(Struct, frozen=True):
    """A statement as its thread saw it end."""

    hand: Hand
    rerun: int
    begun_ms: float
    ended_ms: float
    instants: TransactionInstants
    exception: str | None

    @property
    def committed(self) -> str | None:
        """The transaction that has committed, if one has."""
        has = self.exception is None and self.instants.written_ms is not None
        return self.instants.transaction_id if has else None

    def statement(self, commit: _Commit | None) -> TimedStatement:
        """The statement with what the log says: it is decided when its commit file appeared."""
        return TimedStatement(
            self.hand.name,
            self.hand.kind.name,
            self.rerun,
            self.begun_ms,
            self.ended_ms,
            self._snapshot_ms(),
            commit.written_ms if commit else self.instants.aborted_ms,
            commit.version if commit else None,
            commit.read_version if commit else None,
            self.exception,
            commit.checksum_ms if commit else None,
        )

    def _snapshot_ms(self) -> float | None:
        return self.begun_ms if self.hand.kind.snapshot_first else self.instants.snapshot_ms


class _Team(Struct):
    """The threads of one run and what they share: how much is left, what ended, what broke.

    They go on until `left` statements have begun, and each thread has ended `of_each`.
    """

    spark: SparkSession
    table: _Table
    left: int
    of_each: int
    watch: _Watch
    ended: list[_Ended] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)
    _ended_by: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, workload: ThreadWorkload, seed: int, *, apart: bool) -> None:
        """Let all threads work until so many statements are counted. Raises what broke a thread."""
        clocks = TransactionClocks(self.spark)
        self._ended_by = Counter({hand.name: 0 for hand in workload.hands})
        threads = []
        for number, hand in enumerate(workload.hands):
            name, partitions = self.table.own_name(number), self.table.partitions
            made = ThreadStatements(hand, number, name, partitions, seed, apart=apart)
            target = in_session(self.spark, self._work)
            threads.append(threading.Thread(target=target, args=(hand, made, clocks), daemon=True))
        for thread in threads:
            thread.start()
        self._wait_for(threads)
        if self.broken:
            raise self.broken[0]

    def _wait_for(self, threads: list[threading.Thread]) -> None:
        """Wait until all are done; after Ctrl-C, until each has ended its present statement."""
        try:
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(JOIN_S)
                self.watch(len(self.ended))
        except BaseException:
            self.left = self.of_each = 0
            for thread in threads:
                thread.join()
            raise

    def _work(self, hand: Hand, statements: ThreadStatements, clocks: TransactionClocks) -> None:
        try:
            Jvm(self.spark).silence_console()
            clock = clocks.of_this_thread()
            rerun, text = 0, statements.next()
            while self._may_begin():
                begun_ms = time.time() * 1000
                exception = self._failure(text)
                ended_ms = time.time() * 1000
                ended = _Ended(hand, rerun, begun_ms, ended_ms, clock.taken(), exception)
                self.ended.append(ended)
                self._ended_by[hand.name] += 1
                rerun, text = (0, statements.next()) if exception is None else (rerun + 1, text)
        except BaseException as error:
            self.broken.append(error)
            self.left = self.of_each = 0

    def _may_begin(self) -> bool:
        with self._lock:
            self.left -= 1
            return self.left >= 0 or self._is_one_behind()

    def _is_one_behind(self) -> bool:
        return min(self._ended_by.values()) < self.of_each

    def _failure(self, text: str) -> str | None:
        """The exception by which Delta refused a statement, `None` if it was not refused."""
        try:
            self.spark.sql(text).collect()
        except Exception as error:
            exception = failure_of(error).exception
            if exception not in CONFLICTS:
                raise
            return exception
        return None


def _commits(table: _Table) -> dict[str | None, _Commit]:
    """The commits that were made since the table was there, by transaction."""
    commits: dict[str | None, _Commit] = {}
    for version, path in enumerate(commit_files(table.folder)):
        if version > table.initial_version:
            info = commit_info(table.folder, version)
            commits[info["txnId"]] = _Commit(
                version, info.get("readVersion"), _written_ms(path), _checksum_ms(path)
            )
    return commits


def _written_ms(path: Path) -> float:
    return path.stat().st_mtime * 1000


def _checksum_ms(commit: Path) -> float | None:
    checksum = commit.with_suffix(".crc")
    return _written_ms(checksum) if checksum.is_file() else None


def _require_commits(ended: list[_Ended], commits: Mapping[str | None, _Commit]) -> None:
    """Raises `CommitLost` for the first acknowledged commit that is not in the log."""
    for each in ended:
        if each.committed is not None and each.committed not in commits:
            said = "was told that it has committed and is not in the log: on the local disk"
            raise CommitLost(f"{each.hand.name} {said} a rival's file was renamed over its own")


def _with_versions(ended: list[_Ended], commits: dict[str | None, _Commit]) -> list[TimedStatement]:
    """The statements with what the log says of their commits."""
    timed = [each.statement(commits.pop(each.committed, None)) for each in ended]
    if commits:
        raise InvariantViolated(f"nobody made the versions {sorted(commits.values(), key=str)}")
    return timed

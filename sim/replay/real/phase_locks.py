"""Delta's own phase locks: commands in threads whose transactions stop where we say.

Delta ships observers that hold a transaction before its snapshot, before it prepares its commit
and before its first attempt (TransactionExecutionObserver.scala, fuzzer/ in delta-spark). With
them an interleaving is a program: begin A, begin B, finish B, finish A.

One observer serves one transaction. A command that opens more in its thread (the retry inside
OPTIMIZE, VACUUM's second commit) goes on without locks, unless more locks are asked for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from whitecap.sim.replay.real.jvm import DELTA, JavaObject, Jvm, in_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_TIMEOUT_S = 180.0
"""A statement takes seconds; on a loaded machine its first run takes tens of them."""

POLL_S = 0.01
"""How often we look whether a thread has come to a lock: nothing tells us."""

GRACE_S = 30.0
"""How long commands may take to end after their locks were thrown open."""


class Phase(StrEnum):
    """The places where a transaction can be held, by Delta's names, in order."""

    ANALYSIS = "analysisPhase"
    SNAPSHOT = "initialPhase"
    PREPARE = "preparePhase"
    COMMIT = "commitPhase"
    BACKFILL = "backfillPhase"
    POST_COMMIT = "postCommitPhase"


class StuckInterleaving(Exception):
    """A command did not come to where it was awaited; the message says who waited for whom."""


class Ended(Struct, frozen=True):
    """How a command ended: with a value or with an error."""

    value: Any = None
    error: BaseException | None = None


class Lock(Protocol):
    """What holds one commit of a command."""

    observer: JavaObject

    def open(self, *phases: Phase) -> None:
        """Let the transaction enter `phases`; opening twice does no harm."""

    def has_reached(self, phase: Phase) -> bool:
        """Whether the transaction waits at the entry of `phase`, or is past it."""

    def position(self) -> str:
        """Where the transaction is, for messages."""


Locks = Callable[[Jvm, str, int], Sequence[Lock]]
"""Makes the locks of a command's first so many commits."""


class TransactionLock:
    """The phase lock of one transaction."""

    def __init__(self, jvm: Jvm, name: str, following: JavaObject) -> None:
        fuzzer = jvm.delta.fuzzer
        self._phases: JavaObject = fuzzer.OptimisticTransactionPhases.forName(name)
        # Delta 3.3 has no phase of analysis.
        self._there = tuple(phase for phase in Phase if phase in dir(self._phases))
        self.observer: JavaObject = fuzzer.PhaseLockingTransactionExecutionObserver(self._phases)
        self.observer.setNextObserver(following, True)
        # With a following observer Delta leaves the last exit to us; nothing waits behind it.
        self._lock(Phase.POST_COMMIT).exitBarrier().unblock()

    def open(self, *phases: Phase) -> None:
        """Let the transaction enter `phases`; opening twice does no harm."""
        for phase in self._there:
            barrier = self._lock(phase).entryBarrier()
            if phase in phases and barrier.load().toString() in {"Blocked", "Requested"}:
                barrier.unblock()

    def has_reached(self, phase: Phase) -> bool:
        """Whether the transaction waits at the entry of `phase`, or is past it."""
        barrier = self._lock(phase).entryBarrier()
        return barrier.load().toString() in {"Requested", "Passed"}

    def position(self) -> str:
        """Where the transaction is, for messages."""
        reached = [phase for phase in self._there if self.has_reached(phase)]
        return f"at {reached[-1]}" if reached else "before its transaction"

    def _lock(self, phase: Phase) -> JavaObject:
        return getattr(self._phases, phase.value)()


def phase_locks(jvm: Jvm, name: str, transactions: int) -> list[TransactionLock]:
    """Locks of as many transactions in a row, each installing the next, then none."""
    locks: list[TransactionLock] = []
    following = no_observer(jvm)
    for number in range(transactions, 0, -1):
        lock = TransactionLock(jvm, f"{name}-{number}", following)
        following = lock.observer
        locks.insert(0, lock)
    return locks


def no_observer(jvm: Jvm) -> JavaObject:
    """Delta's own observer of transactions, which does nothing."""
    return jvm.singleton(f"{DELTA}.NoOpTransactionExecutionObserver$")


class LockedCommand:
    """One command in a thread of its own, its transactions under phase locks."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        action: Callable[[], Any],
        transactions: int = 1,
        locks: Locks = phase_locks,
    ) -> None:
        self.name = name
        self._spark = spark
        jvm = self._jvm = Jvm(spark)
        self._action = action
        self._free = no_observer(jvm)
        self.locks = locks(jvm, name, transactions)
        self._ended: Ended | None = None
        self._thread = self._new_thread()

    def _new_thread(self) -> threading.Thread:
        target = in_session(self._spark, self._run)
        return threading.Thread(target=target, name=f"replay-{self.name}", daemon=True)

    def _run(self) -> None:
        observers = self._jvm.delta.TransactionExecutionObserver
        try:
            self._jvm.silence_console()
            observers.setObserver(self.locks[0].observer if self.locks else self._free)
            self._ended = Ended(value=self._action())
        except Exception as error:
            self._ended = Ended(error=error)
        finally:
            observers.setObserver(self._free)

    def start(self) -> None:
        """Start the thread; a locked transaction stops before it takes its snapshot."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the command has not ended."""
        return self._thread.is_alive()

    @property
    def ended(self) -> Ended:
        """How the command ended; only after it did."""
        if self._ended is None:
            raise RuntimeError(f"{self.name} has not ended")
        return self._ended

    def open_everything(self) -> None:
        """Hold nothing any more: the command runs to its end by itself."""
        for lock in self.locks:
            lock.open(*Phase)

    def position(self) -> str:
        """Where the command is, for messages."""
        if not self.running:
            return "ended"
        held = [lock for lock in self.locks if not lock.has_reached(Phase.POST_COMMIT)]
        return held[0].position() if held else "past its locked transactions"


class Interleaving(AbstractContextManager["Interleaving"]):
    """Commands of one table driven step by step; on leaving, every lock is opened.

    A command that is begun takes its snapshot, does its work, and waits before its first
    attempt to commit; one that is finished commits or dies. A wait that takes longer than
    `timeout_s` ends in StuckInterleaving.
    """

    def __init__(self, spark: SparkSession, timeout_s: float = DEFAULT_TIMEOUT_S) -> None:
        self._spark = spark
        self._timeout_s = timeout_s
        self._commands: dict[str, LockedCommand] = {}

    def begin(
        self,
        name: str,
        action: Callable[[], Any],
        transactions: int = 1,
        locks: Locks = phase_locks,
    ) -> bool:
        """Start a command and park it before its commit.

        `transactions`: how many transactions in a row of this command are under `locks`.
        Returns whether it is parked; a command with nothing to commit has ended instead.
        """
        command = LockedCommand(self._spark, name, action, transactions, locks)
        self._commands[name] = command
        command.start()
        return self.begin_transaction(name, 0)

    def begin_transaction(self, name: str, number: int) -> bool:
        """Let transaction `number` of a command (from 0) take its snapshot and park it."""
        lock = self._commands[name].locks[number]
        lock.open(Phase.ANALYSIS, Phase.SNAPSHOT, Phase.PREPARE)
        self._wait(name, "to stand before its commit", lambda: lock.has_reached(Phase.COMMIT))
        return self._commands[name].running

    def finish_transaction(self, name: str, number: int) -> None:
        """Let transaction `number` of a command try to commit, and wait for its end.

        Only for transactions that the command follows up with another one under a lock.
        """
        command = self._commands[name]
        command.locks[number].open(Phase.COMMIT, Phase.BACKFILL, Phase.POST_COMMIT)
        following = command.locks[number + 1]
        self._wait(name, "to open its next one", lambda: following.has_reached(Phase.SNAPSHOT))

    def is_running(self, name: str) -> bool:
        """Whether a command that was begun has not ended."""
        return self._commands[name].running

    def finish(self, name: str) -> Ended:
        """Let a command commit, wait for its end, and say how it ended."""
        command = self._commands[name]
        command.open_everything()
        self._wait(name, "to end", lambda: False)
        return command.ended

    def run(self, name: str, action: Callable[[], Any]) -> Ended:
        """Run a command from beginning to end while all others stay where they are.

        It has no locks, so that what Delta does after a commit, auto compaction for one, happens:
        its transaction would meet the lock of the one it follows.
        """
        command = LockedCommand(self._spark, name, action, transactions=0)
        self._commands[name] = command
        command.start()
        return self.finish(name)

    def _wait(self, name: str, goal: str, reached: Callable[[], bool]) -> None:
        command = self._commands[name]
        deadline = time.monotonic() + self._timeout_s
        while command.running and not reached():
            if time.monotonic() > deadline:
                raise StuckInterleaving(self._who_waits(name, goal))
            time.sleep(POLL_S)

    def _who_waits(self, name: str, goal: str) -> str:
        others = [
            f"{other.name} {other.position()}"
            for other in self._commands.values()
            if other.name != name and other.running
        ]
        parked = f" Parked meanwhile: {', '.join(others)}." if others else ""
        where = self._commands[name].position()
        return f"Waited {self._timeout_s:g} s for {name} {goal}; {name} is {where}.{parked}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        running = [command for command in self._commands.values() if command.running]
        for command in running:
            command.open_everything()
        deadline = time.monotonic() + GRACE_S
        for command in running:
            command._thread.join(max(0.0, deadline - time.monotonic()))

"""Plays a script on a real table and reports how each transaction really ended.

A script is played in one go as long as the real table has the recorded versions. Where it has not,
because a transaction ended otherwise or because nobody plays the commit that comes next, the table
is laid out anew: commits up to there are the recorded ones, put one by one so that everybody who
is not decided yet begins at its own version again; what follows is real as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from whitecap.sim.replay.playing.script import (
    End,
    Move,
    Planned,
    ScriptStep,
    TransactionResult,
    steps,
)
from whitecap.sim.replay.real.commands import runner
from whitecap.sim.replay.real.failures import failure_of
from whitecap.sim.replay.real.phase_locks import (
    DEFAULT_TIMEOUT_S,
    Ended,
    Interleaving,
    StuckInterleaving,
)
from whitecap.sim.replay.real.tables import commit_info, latest_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class PlayedTransaction(Struct, frozen=True):
    """How a planned transaction really ended; `message` is Delta's if it failed.

    `real` is `None` if it could not be played to its end, and `message` says why.
    """

    planned: Planned
    real: TransactionResult | None
    message: str = ""


class Layouts(Protocol):
    """What a script is played on; `Stage` for recorded tables."""

    def lay_out(self, version: int) -> Path:
        """Set the table up as it was at `version`; returns its folder."""

    def put(self, version: int) -> None:
        """Put the recorded commit of `version` on top."""


def play(
    spark: SparkSession,
    planned: Sequence[Planned],
    layouts: Layouts,
    last: int,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Iterator[PlayedTransaction]:
    """Play everything that was decided up to version `last`; observations come as commands end.

    Raises InvalidInput: the script contradicts itself. StuckInterleaving: a command took too long.
    """
    left = list(planned)
    while left:
        stretch = _Stretch(spark, left, layouts, last, timeout_s)
        yield from stretch.play()
        yield from map(_cut_off, stretch.half_done)
        left = stretch.left


class _Stretch:
    """The part of a script that can be played on one layout of the table."""

    def __init__(
        self,
        spark: SparkSession,
        planned: Sequence[Planned],
        layouts: Layouts,
        last: int,
        timeout_s: float,
    ) -> None:
        self._spark = spark
        self._layouts = layouts
        self._timeout_s = timeout_s
        start = min(each.read_version for each in planned)
        self._script = steps(planned, start, last)
        self._table = layouts.lay_out(start)
        self._undecided = {each.name: each for each in planned}
        self._reached = start
        self._is_as_recorded = True

    @property
    def left(self) -> list[Planned]:
        """Commands that have not ended and can be begun anew."""
        return [each for each in self._undecided.values() if not self._is_half_done(each)]

    @property
    def half_done(self) -> list[Planned]:
        """Commands that have not ended and cannot be begun anew: one of their commits is made."""
        return [each for each in self._undecided.values() if self._is_half_done(each)]

    def _is_half_done(self, each: Planned) -> bool:
        return any(version <= self._reached for version in each.versions)

    def play(self) -> Iterator[PlayedTransaction]:
        """Play until everybody is decided, or the real table cannot go on as the recorded one."""
        with Interleaving(self._spark, self._timeout_s) as interleaving:
            for step in self._script:
                if not self._undecided:
                    return
                if step.name in self._undecided:
                    yield from self._moved(interleaving, step)
                    goes_on = self._stands_at(step)
                else:
                    goes_on = self._put(step)
                if not goes_on:
                    return

    def _put(self, step: ScriptStep) -> bool:
        """Put a recorded commit; impossible on top of files that are not the recorded ones."""
        if step.leads_to == step.version:
            return True
        if self._is_as_recorded:
            self._layouts.put(step.leads_to)
            self._reached = step.leads_to
        return self._is_as_recorded

    def _stands_at(self, step: ScriptStep) -> bool:
        """Whether the table is at the version where the step is made, or could be brought there."""
        newest = latest_version(self._table)
        self._reached = step.leads_to
        if newest == step.version < step.leads_to:
            return self._put(step)
        self._is_as_recorded &= newest == step.version
        has_other_files = (
            step.planned is not None and step.planned.repeats and newest > step.version
        )
        return newest == step.leads_to and not has_other_files

    def _moved(self, interleaving: Interleaving, step: ScriptStep) -> Iterator[PlayedTransaction]:
        """Make one step of a command. Returns how it ended, if it did."""
        ended = self._end_after(interleaving, step)
        if ended is not None:
            yield _observed(self._undecided.pop(step.name), ended, step.version, self._table)

    def _end_after(self, interleaving: Interleaving, step: ScriptStep) -> Ended | None:
        name = step.name
        if step.move is Move.FINISH:
            if not step.is_last:
                interleaving.finish_transaction(name, step.number)
            over = step.is_last or not interleaving.is_running(name)
            return interleaving.finish(name) if over else None
        if step.number > 0:
            interleaving.begin_transaction(name, step.number)
        else:
            planned = self._undecided[name]
            action = runner(self._spark, planned.command, self._table)
            interleaving.begin(name, action, transactions=len(planned.parts))
        # Who commits without being held there is over: it would do the same again.
        was_held = latest_version(self._table) == step.version
        return None if was_held else interleaving.finish(name)


def _observed(planned: Planned, ended: Ended, before: int, table: Path) -> PlayedTransaction:
    """How a command ended that took its last step when `before` was the newest version."""
    if ended.error is None:
        return PlayedTransaction(planned, _result(before, table))
    if isinstance(ended.error, StuckInterleaving):
        raise ended.error
    failure = failure_of(ended.error)
    result = TransactionResult(End.ABORTED, None, failure.exception, failure.error_class)
    return PlayedTransaction(planned, result, failure.message)


def _result(before: int, table: Path) -> TransactionResult:
    """What a command has left that ended well."""
    newest = latest_version(table)
    if newest == before:
        return TransactionResult(End.NOTHING_TO_COMMIT)
    info = commit_info(table, newest)
    return TransactionResult(
        End.COMMITTED,
        newest,
        isolation_level=info.get("isolationLevel"),
        is_blind_append=info.get("isBlindAppend"),
    )


def _cut_off(planned: Planned) -> PlayedTransaction:
    text = "the real table left the recorded history between two of its commits"
    return PlayedTransaction(planned, None, text)

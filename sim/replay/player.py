"""Plays a script on a real table and reports how each transaction really ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whitecap.sim.replay.failures import failure_of
from whitecap.sim.replay.phase_locks import (
    DEFAULT_TIMEOUT_S,
    Ended,
    Interleaving,
    StuckInterleaving,
)
from whitecap.sim.replay.real_commands import runner
from whitecap.sim.replay.script import End, Move, Planned, Result, steps
from whitecap.sim.replay.tables import commit_info, latest_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Observed:
    """How a planned transaction really ended; `message` is Delta's, if it failed."""

    planned: Planned
    real: Result
    message: str = ""
    parted: bool = False
    """Whether the real table had already left the recorded history when this one was played."""


def play(
    spark: SparkSession,
    planned: Sequence[Planned],
    table: Path,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Iterator[Observed]:
    """Play a script on the table in `table`; observations come as transactions end.

    Once the real table stands at another version than recorded, the histories have parted:
    what follows is still played, and marked.

    Raises InvalidInput: the script contradicts itself. StuckInterleaving: a wait was too long.
    """
    script = steps(planned)
    with Interleaving(spark, timeout_s) as interleaving:
        parted = False
        for step in script:
            each = step.planned
            parted = parted or latest_version(table) != step.version
            if step.move is Move.BEGIN:
                interleaving.begin(each.name, runner(spark, each.command, table))
                continue
            before = latest_version(table)
            ended = interleaving.finish(each.name)
            yield _observe(each, ended, before, table, parted)


def _observe(planned: Planned, ended: Ended, before: int, table: Path, parted: bool) -> Observed:
    if ended.error is None:
        return Observed(planned, _result(before, table), parted=parted)
    if isinstance(ended.error, StuckInterleaving):
        raise ended.error
    failure = failure_of(ended.error)
    result = Result(End.ABORTED, None, failure.exception, failure.error_class)
    return Observed(planned, result, failure.message, parted)


def _result(before: int, table: Path) -> Result:
    """What a command that ended well left behind, when `before` was the newest version."""
    if latest_version(table) == before:
        return Result(End.NOTHING_TO_COMMIT)
    info = commit_info(table, before + 1)
    return Result(
        End.COMMITTED,
        before + 1,
        isolation_level=info.get("isolationLevel"),
        is_blind_append=info.get("isBlindAppend"),
    )

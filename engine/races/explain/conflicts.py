"""Each way in which one of two statements is aborted by the other, with what collided."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Aborted, Committed, Verdict
from whitecap.engine.races.explain.conditions import compaction_of, condition_of
from whitecap.engine.races.explain.obstacles import why_files_decided
from whitecap.engine.races.explain.orders import in_turn
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.story import NAMES, outcome_text
from whitecap.engine.races.interleaving.walk import Ending
from whitecap.engine.rules import Decider, Rule


class Conflict(Struct, frozen=True):
    """One way in which one statement is aborted by the other.

    `file` tells in words which file decided, `reads` what the loser reads, as far as it mattered.
    """

    loser: str
    winner: str
    verdict: Verdict
    file: str
    reads: str
    partition: str | None
    rerun: str
    """How the loser ends if it is run again after the winner."""
    is_refused_again: bool
    """Whether that is a refusal: then it is of no use to run it again."""


def conflicts(
    schedules: list[Played], statements: tuple[str, str], before: Snapshot
) -> Iterator[Conflict]:
    """Every conflict once for each loser and exception."""
    seen = set()
    for schedule in schedules:
        for loser, ending in enumerate(schedule.endings):
            if not isinstance(ending, Aborted):
                continue
            verdict = ending.verdict
            if (loser, verdict.exception) not in seen:
                seen.add((loser, verdict.exception))
                rerun = in_turn(schedules, loser).endings[loser]
                reads = _reads(verdict, statements[loser], before)
                yield _conflict(loser, verdict, schedule, before, reads, rerun)


def _conflict(
    loser: int, verdict: Verdict, played: Played, before: Snapshot, reads: str, rerun: Ending
) -> Conflict:
    winner = NAMES[1 - loser]
    return Conflict(
        NAMES[loser],
        winner,
        verdict,
        _file(verdict, before, winner, played.endings[1 - loser]),
        reads,
        verdict.partition,
        outcome_text(rerun),
        isinstance(rerun, DeltaError),
    )


def _file(verdict: Verdict, before: Snapshot, winner: str, ending: object) -> str:
    """The file that decided, as the reader may know it; empty if no file did."""
    path = verdict.evidence
    if before.file_at(path) is None and not path.endswith(".parquet"):
        return ""
    actions = ending.actions if isinstance(ending, Committed) else ()
    added = any(isinstance(action, AddFile) and action.path == path for action in actions)
    removed = any(isinstance(action, RemoveFile) and action.path == path for action in actions)
    if added and removed:
        return f"{path}, of which {winner} deleted rows (it has a new deletion vector)"
    was_there = removed or before.file_at(path) is not None
    return f"{path}, which {winner} {'removed' if was_there else 'added'}"


_ANY_FILE = "without partitions, any file added could hold rows it should see"


def _reads(verdict: Verdict, sql: str, before: Snapshot) -> str:
    why = why_files_decided(verdict, sql, before.schema)
    if verdict.rule is Rule.REMOVED_VS_READ:
        return ": ".join(text for text in (_files_read(sql), why) if text)
    if verdict.predicate is None:
        return ""
    if verdict.rule.decider is Decider.ROW:
        return f"rows where {verdict.predicate}"
    if not before.partition_columns:
        return f"the whole table: {why or _ANY_FILE}"
    if verdict.predicate.lower() == "true":
        columns = " and ".join(before.partition_columns)
        return f"every partition: no part of its condition is about {columns} alone"
    return f"partitions where {verdict.predicate}"


def _files_read(sql: str) -> str:
    """Which files a statement reads, as far as its text tells."""
    if compaction_of(sql) is not None:
        return "the files that it compacts"
    condition = condition_of(sql)
    if condition is None:
        return ""
    has_one = bool(condition.text)
    return f"files that may hold rows where {condition.text}" if has_one else "every file"

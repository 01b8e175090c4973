"""A recording seen as a history to replay: who read which version, and when each was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.recording import Recording
from whitecap.sim.replay.script import End, Result

STARTS_AGAIN_BY_ITSELF = frozenset({"OPTIMIZE", "ZORDER"})
"""Commands that retry after a conflict on the newest snapshot (OptimizeTableCommand.scala)."""

NOT_REPLAYED = {
    "writer_crash": "its writer crashed, which is not replayed",
    "store_refused": "the simulated store refused a request, which is not replayed",
}
"""Endings that no winning commit decided, by the rule that the recording names."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One transaction of a recording.

    `landed`: the version that it made, if its commit file is in the log, whatever its writer
    learned. `decided_at`: the newest version when its outcome was decided. `excuse`: why reality
    need not agree.
    """

    transaction_id: int
    writer: str
    command: str
    statement: str
    app_id: str | None
    batch_id: int | None
    read_version: int
    landed: int | None
    decided_at: int
    result: Result
    excuse: str | None

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.writer} #{self.transaction_id}"

    @property
    def can_be_played(self) -> bool:
        """Whether reality can do the same: what was stopped from outside would simply commit."""
        return self.landed is not None or self.excuse is None

    @property
    def complete_at(self) -> int:
        """The version by which it has come to its end."""
        return self.landed if self.landed is not None else self.decided_at


def recorded_transactions(recording: Recording) -> list[Recorded]:
    """The transactions that took a snapshot and came to an end, or left a commit in the log."""
    history = _History(recording)
    found = [history.recorded(row) for row in recording.transactions.to_pylist()]
    return [each for each in found if each is not None]


class _History:
    """The versions of a run: who made them and when."""

    def __init__(self, recording: Recording) -> None:
        commits = recording.commits.to_pylist()
        self._landed = {
            row["transaction_id"]: int(row["version"])
            for row in commits
            if row["transaction_id"] is not None
        }
        self._instants = [(float(row["committed_at_ms"]), int(row["version"])) for row in commits]
        self._first_attempts = {
            row["transaction_id"]: int(row["version"])
            for row in recording.attempts.to_pylist()
            if row["attempt_number"] == 1
        }

    def _read_version(self, row: Mapping[str, Any]) -> int:
        """The version of its first snapshot: a retry of its own overwrites what the row says."""
        first_attempt = self._first_attempts.get(row["transaction_id"])
        return int(row["read_version"]) if first_attempt is None else first_attempt - 1

    def recorded(self, row: Mapping[str, Any]) -> Recorded | None:
        landed = self._landed.get(row["transaction_id"])
        settled = row["outcome"] in {RecordedOutcome.COMMITTED, RecordedOutcome.ABORTED}
        if row["snapshot_at_ms"] is None or (landed is None and not settled):
            return None
        return Recorded(
            transaction_id=row["transaction_id"],
            writer=row["writer"],
            command=row["command"],
            statement=row["statement"],
            app_id=row["app_id"],
            batch_id=row["batch_id"],
            read_version=self._read_version(row),
            landed=landed,
            decided_at=self._decided_at(row, landed),
            result=_result(row, landed),
            excuse=_excuse(row, landed),
        )

    def _decided_at(self, row: Mapping[str, Any], landed: int | None) -> int:
        if landed is not None:
            return landed - 1
        if row["outcome"] != RecordedOutcome.ABORTED or row["winning_version"] is None:
            return self._read_version(row)
        if row["command"] in STARTS_AGAIN_BY_ITSELF:
            return max(int(row["winning_version"]), self._newest_at(row["ended_at_ms"]))
        # Winners are checked in order, so those after the deciding one play no part.
        return int(row["winning_version"])

    def _newest_at(self, instant_ms: float) -> int:
        known = [version for committed, version in self._instants if committed <= instant_ms]
        return max(known, default=-1)


def _result(row: Mapping[str, Any], landed: int | None) -> Result:
    if landed is not None:
        return Result(
            End.COMMITTED,
            version=landed,
            isolation_level=row["isolation_level"],
            is_blind_append=row["is_blind_append"],
        )
    if row["outcome"] == RecordedOutcome.COMMITTED:
        return Result(End.NOTHING_TO_COMMIT)
    return Result(End.ABORTED, exception=row["exception"], error_class=row["error_class"])


def _excuse(row: Mapping[str, Any], landed: int | None) -> str | None:
    if row["rule"] in NOT_REPLAYED:
        return NOT_REPLAYED[row["rule"]]
    if landed is not None and row["outcome"] != RecordedOutcome.COMMITTED:
        return f"its commit landed, but its writer saw it as {row['outcome']}: a reply was lost"
    return None

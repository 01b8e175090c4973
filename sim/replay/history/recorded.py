"""A recording seen as a history to replay: who read which version, and when each was decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.properties import ROW_TRACKING
from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.engine.refusals.commit_errors import RETRIES_EXCEEDED
from whitecap.engine.sql.functions.times import asks_time
from whitecap.sim.recording.recording import Recording
from whitecap.sim.replay.history.parts import Attempts, RecordedRow, read_attempts
from whitecap.sim.replay.playing.script import CommandPart, End, TransactionResult

SETTLED = frozenset({RecordedOutcome.COMMITTED, RecordedOutcome.ABORTED})
"""Outcomes that a writer knows for sure."""

STARTS_AGAIN_BY_ITSELF = frozenset({"OPTIMIZE", "ZORDER", "REORG"})
"""Commands that retry after a conflict on the newest snapshot (OptimizeTableCommand.scala)."""

SEVERAL_COMMITS = frozenset({"VACUUM", "DROPFEATURE"})
"""Commands of several commits, beside the one that switches row tracking on."""

OVERWRITTEN = "its commit was overwritten: the store of this run has no put-if-absent"
BETWEEN_COMMITS = "it was stopped between its commits, which is not replayed"
LOST_PUT = "its put whose reply was lost"


class Recorded(Struct, frozen=True):
    """One transaction of a recording; or (`put`) a commit of which its writer did not learn.

    `parts` are as in a script, none where it never had a snapshot. `left_out` says why it cannot be
    repeated in reality, `decided_at` at which version of the table it then ended. `note` says what
    its writer saw of an end that it did not learn of.
    """

    transaction_id: int
    writer: str
    command: str
    statement: str
    app_id: str | None
    batch_id: int | None
    parts: tuple[CommandPart, ...]
    decided_at: int
    result: TransactionResult
    left_out: str | None = None
    note: str = ""
    put: str = ""
    repeats: bool = False
    table: str = ""
    job_id: int = -1
    given_up: bool = False

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.writer} #{self.transaction_id}" + (f" ({self.put})" if self.put else "")

    @property
    def read_version(self) -> int:
        """The version of its first snapshot; without one, that at which it ended."""
        return self.parts[0].read_version if self.parts else self.decided_at

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that it made."""
        return tuple(part.version for part in self.parts if part.version is not None)

    @property
    def complete_at(self) -> int:
        """The version at which it has ended."""
        return max((self.decided_at, *self.versions))


def recorded_transactions(
    recording: Recording, table: str | None = None, *, knows_its_own: bool = False
) -> list[Recorded]:
    """All transactions on a table, with what they committed without learning of it before them.

    Without `table` that of the only one. `knows_its_own`: whether writers take their own commit in
    their way as such.
    """
    name = str(recording.manifest.get("table_name", "")) if table is None else table
    history = _History(recording, name, knows_its_own)
    rows = _of_table(recording.transactions, name)
    return [each for row in rows for each in history.recorded(row)]


def first_version(recording: Recording, table: str) -> int:
    """The oldest version at which a replay can begin: that of the initial table, or the first."""
    made = (row for row in _of_table(recording.commits, table) if row["transaction_id"] is None)
    return max((int(row["version"]) for row in made), default=0)


def _of_table(recorded: pa.Table, name: str) -> list[RecordedRow]:
    """The rows of one table; a recording of one does not say which."""
    rows: list[RecordedRow] = recorded.to_pylist()
    return [row for row in rows if row.get("table_name", name) == name]


class _History:
    """The versions of a table in a run: who made them and when."""

    def __init__(self, recording: Recording, table: str, knows_its_own: bool) -> None:
        self._table = table
        self._landed: dict[int, list[int]] = defaultdict(list)
        self._instants: list[tuple[float, int]] = []
        for row in _of_table(recording.commits, table):
            self._landed[row["transaction_id"]].append(int(row["version"]))
            self._instants.append((float(row["committed_at_ms"]), int(row["version"])))
        self._attempts: dict[int, list[RecordedRow]] = defaultdict(list)
        for row in recording.attempts.to_pylist():
            self._attempts[row["transaction_id"]].append(row)
        self._knows_its_own = knows_its_own

    def recorded(self, row: RecordedRow) -> Iterator[Recorded]:
        """What is replayed of a row: commits unknown to their writer, then its transaction."""
        number = row["transaction_id"]
        landed = self._landed.get(number, [])
        attempts = read_attempts(self._attempts.get(number, []), landed, self._knows_its_own)
        whole = self._whole(row, attempts)
        for part in attempts.unaware:
            comes_later = any(part.read_version >= made.complete_at for made in attempts.made)
            yield replace(
                whole,
                repeats=False,
                parts=(part,),
                decided_at=part.decided_at,
                result=_committed(row, part.version),
                left_out=BETWEEN_COMMITS if comes_later else whole.left_out,
                put=LOST_PUT,
            )
        yield whole

    def _whole(self, row: RecordedRow, attempts: Attempts) -> Recorded:
        parts = self._parts(row, attempts)
        return Recorded(
            transaction_id=row["transaction_id"],
            writer=row["writer"],
            command=row["command"],
            statement=row["statement"],
            app_id=row["app_id"],
            batch_id=row["batch_id"],
            parts=parts,
            decided_at=parts[-1].decided_at if parts else self._newest_at(row),
            result=_result(row, parts),
            left_out=_why_left_out(row, attempts, parts),
            repeats=bool(attempts.unaware),
            note=_note(row) if _ended_by_a_commit(attempts) else "",
            table=self._table,
            job_id=row["job_id"],
            given_up=row["given_up"],
        )

    def _parts(self, row: RecordedRow, attempts: Attempts) -> tuple[CommandPart, ...]:
        """The parts to be played, without those after the commit of the row, as of a compaction."""
        made = attempts.made
        versions = [part.version for part in made]
        if row["committed_version"] in versions:
            return made[: versions.index(row["committed_version"]) + 1]
        if _ended_by_a_commit(attempts) or row["snapshot_at_ms"] is None:
            return made
        return (*made, *self._undone(row, attempts))

    def _undone(self, row: RecordedRow, attempts: Attempts) -> Iterator[CommandPart]:
        """The part that made no version in the end; before it the one that it took up again."""
        read_version, winner = int(row["read_version"]), row["winning_version"]
        began = read_version if attempts.open_since is None else attempts.open_since
        if attempts.open_since is None and row["outcome"] in SETTLED:
            yield CommandPart(began, began)
        elif winner is None:
            yield CommandPart(began, max(began, self._newest_at(row)))
        elif row["command"] not in STARTS_AGAIN_BY_ITSELF:
            # Winners are checked in order, so those after the deciding one play no part.
            yield CommandPart(began, int(winner))
        else:
            # Whether its files are still there, it looks up in the newest version.
            decided_at = max(int(winner), self._newest_at(row))
            if began < read_version < int(winner):
                yield CommandPart(began, read_version)
                began = read_version
            yield CommandPart(began, decided_at)

    def _newest_at(self, row: RecordedRow) -> int:
        """The newest version when a row's transaction ended, or the run, if it did not."""
        ended = row["ended_at_ms"]
        versions = [version for at, version in self._instants if ended is None or at <= ended]
        return max(versions, default=-1)


def _ended_by_a_commit(attempts: Attempts) -> bool:
    """Whether the last of its attempts made a version."""
    return bool(attempts.made) and attempts.open_since is None


def _result(row: RecordedRow, parts: Sequence[CommandPart]) -> TransactionResult:
    if parts and parts[-1].version is not None:
        return _committed(row, parts[-1].version)
    if row["committed_version"] is not None:
        return _committed(row, row["committed_version"])
    if row["outcome"] == RecordedOutcome.COMMITTED:
        return TransactionResult(End.NOTHING_TO_COMMIT)
    end = End(row["outcome"])
    return TransactionResult(end, exception=row["exception"], error_class=row["error_class"])


def _committed(row: RecordedRow, version: int | None) -> TransactionResult:
    return TransactionResult(
        End.COMMITTED,
        version=version,
        isolation_level=row["isolation_level"],
        is_blind_append=row["is_blind_append"],
    )


def _note(row: RecordedRow) -> str:
    """What kept the writer of a commit from learning of it, if anything did."""
    match row["outcome"]:
        case RecordedOutcome.COMMITTED:
            return ""
        case RecordedOutcome.IN_FLIGHT:
            return "the run ended before its writer learned of it"
    match Interruption.of_rule(row["rule"]):
        case Interruption.WRITER_CRASH | Interruption.DEADLINE_PASSED as cut_off:
            return f"{cut_off.happened} before it learned of it"
    return f"its writer saw it as {row['outcome']}: a reply was lost"


def _why_left_out(row: RecordedRow, attempts: Attempts, parts: Sequence[CommandPart]) -> str | None:
    """Why a row cannot be repeated in reality, `None` if it can."""
    made = [part.version for part in attempts.made]
    if row["committed_version"] is not None and row["committed_version"] not in made:
        return OVERWRITTEN
    if row["outcome"] != RecordedOutcome.COMMITTED and not _ended_by_a_commit(attempts):
        stopped = _why_stopped(row)
        if stopped is not None:
            return stopped
    if row["outcome"] not in SETTLED and _goes_on_after_a_commit(row):
        return BETWEEN_COMMITS
    if parts and parts[0].read_version < 0:
        return "it began before there was a table"
    if asks_time(row["statement"]):
        return "its statement asks for the time, which is another one on real Delta Lake"
    return None


def _goes_on_after_a_commit(row: RecordedRow) -> bool:
    """Whether a statement makes several commits; what stopped it is missing in reality."""
    return row["command"] in SEVERAL_COMMITS or ROW_TRACKING.key in row["statement"]


def _why_stopped(row: RecordedRow) -> str | None:
    """What cut a transaction off, `None` if it came to an end of its own."""
    cut_off = Interruption.of_rule(row["rule"])
    if cut_off is not None:
        return cut_off.not_replayed
    if row["error_class"] == RETRIES_EXCEEDED:
        return f"it lost the race for {row['attempts']} versions, which is not replayed"
    match row["outcome"]:
        case RecordedOutcome.UNKNOWN:
            return "its outcome is unknown, and it left no commit"
        case RecordedOutcome.IN_FLIGHT:
            return "it was in flight when the run ended"
    return None

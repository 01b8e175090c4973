"""What is noted of each transaction, attempt and request while a run goes on.

Records are mutable, and are filled in as their transaction goes on, perhaps ahead of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome, Unknown
from whitecap.engine.recorded import REFUSED_BY_DELTA, Interruption, RecordedOutcome
from whitecap.engine.storage.requests import PutResult

NO_VERSION = -1


class AttemptRecord(Struct):
    """One put-if-absent of a commit file; `known_at_ms` is when its writer knew the result."""

    transaction_id: int
    attempt_number: int
    version: int
    sent_at_ms: float
    effect_at_ms: float | None = None
    reply_at_ms: float | None = None
    result: str = RecordedOutcome.IN_FLIGHT
    known_at_ms: float = math.inf

    def ends(self, result: PutResult, now_ms: float) -> None:
        """The writer knows what came of it, or that it does not know."""
        self.result = result
        self.known_at_ms = now_ms
        if result is not PutResult.UNKNOWN:
            self.reply_at_ms = now_ms

    def as_of(self, instant_ms: float) -> None:
        """Forget what comes only after an instant."""
        if self.effect_at_ms is not None and self.effect_at_ms >= instant_ms:
            self.effect_at_ms = None
        if self.known_at_ms >= instant_ms:
            self.result, self.reply_at_ms = RecordedOutcome.IN_FLIGHT, None


class RequestRecord(Struct):
    """One request to the store, from one sending to its reply."""

    transaction_id: int
    kind: str
    key: str
    sent_at_ms: float
    effect_at_ms: float | None = None
    reply_at_ms: float | None = None
    result: str = RecordedOutcome.IN_FLIGHT
    size_bytes: int = 0
    result_size_bytes: int | None = None

    def ends(self, result: str, size_bytes: int | None, now_ms: float) -> None:
        """The reply has come."""
        self.result, self.result_size_bytes, self.reply_at_ms = result, size_bytes, now_ms

    def as_of(self, instant_ms: float) -> None:
        """Forget what comes only after an instant; the size of an answer comes with the answer."""
        if self.effect_at_ms is not None and self.effect_at_ms >= instant_ms:
            self.effect_at_ms = None
        if self.reply_at_ms is not None and self.reply_at_ms >= instant_ms:
            self.reply_at_ms, self.result = None, RecordedOutcome.IN_FLIGHT
        elif self.result_size_bytes is not None:
            self.size_bytes = self.result_size_bytes


class TransactionRecord(Struct):
    """One transaction, from its submission to its end. Instants are simulated milliseconds."""

    transaction_id: int
    job_id: int
    rerun_number: int
    writer: str
    writer_group: str
    command: str
    submitted_at_ms: float
    app_id: str | None = None
    batch_id: int | None = None
    read_version: int = NO_VERSION
    snapshot_at_ms: float | None = None
    commit_started_at_ms: float | None = None
    ended_at_ms: float | None = None
    outcome: RecordedOutcome = RecordedOutcome.IN_FLIGHT
    committed_version: int | None = None
    exception: str | None = None
    error_class: str | None = None
    rule: str | None = None
    winning_version: int | None = None
    evidence: str | None = None
    message: str | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None
    attempts: int = 0
    compute_ms: float = 0.0
    rows_inserted: int = 0
    files_added: int = 0
    files_removed: int = 0
    bytes_written: int = 0
    given_up: bool = False
    table_name: str = ""
    statement_number: int = 1
    """Which of the statements of its job it runs."""
    ends_job: bool = True
    """Whether that is the last statement of the job, which is then done when it commits."""
    make_statement: Callable[[], str] = str
    last_body: bytes | None = None
    snapshots: dict[int, tuple[int, float | None]] = msgspec.field(default_factory=dict)
    """By version: read version and instant of the snapshot that attempts at it are based on."""
    effects_until_ms: float = -math.inf
    """The last instant at which a request takes effect for which nobody waits any more."""
    threads: int = 0
    """Threads of the driver that work for it beside its own, and may go on after its end."""
    put_in_doubt: bool = False
    has_landed: bool = False
    _spent: list[tuple[float, float, int]] = msgspec.field(default_factory=list)
    _last_snapshot: tuple[int, float | None] = (NO_VERSION, None)

    def computed(self, spent_ms: float, now_ms: float) -> None:
        """A Spark job has ended, or the driver died in it."""
        self.compute_ms += spent_ms
        self._spent.append((now_ms, spent_ms, 0))

    def wrote(self, size_bytes: int, now_ms: float) -> None:
        """A data file is written."""
        self.bytes_written += size_bytes
        self._spent.append((now_ms, 0.0, size_bytes))

    def ends_with(self, outcome: Outcome, now_ms: float) -> None:
        """It has ended with an outcome of the engine."""
        self._ends(now_ms)
        self._tells_the_snapshot_of(outcome)
        match outcome:
            case Committed():
                self._committed(outcome)
            case NothingToCommit():
                self.outcome = RecordedOutcome.COMMITTED
            case Aborted(verdict):
                self.outcome = RecordedOutcome.ABORTED
                self.exception = str(verdict.exception)
                self.error_class = verdict.error_class
                self.rule = verdict.rule
                self.winning_version = verdict.winning_version
                self.evidence = verdict.evidence
                self.message = verdict.message
            case Unknown():
                self.outcome = RecordedOutcome.UNKNOWN

    def _ends(self, now_ms: float) -> None:
        self.ended_at_ms = now_ms
        self._last_snapshot = self.read_version, self.snapshot_at_ms

    def _tells_the_snapshot_of(self, outcome: Outcome) -> None:
        """Note the snapshot that the outcome is about; a command may have taken others since."""
        match outcome:
            case Committed(version) | Unknown(version) if version in self.snapshots:
                self.read_version, self.snapshot_at_ms = self.snapshots[version]
            case Aborted() if self.snapshots:
                last = next(reversed(self.snapshots))
                self.read_version, self.snapshot_at_ms = self.snapshots[last]

    def is_cut_off(self, by: Interruption, now_ms: float, message: str) -> None:
        """It was cut off: unknown if a put of it has landed or may have, else aborted."""
        self._ends(now_ms)
        in_doubt = self.put_in_doubt or self.has_landed
        self.outcome = RecordedOutcome.UNKNOWN if in_doubt else RecordedOutcome.ABORTED
        self.rule, self.exception = by.rule, by
        self.message = message

    def ends_refused(self, now_ms: float, error: DeltaError) -> None:
        """Delta refused it, other than by a conflict."""
        self._ends(now_ms)
        in_doubt = self.put_in_doubt
        self.outcome = RecordedOutcome.UNKNOWN if in_doubt else RecordedOutcome.ABORTED
        self.rule = REFUSED_BY_DELTA
        self.exception, self.error_class = error.exception, error.error_class
        self.message = error.message

    def as_of(self, instant_ms: float) -> None:
        """Forget what comes only after an instant: its process may have run ahead of it."""
        if self.ended_at_ms is not None:
            if self.ended_at_ms < instant_ms:
                return
            for name, value in _NOT_ENDED.items():
                setattr(self, name, value)
            self.read_version, self.snapshot_at_ms = self._last_snapshot
        if self.commit_started_at_ms is not None and self.commit_started_at_ms >= instant_ms:
            self.commit_started_at_ms = self.last_body = None
        self.compute_ms, self.bytes_written = 0.0, 0
        for at_ms, spent_ms, size_bytes in self._spent:
            if at_ms < instant_ms:
                self.compute_ms += spent_ms
                self.bytes_written += size_bytes

    def is_settled(self, now_ms: float) -> bool:
        """Whether nothing of it can change any more, when the kernel has come to an instant."""
        ended_at_ms = self.ended_at_ms
        if ended_at_ms is None or self.threads:
            return False
        return max(ended_at_ms, self.effects_until_ms) < now_ms

    def _committed(self, outcome: Committed) -> None:
        self.outcome = RecordedOutcome.COMMITTED
        self.committed_version = outcome.version
        self.isolation_level = outcome.commit_info.isolation_level
        self.is_blind_append = outcome.commit_info.is_blind_append
        kinds = [type(action) for action in outcome.actions]
        self.files_added = kinds.count(AddFile)
        self.files_removed = kinds.count(RemoveFile)


_OF_THE_END = (
    "ended_at_ms", "outcome", "committed_version", "exception", "error_class", "rule",
    "winning_version", "evidence", "message", "isolation_level", "is_blind_append", "files_added",
    "files_removed", "given_up",
)  # fmt: skip
"""Fields that are known only when a transaction has ended."""

_NOT_ENDED = {
    field.name: field.default
    for field in msgspec.structs.fields(TransactionRecord)
    if field.name in _OF_THE_END
}

"""What a run writes down while it happens: one record per transaction, attempt and request.

Records are mutable, and are filled in as their transaction goes on, perhaps ahead of the kernel.
When nothing can change a record any more it becomes a row of a table and leaves memory. Nothing is
dropped: what is in flight at the end of the run is recorded as such, without anything that would
come after the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.commit_file import decode_commit
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Outcome, Unknown
from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.recording.recorded_table import RecordedTable
from whitecap.sim.recording.recording import SCHEMAS, TELLING_APART
from whitecap.sim.recording.row_stream import RowStream

NO_VERSION = -1


class AttemptRecord(msgspec.Struct):
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


class RequestRecord(msgspec.Struct):
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


class TransactionRecord(msgspec.Struct):
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

    def ends_badly(self, rule: str, now_ms: float, exception: str, message: str) -> None:
        """It was cut off: unknown if a put of it has landed or may have, else aborted."""
        self._ends(now_ms)
        in_doubt = self.put_in_doubt or self.has_landed
        self.outcome = RecordedOutcome.UNKNOWN if in_doubt else RecordedOutcome.ABORTED
        self.rule = rule
        self.exception = exception
        self.message = message

    def ends_refused(self, now_ms: float, error: DeltaError) -> None:
        """Delta refused it, other than by a conflict."""
        self._ends(now_ms)
        in_doubt = self.put_in_doubt
        self.outcome = RecordedOutcome.UNKNOWN if in_doubt else RecordedOutcome.ABORTED
        self.rule = "delta_error"
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


SETTLED_TOGETHER = 4096
"""Transactions in memory, some megabytes, from which on those that are settled become rows."""


class Recorder:
    """Collects the records of one run; `now_ms` tells the kernel's time.

    Processes may record ahead of that time, but never behind it. So a transaction that ended before
    it is settled with everything that it asked for, and rows leave in their final order.
    """

    def __init__(
        self,
        with_requests: bool = False,
        now_ms: Callable[[], float] = lambda: -math.inf,
        tells_statements_apart: bool = False,
    ) -> None:
        self.with_requests = with_requests
        self.submitted = 0
        self.attempted = 0
        self._now_ms = now_ms
        self._tells_apart = tells_statements_apart
        self._rows = {
            "transactions": RowStream("transactions", tells_statements_apart),
            "attempts": RowStream("attempts"),
        }
        if with_requests:
            self._rows["requests"] = RowStream("requests")
        self._transactions: list[TransactionRecord] = []
        self._attempts: list[AttemptRecord] = []
        self._requests: list[RequestRecord] = []
        self._look_at = SETTLED_TOGETHER

    def begin(
        self,
        job_id: int | None,
        rerun_number: int,
        writer: str,
        group: str,
        command: str,
        submitted_ms: float,
    ) -> TransactionRecord:
        """A transaction is submitted; without `job_id` it is the first of its job."""
        if len(self._transactions) >= self._look_at:
            self._settle()
        number = self.submitted
        self.submitted += 1
        job_id = number if job_id is None else job_id
        record = TransactionRecord(
            number, job_id, rerun_number, writer, group, command, submitted_ms
        )
        self._transactions.append(record)
        return record

    def attempt(self, record: TransactionRecord, version: int, now_ms: float) -> AttemptRecord:
        """A transaction tries to take a version."""
        if record.commit_started_at_ms is None:
            record.commit_started_at_ms = now_ms
        record.attempts += 1
        self.attempted += 1
        record.snapshots[version] = (record.read_version, record.snapshot_at_ms)
        attempt = AttemptRecord(record.transaction_id, record.attempts, version, now_ms)
        self._attempts.append(attempt)
        return attempt

    def request(
        self, record: TransactionRecord, kind: str, key: str, size_bytes: int, now_ms: float
    ) -> RequestRecord | None:
        """A transaction sends a request; nothing is noted unless requests are recorded."""
        if not self.with_requests:
            return None
        if self._tells_apart:
            key = f"{record.table_name}/{key}"
        request = RequestRecord(record.transaction_id, kind, key, now_ms, size_bytes=size_bytes)
        self._requests.append(request)
        return request

    def close(self, instant_ms: float) -> None:
        """End the run: forget what was noted ahead of its end, make rows of all that is left."""
        first = self._transactions[0].transaction_id if self._transactions else 0
        for attempt in self._attempts:
            if attempt.sent_at_ms >= instant_ms:
                self._transactions[attempt.transaction_id - first].attempts -= 1
        self._attempts = [each for each in self._attempts if each.sent_at_ms < instant_ms]
        self._requests = [each for each in self._requests if each.sent_at_ms < instant_ms]
        self._become_rows(frozenset(), instant_ms)

    def rows(self) -> dict[str, RecordedTable]:
        """All tables of a closed recorder."""
        return {name: rows.end() for name, rows in self._rows.items()}

    def _transaction_row(self, record: TransactionRecord) -> tuple[Any, ...]:
        row = transaction_row(record)
        return row + statement_of(record) if self._tells_apart else row

    def _settle(self) -> None:
        """Make rows of what nothing can change any more."""
        now_ms = self._now_ms()
        unsettled = (r.transaction_id for r in self._transactions if not r.is_settled(now_ms))
        self._become_rows(frozenset(unsettled), now_ms)
        self._look_at = SETTLED_TOGETHER + 2 * len(self._transactions)

    def _become_rows(self, unsettled: frozenset[int], instant_ms: float) -> None:
        """Make rows of everything before the first `unsettled` transaction, as of an instant."""
        self._attempts.sort(key=attrgetter("sent_at_ms", "transaction_id", "attempt_number"))
        self._requests.sort(key=attrgetter("sent_at_ms", "transaction_id", "kind", "key"))
        noted: dict[str, tuple[list[Any], Callable[[Any], tuple[Any, ...]]]] = {
            "transactions": (self._transactions, self._transaction_row),
            "attempts": (self._attempts, attempt_row),
            "requests": (self._requests, request_row),
        }
        for name, stream in self._rows.items():
            records, row = noted[name]
            count = next(
                (n for n, each in enumerate(records) if each.transaction_id in unsettled),
                len(records),
            )
            for record in records[:count]:
                record.as_of(instant_ms)
            stream.extend(map(row, records[:count]))
            del records[:count]


_STATEMENT = SCHEMAS["transactions"].get_field_index("statement")
_of_transaction = attrgetter(*(n for n in SCHEMAS["transactions"].names if n != "statement"))
statement_of = attrgetter(*TELLING_APART["transactions"].names)
"""The columns that only recordings of several tables or statements have."""
attempt_row = attrgetter(*SCHEMAS["attempts"].names)
request_row = attrgetter(*SCHEMAS["requests"].names)


def transaction_row(record: TransactionRecord) -> tuple[Any, ...]:
    """A transaction in the order of its table's columns."""
    _fill_in_level(record)
    values = _of_transaction(record)
    return (*values[:_STATEMENT], record.make_statement(), *values[_STATEMENT:])


def _fill_in_level(record: TransactionRecord) -> None:
    """Read the isolation level of an uncommitted transaction from the commit it tried to put."""
    if record.isolation_level is not None or record.last_body is None:
        return
    info = decode_commit(record.last_body.partition(b"\n")[0], 0).commit_info
    if info is not None:
        record.isolation_level = info.isolation_level
        record.is_blind_append = info.is_blind_append

"""Keeps what a run notes: one record per transaction, attempt and request, and then its row.

When nothing can change a record any more it becomes a row of a table and leaves memory. Nothing is
dropped: what is in flight at the end of the run is recorded as such, without anything that would
come after the end.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from whitecap.engine.log.commit_file import decode_commit
from whitecap.sim.recording.recorded_table import RecordedTable
from whitecap.sim.recording.recording import SCHEMAS, TELLING_APART
from whitecap.sim.recording.records import AttemptRecord, RequestRecord, TransactionRecord
from whitecap.sim.recording.row_stream import RowStream

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
        self.compactions_in_no_time: Counter[str] = Counter()
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

    def compacted_in_no_time(self, group: str) -> None:
        """An auto compaction after a commit of a writer of that group took no time of its own."""
        self.compactions_in_no_time[group] += 1

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

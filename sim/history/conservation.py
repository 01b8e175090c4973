"""What must hold after every run, whatever the scenario: our own bugs show here.

Every transaction that was submitted is accounted for; the log is whole; every version in it belongs
to exactly one transaction, and every transaction said to have committed is in it; rows are neither
made nor lost by commits that must not. Faults that the scenario switched on cannot break these:
a double commit after a lost reply, for instance, is two versions of one transaction, both known.
Only a store without put-if-absent can: a commit that was overwritten is known as such, and what is
built on it may be damaged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.history.walk import Step
from whitecap.sim.recording.recorder import AttemptRecord, Recorder, TransactionRecord

KEEPS_ROWS = frozenset({"OPTIMIZE", "UPDATE", "REORG"})
"""Operations after which the table has as many rows as before."""


def counts_of(transactions: Iterable[TransactionRecord]) -> dict[str, int]:
    """How many transactions were submitted, and how they ended."""
    ended = Counter(record.outcome for record in transactions)
    return {"submitted": ended.total()} | {
        outcome.value: ended[outcome] for outcome in RecordedOutcome
    }


Owners = frozenset[tuple[int | None, int]]
"""Transactions with a version that each of them wrote."""


def check_conservation(
    recorder: Recorder, steps: Sequence[Step], reproduce: str, overwritten: Owners = frozenset()
) -> None:
    """Raises `InvariantViolated` with everything that is broken and how to see it again.

    `overwritten` are the commits that the store lost.
    """
    broken = [
        *_accounted_for(recorder),
        *_contiguous(steps),
        *_owned(recorder, steps, overwritten),
    ]
    if not overwritten:
        broken += _rows_kept(steps)
        broken += (f"version {step.version} {fault}" for step in steps for fault in step.faults)
    if broken:
        listed = "\n".join(f"  {line}" for line in broken)
        raise InvariantViolated(
            f"the run broke our own rules:\n{listed}\nto reproduce: {reproduce}"
        )


def _accounted_for(recorder: Recorder) -> Iterator[str]:
    counts = counts_of(recorder.transactions)
    told = sum(counts[outcome] for outcome in RecordedOutcome)
    if told != counts["submitted"]:
        yield f"{counts['submitted']} transactions were submitted, {told} have an outcome"
    for record in recorder.transactions:
        if (record.outcome == RecordedOutcome.IN_FLIGHT) != (record.ended_at_ms is None):
            yield f"transaction {record.transaction_id} is {record.outcome} with a wrong end"
    numbers = Counter(attempt.transaction_id for attempt in recorder.attempts)
    for record in recorder.transactions:
        if record.attempts != numbers[record.transaction_id]:
            yield f"transaction {record.transaction_id} miscounts its attempts"


def _contiguous(steps: Sequence[Step]) -> Iterator[str]:
    for expected, step in enumerate(steps):
        if step.version != expected:
            yield f"the log has version {step.version} where {expected} should be"
            return


def _owned(recorder: Recorder, steps: Sequence[Step], overwritten: Owners) -> Iterator[str]:
    owners = {step.version: step.transaction_id for step in steps}
    for record in recorder.transactions:
        version = record.committed_version
        if version is None or (record.transaction_id, version) in overwritten:
            continue
        if owners.get(version) != record.transaction_id:
            yield (
                f"transaction {record.transaction_id} says that it committed version {version}, "
                f"which is {owners.get(version, 'nobody')}'s"
            )
    yield from _each_commit_has_its_put(recorder, steps, overwritten)


def _each_commit_has_its_put(
    recorder: Recorder, steps: Sequence[Step], overwritten: Owners
) -> Iterator[str]:
    """A put that was told `created` owns its version; beyond these, only puts without a reply."""
    owned = {
        (step.transaction_id, step.version) for step in steps if step.transaction_id is not None
    }
    told = {_named(a) for a in recorder.attempts if a.result == PutResult.CREATED.value}
    possible = told | {
        _named(a)
        for a in recorder.attempts
        if a.result in (RecordedOutcome.IN_FLIGHT, PutResult.UNKNOWN.value)
    }
    for transaction, version in sorted(told - owned - overwritten):
        yield f"transaction {transaction} created version {version}, which is not its own"
    for transaction, version in sorted(owned - possible):
        yield f"version {version} is transaction {transaction}'s, which never put it"


def _named(attempt: AttemptRecord) -> tuple[int, int]:
    return attempt.transaction_id, attempt.version


def _rows_kept(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if step.operation in KEEPS_ROWS and step.rows_added not in (0, None):
            yield f"version {step.version} ({step.operation}) changes the rows by {step.rows_added}"
        if step.live_rows is not None and step.live_rows < 0:
            yield f"version {step.version} leaves {step.live_rows} rows"

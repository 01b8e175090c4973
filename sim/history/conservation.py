"""What must hold after every run, whatever the scenario: our own bugs show here.

Every transaction that was submitted is accounted for; the log is whole; every version in it belongs
to exactly one transaction, and every transaction said to have committed is in it; rows are neither
made nor lost by commits that must not. Faults that the scenario switched on cannot break these:
a double commit after a lost reply, for instance, is two versions of one transaction, both known.
Only a store without put-if-absent can: a commit that was overwritten is known as such, and what is
built on it may be damaged.

Looked at are the tables that the recording will hold, by those of their columns that it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.requests import PutResult
from whitecap.sim.history.walk import WalkedVersion
from whitecap.sim.recording.arrays import array_of, scalar_of

KEEPS_ROW_COUNT = frozenset({"OPTIMIZE", "UPDATE", "REORG"})
"""Operations in the log after which the table has as many rows as before."""

COLUMNS_CHECKED = {
    "transactions": (
        "transaction_id", "outcome", "ended_at_ms", "attempts", "committed_version",
    ),
    "attempts": ("transaction_id", "version", "result"),
    "commits": ("version", "transaction_id"),
}  # fmt: skip
"""Table of a recording -> the columns that this looks at."""

_Numbers = NDArray[np.int64]

Owners = frozenset[tuple[int | None, int]]
"""Transactions with a version that each of them wrote."""


class WalkedLog(Struct, frozen=True):
    """What a walk through one table's log found.

    The rows at the end, what of the log is `broken`, the commits that its store lost, and how many
    transactions are in it twice.
    """

    table_name: str
    live_rows: int | None
    broken: tuple[str, ...] = ()
    overwritten: Owners = frozenset()
    doubled: int = 0

    @property
    def lost(self) -> int:
        """How many commits were overwritten that a transaction of the run had made."""
        return sum(transaction_id is not None for transaction_id, _ in self.overwritten)


def columns_checked(tells_apart: bool) -> dict[str, tuple[str, ...]]:
    """`COLUMNS_CHECKED`, with the table of each row in a recording of several tables."""
    if not tells_apart:
        return COLUMNS_CHECKED
    of_tables = ("transactions", "commits")
    return {
        name: (*columns, *(("table_name",) if name in of_tables else ()))
        for name, columns in COLUMNS_CHECKED.items()
    }


_NOBODY = -1


def counts_of(transactions: pa.Table) -> dict[str, int]:
    """How many transactions were submitted, and how they ended."""
    ended = {each["values"]: each["counts"] for each in _outcomes(transactions).to_pylist()}
    return {"submitted": transactions.num_rows} | {
        outcome.value: ended.get(outcome.value, 0) for outcome in RecordedOutcome
    }


def check_conservation(
    tables: Mapping[str, pa.Table], walked: Sequence[WalkedLog], reproduce: str
) -> None:
    """Raises `InvariantViolated` with everything that is broken and how to reproduce it.

    `tables` have the columns of `columns_checked`; `walked` are the logs, one of each table.
    """
    transactions, attempts, commits = (tables[n] for n in ("transactions", "attempts", "commits"))
    broken = list(_miscounted(transactions, attempts))
    if "table_name" not in commits.column_names:
        broken += _of_log(transactions, attempts, commits, walked[0])
    else:
        for log in walked:
            own = _of_table(transactions, attempts, commits, log.table_name)
            broken += [f"{log.table_name}: {said}" for said in _of_log(*own, log)]
    if broken:
        listed = "\n".join(f"  {line}" for line in broken)
        raise InvariantViolated(
            f"the run broke our own rules:\n{listed}\nto reproduce: {reproduce}"
        )


def broken_by(step: WalkedVersion) -> Iterator[str]:
    """What one version breaks: rules for the rows and files that are live."""
    if step.operation in KEEPS_ROW_COUNT and step.rows_added not in (0, None):
        yield f"version {step.version} ({step.operation}) changes the rows by {step.rows_added}"
    if step.live_rows is not None and step.live_rows < 0:
        yield f"version {step.version} leaves {step.live_rows} rows"
    yield from (f"version {step.version} {fault}" for fault in step.faults)


def _of_log(
    transactions: pa.Table, attempts: pa.Table, commits: pa.Table, log: WalkedLog
) -> list[str]:
    """What is broken in the log of a table, given what was recorded of it."""
    return [
        *_contiguous(_numbers(commits, "version")),
        *_owned(transactions, attempts, commits, log.overwritten),
        *log.broken,
    ]


def _of_table(
    transactions: pa.Table, attempts: pa.Table, commits: pa.Table, name: str
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """The rows that are of one table."""
    wanted = scalar_of(name, pa.string())
    own = transactions.filter(pc.equal(transactions["table_name"], wanted))
    numbers = own["transaction_id"].combine_chunks()
    tried = attempts.filter(pc.is_in(attempts["transaction_id"], numbers))
    return own, tried, commits.filter(pc.equal(commits["table_name"], wanted))


def _outcomes(transactions: pa.Table) -> pa.Array:
    return pc.value_counts(transactions["outcome"])


def _numbers(table: pa.Table, column: str) -> _Numbers:
    """A column of whole numbers; `_NOBODY` stands for NULL."""
    chunked = table[column]
    filled = pc.fill_null(chunked, scalar_of(_NOBODY, chunked.type)).combine_chunks()
    return np.from_dlpack(filled).astype(np.int64)  # `to_numpy` would import pandas


def _miscounted(transactions: pa.Table, attempts: pa.Table) -> Iterator[str]:
    counts = counts_of(transactions)
    ended = sum(counts[outcome] for outcome in RecordedOutcome)
    if ended != counts["submitted"]:
        yield f"{counts['submitted']} transactions were submitted, {ended} have an outcome"
    in_flight = scalar_of(RecordedOutcome.IN_FLIGHT.value, pa.string())
    is_in_flight = pc.equal(transactions["outcome"], in_flight)
    has_no_end = pc.is_null(transactions["ended_at_ms"])
    wrong = pc.not_equal(is_in_flight, has_no_end)
    for row in transactions.select(["transaction_id", "outcome"]).filter(wrong).to_pylist():
        yield f"transaction {row['transaction_id']} is {row['outcome']} with a wrong end"
    made = np.bincount(_numbers(attempts, "transaction_id"), minlength=transactions.num_rows)
    for number in np.flatnonzero(made != _numbers(transactions, "attempts")):
        yield f"transaction {number} miscounts its attempts"


def _contiguous(versions: _Numbers) -> Iterator[str]:
    wrong = np.flatnonzero(versions != np.arange(len(versions)))
    if len(wrong):
        first = wrong[0]
        yield f"the log has version {versions[first]} where {first} should be"


def _owned(
    transactions: pa.Table, attempts: pa.Table, commits: pa.Table, overwritten: Owners
) -> Iterator[str]:
    owners, versions = _numbers(commits, "transaction_id"), _numbers(commits, "version")
    owned, lost = _pairs(owners, versions), _of_pairs(overwritten)
    committed = transactions.filter(pc.is_valid(transactions["committed_version"]))
    claimed = _pairs(
        _numbers(committed, "transaction_id"), _numbers(committed, "committed_version")
    )
    for transaction, version in _missing(claimed, owned, lost):
        owner = next(iter(owners[versions == version].tolist()), "nobody")
        owner = None if owner == _NOBODY else owner
        yield (
            f"transaction {transaction} says that it committed version {version}, "
            f"which is {owner}'s"
        )
    yield from _each_commit_has_its_put(attempts, owned[owners != _NOBODY], lost)


def _each_commit_has_its_put(attempts: pa.Table, owned: _Numbers, lost: _Numbers) -> Iterator[str]:
    """A put that was told `created` owns its version; beyond these, only puts without a reply."""

    def put(*results: str) -> _Numbers:
        some = attempts.filter(pc.is_in(attempts["result"], array_of(results, pa.string())))
        return _pairs(_numbers(some, "transaction_id"), _numbers(some, "version"))

    created = PutResult.CREATED.value
    for transaction, version in _missing(put(created), owned, lost):
        yield f"transaction {transaction} created version {version}, which is not its own"
    possible = put(created, RecordedOutcome.IN_FLIGHT.value, PutResult.UNKNOWN.value)
    for transaction, version in _missing(owned, possible):
        yield f"version {version} is transaction {transaction}'s, which never put it"


_VERSION_BITS = 32
"""A transaction and a version are one number here: no run has so many versions."""


def _pairs(transactions: _Numbers, versions: _Numbers) -> _Numbers:
    return (transactions << _VERSION_BITS) + versions


def _of_pairs(owners: Owners) -> _Numbers:
    pairs = [(_NOBODY if owner is None else owner, version) for owner, version in owners]
    numbers = np.array(pairs, np.int64).reshape(-1, 2)
    return _pairs(numbers[:, 0], numbers[:, 1])


def _missing(pairs: _Numbers, *among: _Numbers) -> list[tuple[int, int]]:
    """The pairs that are in none of the other sets, in order."""
    missing = np.setdiff1d(pairs, np.concatenate(among)).tolist()
    return [(pair >> _VERSION_BITS, pair & ((1 << _VERSION_BITS) - 1)) for pair in missing]

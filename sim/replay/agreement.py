"""How far a recording and reality agree, transaction by transaction."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.playing.player import PlayedTransaction
from whitecap.sim.replay.playing.script import End, TransactionResult

FORMAT_VERSION = 1
AGREEMENT = "agreement.json"
ROWS = "agreement.csv"
MESSAGE_LENGTH = 500
"""Delta's messages carry whole commits; the beginning says what happened."""


class Comparison(StrEnum):
    """Whether the recorded and the real end of a transaction are the same."""

    MATCH = "match"
    MISMATCH = "mismatch"
    NOT_COMPARABLE = "not_comparable"


class ComparedTransaction(Struct, frozen=True):
    """One transaction, recorded and real. `reason` says what differs, or why it may."""

    transaction: str
    command: str
    read_version: int
    comparison: Comparison
    reason: str
    recorded: TransactionResult
    real: TransactionResult | None
    real_message: str = ""
    table: str = ""
    job_id: int = -1
    given_up: bool = False

    def row(self) -> dict[str, Any]:
        """As one flat row of a table."""
        return {
            "transaction": self.transaction,
            "table": self.table,
            "command": self.command,
            "read_version": self.read_version,
            "comparison": str(self.comparison),
            "reason": self.reason,
            **_columns("recorded", self.recorded),
            **_columns("real", self.real),
            "real_message": self.real_message,
        }


def _columns(side: str, result: TransactionResult | None) -> dict[str, Any]:
    return {
        f"{side}_{name}": None if result is None else getattr(result, name)
        for name in TransactionResult.__struct_fields__
    }


class HalfDone(Struct, frozen=True):
    """Jobs that were given up after an earlier statement of theirs had committed.

    As recorded and as really happened, among jobs whose transactions were all replayed.
    """

    recorded: int
    real: int

    def __str__(self) -> str:
        return f"{self.recorded:,} in the recording, {self.real:,} on real Delta Lake"


class Agreement(Struct, frozen=True):
    """A replay's result: what was replayed, and how each transaction compares."""

    origin: Mapping[str, Any]
    compared: tuple[ComparedTransaction, ...]

    def count(self, comparison: Comparison) -> int:
        """How many transactions compare in this way."""
        return sum(each.comparison is comparison for each in self.compared)

    @property
    def compared_count(self) -> int:
        """How many transactions really ended in a way that could be compared."""
        return len(self.compared) - self.count(Comparison.NOT_COMPARABLE)

    @property
    def by_table(self) -> dict[str, Agreement]:
        """The agreement on each table."""
        names = dict.fromkeys(each.table for each in self.compared)
        return {
            name: Agreement({}, tuple(each for each in self.compared if each.table == name))
            for name in names
        }

    @property
    def half_done(self) -> HalfDone:
        """Jobs that changed one table and not another, as recorded and as really happened."""
        jobs: dict[int, list[ComparedTransaction]] = {}
        for each in self.compared:
            jobs.setdefault(each.job_id, []).append(each)
        given_up = [
            own
            for own in jobs.values()
            if any(each.given_up for each in own) and all(each.real is not None for each in own)
        ]
        return HalfDone(
            sum(any(each.recorded.version is not None for each in own) for own in given_up),
            sum(_is_half_done_in_reality(own) for own in given_up),
        )

    @property
    def holds(self) -> bool:
        """Whether something was compared, and nothing disagrees."""
        return bool(self.agreed) and not self.count(Comparison.MISMATCH)

    @property
    def agreed(self) -> list[TransactionResult]:
        """The ends on which both sides agree."""
        return [each.recorded for each in self.compared if each.comparison is Comparison.MATCH]

    @property
    def agreed_exceptions(self) -> dict[str, int]:
        """The exception classes on which both sides agree, with their numbers."""
        counted = Counter(each.exception for each in self.agreed if each.exception)
        return dict(sorted((str(name), number) for name, number in counted.items()))

    @property
    def agreed_commits(self) -> int:
        """How many commits both sides agree on."""
        return sum(each.end is End.COMMITTED for each in self.agreed)

    def _of_several_tables(self) -> dict[str, Any]:
        by_table = self.by_table
        if len(by_table) < 2:
            return {}
        tables = {
            name: {str(way): of_table.count(way) for way in Comparison}
            for name, of_table in by_table.items()
        }
        half_done = {"recorded": self.half_done.recorded, "real": self.half_done.real}
        return {"tables": tables, "half_done": half_done}

    def document(self) -> dict[str, Any]:
        """What agreement.json holds."""
        return {
            "format_version": FORMAT_VERSION,
            **self.origin,
            "matches": self.count(Comparison.MATCH),
            "mismatches": self.count(Comparison.MISMATCH),
            "not_comparable": self.count(Comparison.NOT_COMPARABLE),
            "commits": self.agreed_commits,
            **self._of_several_tables(),
            "exceptions": list(self.agreed_exceptions),
            "exception_counts": self.agreed_exceptions,
            "transactions": [each.row() for each in self.compared],
        }


def _is_half_done_in_reality(job: Sequence[ComparedTransaction]) -> bool:
    """Whether one statement of a job committed and its last one did not."""
    ends = [(each.given_up, each.real) for each in job if each.real is not None]
    refused = all(real.end is End.ABORTED for given_up, real in ends if given_up)
    return refused and any(real.version is not None for _, real in ends)


def compare(
    recorded: Recorded, observed: PlayedTransaction, doubt: str | None = None
) -> ComparedTransaction:
    """Hold what was recorded of one transaction against what really happened.

    `doubt` says why this Delta Lake may rightly end it otherwise than the recorded platform.
    """
    if observed.real is None:
        return not_played(replace(recorded, left_out=observed.message))
    differing = differences(recorded.result, observed.real)
    comparison, reason = _verdict(recorded, differing, doubt)
    message = observed.message[:MESSAGE_LENGTH]
    return _compared(recorded, comparison, reason, observed.real, message)


def not_played(recorded: Recorded) -> ComparedTransaction:
    """The comparison of a transaction that could not be repeated in reality."""
    return _compared(recorded, Comparison.NOT_COMPARABLE, recorded.left_out or "")


def _compared(
    recorded: Recorded,
    comparison: Comparison,
    reason: str,
    real: TransactionResult | None = None,
    message: str = "",
) -> ComparedTransaction:
    return ComparedTransaction(
        transaction=recorded.name,
        command=recorded.command,
        read_version=recorded.read_version,
        comparison=comparison,
        reason=reason,
        recorded=recorded.result,
        real=real,
        real_message=message,
        table=recorded.table,
        job_id=recorded.job_id,
        given_up=recorded.given_up,
    )


def differences(recorded: TransactionResult, real: TransactionResult) -> list[str]:
    """The names of what differs. What the recording does not say is not compared."""
    always = {"end", "version", "exception"}
    return [
        name
        for name, value in asdict(recorded).items()
        if value != getattr(real, name) and (name in always or value is not None)
    ]


def _verdict(
    recorded: Recorded, differing: Sequence[str], doubt: str | None
) -> tuple[Comparison, str]:
    if not differing:
        return Comparison.MATCH, recorded.note
    names = f"{', '.join(differing)} differ"
    if doubt is not None:
        return Comparison.NOT_COMPARABLE, f"{names}: {doubt}"
    return Comparison.MISMATCH, names


def write_agreement(agreement: Agreement, folder: Path) -> Path:
    """Write agreement.json and agreement.csv into `folder`. Returns the first one's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / AGREEMENT
    path.write_text(json.dumps(agreement.document(), indent=1, default=str) + "\n")
    rows = [each.row() for each in agreement.compared]
    with (folder / ROWS).open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else ["transaction"])
        writer.writeheader()
        writer.writerows(rows)
    return path

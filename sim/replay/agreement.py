"""How far a recording and reality agree, transaction by transaction."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.playing.player import Observed
from whitecap.sim.replay.playing.script import End, Result

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


@dataclass(frozen=True, slots=True)
class Compared:
    """One transaction, recorded and real. `reason` says what differs, or why it may."""

    transaction: str
    command: str
    read_version: int
    comparison: Comparison
    reason: str
    recorded: Result
    real: Result | None
    real_message: str = ""

    def row(self) -> dict[str, Any]:
        """As one flat row of a table."""
        return {
            "transaction": self.transaction,
            "command": self.command,
            "read_version": self.read_version,
            "comparison": str(self.comparison),
            "reason": self.reason,
            **_columns("recorded", self.recorded),
            **_columns("real", self.real),
            "real_message": self.real_message,
        }


def _columns(side: str, result: Result | None) -> dict[str, Any]:
    return {
        f"{side}_{field.name}": None if result is None else getattr(result, field.name)
        for field in fields(Result)
    }


@dataclass(frozen=True, slots=True)
class Agreement:
    """A replay's result: what was replayed, and how each transaction compares."""

    origin: Mapping[str, Any]
    compared: tuple[Compared, ...]

    def count(self, comparison: Comparison) -> int:
        """How many transactions compare in this way."""
        return sum(each.comparison is comparison for each in self.compared)

    @property
    def compared_count(self) -> int:
        """How many transactions really ended in a way that could be compared."""
        return len(self.compared) - self.count(Comparison.NOT_COMPARABLE)

    @property
    def holds(self) -> bool:
        """Whether something was compared and nothing disagrees."""
        return bool(self.agreed) and not self.count(Comparison.MISMATCH)

    @property
    def agreed(self) -> list[Result]:
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

    def document(self) -> dict[str, Any]:
        """What agreement.json holds."""
        return {
            "format_version": FORMAT_VERSION,
            **self.origin,
            "matches": self.count(Comparison.MATCH),
            "mismatches": self.count(Comparison.MISMATCH),
            "not_comparable": self.count(Comparison.NOT_COMPARABLE),
            "commits": self.agreed_commits,
            "exceptions": list(self.agreed_exceptions),
            "exception_counts": self.agreed_exceptions,
            "transactions": [each.row() for each in self.compared],
        }


def compare(recorded: Recorded, observed: Observed, doubt: str | None = None) -> Compared:
    """Hold what was recorded of one transaction against what really happened.

    `doubt` says why this Delta Lake may rightly end it otherwise than the recorded platform.
    """
    if observed.real is None:
        return not_played(replace(recorded, left_out=observed.message))
    differing = differences(recorded.result, observed.real)
    comparison, reason = _verdict(recorded, differing, doubt)
    message = observed.message[:MESSAGE_LENGTH]
    return _compared(recorded, comparison, reason, observed.real, message)


def not_played(recorded: Recorded) -> Compared:
    """A transaction that reality was not made to repeat."""
    return _compared(recorded, Comparison.NOT_COMPARABLE, recorded.left_out or "")


def _compared(
    recorded: Recorded,
    comparison: Comparison,
    reason: str,
    real: Result | None = None,
    message: str = "",
) -> Compared:
    return Compared(
        transaction=recorded.name,
        command=recorded.command,
        read_version=recorded.read_version,
        comparison=comparison,
        reason=reason,
        recorded=recorded.result,
        real=real,
        real_message=message,
    )


def differences(recorded: Result, real: Result) -> list[str]:
    """The names of what differs; what the recording does not say is not compared."""
    always = {"end", "version", "exception"}
    return [
        field.name
        for field in fields(Result)
        if getattr(recorded, field.name) != getattr(real, field.name)
        and (field.name in always or getattr(recorded, field.name) is not None)
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

"""What a replay on real Delta Lake found, as the report tells it.

Read from `replay/agreement.json`, which `whitecap replay` writes beside the runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.reports.words import counted


class ReplayedTransaction(Struct, frozen=True):
    """One transaction: how it ended in the recording, on real Delta, and how these compare."""

    transaction: str
    command: str
    recorded: str
    real: str
    comparison: str
    reason: str


class ReportedAgreement(Struct, frozen=True):
    """How many replayed transactions ended on real Delta as they did in simulation, and which."""

    matches: int
    mismatches: int
    not_comparable: int
    commits: int
    exceptions: Mapping[str, int]
    delta_version: str
    run: str
    code_version: str
    transactions: tuple[ReplayedTransaction, ...]
    tables: Mapping[str, Mapping[str, int]]
    """Of several tables: how many transactions of each compare in which way."""
    half_done: Mapping[str, int]
    """Of several tables: jobs given up after a commit, `recorded` and `real`."""

    @property
    def compared(self) -> int:
        """Transactions for which real Delta gave an answer to compare with."""
        return self.matches + self.mismatches

    @property
    def agrees(self) -> bool:
        """Whether every compared transaction matched, and there was one."""
        return self.mismatches == 0 and self.matches > 0

    @property
    def headline(self) -> str:
        """The agreement in one sentence."""
        if self.agrees:
            return f"Real Delta Lake agrees on all {self.compared} replayed transactions."
        return (
            f"Real Delta Lake disagrees on {self.mismatches} of {self.compared} "
            "replayed transactions."
        )

    @property
    def sentences(self) -> list[str]:
        """What was replayed, and what could not be compared."""
        sentences = [
            f"The interleaving recorded in {self.run} was forced on Delta Lake "
            f"{self.delta_version}; outcome, exception class and version were compared."
        ]
        ends = [counted(self.commits, "commit")]
        ends += [f"{number} {name}" for name, number in self.exceptions.items()]
        sentences.append(f"Both sides had {', '.join(ends)}.")
        if self.not_comparable:
            sentences.append(f"{self.not_comparable} transactions could not be compared.")
        return sentences + list(self._of_several_tables())

    def _of_several_tables(self) -> Iterator[str]:
        if not self.tables:
            return
        agreed = [
            f"{name} {of['match']} of {of['match'] + of['mismatch']}"
            for name, of in self.tables.items()
        ]
        yield f"They agree by table: {', '.join(agreed)}."
        recorded, real = self.half_done.get("recorded", 0), self.half_done.get("real", 0)
        if recorded or real:
            yield f"Jobs left half done: {recorded} in the recording, {real} on real Delta Lake."


def read_agreement(root: Path) -> ReportedAgreement | None:
    """The agreement of the replay in this directory; `None` if there was no replay.

    Raises `InvalidInput` where the file is there and cannot be read.
    """
    path = root / "replay" / "agreement.json"
    if not path.is_file():
        return None
    try:
        return agreement_in(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput([Problem(str(path), f"is not an agreement ({error!r})")]) from None


def agreement_in(content: Mapping[str, Any]) -> ReportedAgreement:
    """The agreement that such a document holds."""
    return ReportedAgreement(
        matches=int(content["matches"]),
        mismatches=int(content["mismatches"]),
        not_comparable=int(content["not_comparable"]),
        commits=int(content["commits"]),
        exceptions={str(k): int(v) for k, v in content["exception_counts"].items()},
        delta_version=str(content["delta_version"]),
        run=str(content["run"]),
        code_version=str(content["code_version"]),
        transactions=tuple(_replayed(row) for row in content["transactions"]),
        tables=dict(content.get("tables", {})),
        half_done=dict(content.get("half_done", {})),
    )


def _replayed(row: Mapping[str, Any]) -> ReplayedTransaction:
    return ReplayedTransaction(
        transaction=str(row["transaction"]),
        command=str(row["command"]),
        recorded=_end(row, "recorded"),
        real=_end(row, "real"),
        comparison=str(row["comparison"]).replace("_", " "),
        reason=str(row["reason"]),
    )


def _end(row: Mapping[str, Any], side: str) -> str:
    """`version 12`, the exception, or how else it ended."""
    exception, version = row[f"{side}_exception"], row[f"{side}_version"]
    if exception:
        return str(exception)
    return f"version {version}" if version is not None else str(row[f"{side}_end"])

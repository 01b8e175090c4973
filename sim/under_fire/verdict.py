"""What the simulator predicted beside what happened: outcomes by name, and anomalies by name."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.under_fire.expecting import ExpectedRun, anomalies_of
from whitecap.sim.under_fire.fire import Burnt
from whitecap.sim.under_fire.leading import KILLED, Tried

COMMITTED = RecordedOutcome.COMMITTED.value


class Beside(Struct, frozen=True):
    """How often something came out, simulated and real; tries, or findings of an anomaly."""

    what: str
    simulated: int
    real: int


class SkippedRun(Struct, frozen=True):
    """A run that the package cannot make, and why."""

    name: str
    number: int
    why: str
    is_left_out: ClassVar[bool] = True
    is_sound: ClassVar[bool] = True
    is_expected: ClassVar[bool] = True

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        return {"scenario": self.name, "run": self.number, "why_not": self.why}


class JudgedRun(Struct, frozen=True):
    """One run of real writers, with what was expected of it."""

    name: str
    number: int
    version: str
    expected: ExpectedRun
    burnt: Burnt
    is_left_out: ClassVar[bool] = False

    @property
    def is_sound(self) -> bool:
        """Whether the oracles found nothing wrong with the table."""
        return not self.burnt.judgement.findings

    @property
    def is_expected(self) -> bool:
        """Whether the simulator predicted every anomaly that was found."""
        simulated = anomalies_of(self.expected.judgement).keys() | self.expected.possible
        return anomalies_of(self.burnt.judgement).keys() <= simulated

    @property
    def dialect(self) -> str:
        """The dialect by which it was simulated."""
        return self.expected.run.scenario.dialect

    def outcomes(self) -> list[Beside]:
        """Tries by how they ended: committed first, the refused by their exception."""
        rows = self.expected.run.recording.transactions.to_pylist()
        simulated = Counter(row["exception"] or row["outcome"] for row in rows)
        real = Counter(map(_ended, self.burnt.tried))
        return _beside(simulated, real, first=COMMITTED)

    def anomalies(self) -> list[Beside]:
        """Findings by the anomaly that they name."""
        simulated = anomalies_of(self.expected.judgement)
        return _beside(simulated, anomalies_of(self.burnt.judgement))

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        burnt = self.burnt
        return {
            "scenario": self.name,
            "run": self.number,
            "engine": self.version,
            "dialect": self.dialect,
            "left_out": dict(self.expected.lacks),
            "outcomes": [_row(each) for each in self.outcomes()],
            "anomalies": [_row(each) for each in self.anomalies()],
            "struck": dict(burnt.struck),
            "killed": burnt.deaths,
            "is_sound": self.is_sound,
            "is_expected": self.is_expected,
            "findings": [finding.as_row() for finding in burnt.judgement.findings],
            "not_checked": [f"{each.what}: {each.why}" for each in burnt.judgement.not_checked],
            "errors": self.errors(),
            "directory": str(burnt.directory),
        }

    def errors(self) -> list[str]:
        """What clients reported besides conflicts, each error once."""
        unknown = RecordedOutcome.UNKNOWN
        texts = (tried.said for tried in self.burnt.tried if tried.transaction.outcome is unknown)
        return list(dict.fromkeys(text for text in texts if text and text != KILLED))


def _ended(tried: Tried) -> str:
    """How a try ended, as recordings name it: by its exception if there is one."""
    outcome = tried.transaction.outcome
    if tried.said == KILLED or (outcome is RecordedOutcome.ABORTED and tried.said):
        return tried.said
    return outcome.value


def _beside(simulated: Counter[str], real: Counter[str], first: str = "") -> list[Beside]:
    names = sorted(simulated.keys() | real.keys(), key=lambda name: (name != first, name))
    return [Beside(name, simulated[name], real[name]) for name in names]


def _row(beside: Beside) -> dict[str, Any]:
    return {"what": beside.what, "simulated": beside.simulated, "real": beside.real}

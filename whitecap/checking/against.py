"""Scenarios held against a baseline: what `sim` ran is compared by `reports`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from whitecap.checking.scenarios import CheckedScenario, MeasuredScenario
from whitecap.engine.errors import InvalidInput, Problem, gathered, nearest, noted
from whitecap.reports.comparisons.baseline import (
    AGAIN,
    UPDATE_COMMAND,
    Baseline,
    BaselineScenario,
    as_stored,
    read_baseline,
)
from whitecap.reports.comparisons.changes import MeasureChanges, changes_between
from whitecap.reports.comparisons.sides import COMPARED, side_of
from whitecap.reports.precision.asked import Asked, asked_for
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.scenario.cells import show_cell
from whitecap.sim.sweeps.regression_files import LoadedScenario


class Against(Struct, frozen=True):
    """A baseline's file, to be compared with, or to be written anew (`is_updated`)."""

    path: Path
    baseline: Baseline
    is_updated: bool
    tolerated: tuple[Asked, ...] = ()
    replications: int | None = None
    """How many are asked for, instead of each scenario's."""

    def accept(self, loaded: Sequence[LoadedScenario]) -> list[Problem]:
        """What keeps these scenarios from being compared, before they are run."""
        problems = list(_twice([each.name for each in loaded]))
        for each in loaded:
            cells = [show_cell(labels) for labels, _ in each.cells]
            count = self.replications or each.replications
            problems += self._refused(str(each.path), each.name, each.seed, count, cells)
        return problems

    def changes(self, measured: MeasuredScenario, source: str) -> MeasureChanges:
        """What changed since the baseline. Raises `InvalidInput`: the two cannot be compared."""
        now = stored_of(measured, source)
        problems = self._refused(source, now.name, now.seed, now.replications, list(now.sides))
        if problems:
            raise InvalidInput(problems)
        then = self.baseline.scenarios[now.name].sides
        # What is kept of now is what is kept of then, so that the same is the same.
        return changes_between(then, as_stored(now).sides, paired=True, tolerated=self.tolerated)

    def updated(self, results: Sequence[CheckedScenario]) -> Baseline:
        """The baseline with those of these scenarios that were run to their end."""
        whole = [
            stored_of(each.measured, str(each.path))
            for each in results
            if each.measured is not None and each.checked.error is None
        ]
        return self.baseline.with_these(whole, code_version())

    def _refused(
        self, place: str, name: str, seed: int, replications: int, cells: Sequence[str]
    ) -> list[Problem]:
        """What is wrong with a scenario of which there are so many replications."""
        if replications < FEWEST:
            return [Problem(place, TOO_FEW)]
        return [] if self.is_updated else list(self._against_known(place, name, seed, cells))

    def _against_known(
        self, place: str, name: str, seed: int, cells: Sequence[str]
    ) -> Iterator[Problem]:
        there = self.baseline.scenarios.get(name)
        if there is None:
            said = f"{name!r} is not in the baseline {self.path}: add it with {UPDATE_COMMAND}"
            yield Problem(place, said, nearest(name, self.baseline.scenarios))
        elif there.seed != seed:
            said = (
                f"has seed {seed}, and the baseline {self.path} was made with {there.seed}: their "
                f"replications have nothing in common; set it back, or {AGAIN}"
            )
            yield Problem(place, said)
        elif not set(cells) & there.sides.keys():
            said = f"has no cell in common with the baseline {self.path}: {AGAIN}"
            yield Problem(place, said)
        elif there.replications < FEWEST:
            said = f"has one replication in the baseline {self.path}: {AGAIN}"
            yield Problem(place, said)


FEWEST = 2
"""Replications without which there is no interval, and so nothing that could be called worse."""

TOO_FEW = "one replication says nothing of a difference: take --replications 5"


def against(
    path: Path, *, update: bool, tolerate: Sequence[str] = (), replications: int | None = None
) -> Against:
    """The baseline in this file, which need not be there to be written.

    Raises `InvalidInput`: it cannot be read, or what is to be tolerated is wrong.
    """
    with gathered() as problems:
        with noted(problems):
            tolerated = tolerated_by(tolerate)
        if replications is not None and replications < FEWEST:
            problems.append(Problem("replications", TOO_FEW))
        baseline = Baseline() if update and not path.exists() else read_baseline(path)
    return Against(path, baseline, update, tolerated, replications)


def tolerated_by(texts: Sequence[str]) -> tuple[Asked, ...]:
    """By how much measures may be worse. Raises `InvalidInput` with everything that is wrong."""
    tolerated = asked_for(texts, option="tolerate")
    if problems := list(_not_compared(tolerated)):
        raise InvalidInput(problems)
    return tolerated


def _not_compared(tolerated: Sequence[Asked]) -> Iterator[Problem]:
    for each in tolerated:
        if each.measure not in COMPARED:
            said = f"is not compared: there are {', '.join(COMPARED)}"
            yield Problem(f"tolerate {str(each)!r}", said)


def stored_of(measured: MeasuredScenario, source: str) -> BaselineScenario:
    """What a baseline keeps of a scenario."""
    sides = {show_cell(c.labels): side_of(c.runs, c.digest) for c in measured.cells}
    return BaselineScenario(measured.name, source, measured.seed, sides)


def _twice(names: Sequence[str]) -> Iterator[Problem]:
    for name, count in Counter(names).items():
        if count > 1:
            said = "scenarios have this name, by which a baseline tells them apart: rename one"
            yield Problem(name, f"{count} {said}")

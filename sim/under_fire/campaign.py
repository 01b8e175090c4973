"""Runs of real writers, of some scenarios and of the cells of their sweeps in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading.loading import cell_of
from whitecap.sim.replay.real.environment import require_delta
from whitecap.sim.replay.real.releases import release_here
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.under_fire.clients import real_client
from whitecap.sim.under_fire.deltalake_fire import burn_on_deltalake
from whitecap.sim.under_fire.expecting import (
    ExpectedRun,
    expected_of_deltalake,
    expected_of_spark,
)
from whitecap.sim.under_fire.fire import Burnt
from whitecap.sim.under_fire.order import NobodyLeft
from whitecap.sim.under_fire.spark_fire import burn_on_spark
from whitecap.sim.under_fire.verdict import JudgedRun, SkippedRun


class RealEngine(Protocol):
    """A real engine that writers run on."""

    version: str
    """The name of its package, and the version."""

    def expected(self, scenario: Scenario, seed: int, number: int) -> ExpectedRun:
        """What writers are to do, and what the simulator predicts. Raises `NobodyLeft`."""

    def burn(self, expected: ExpectedRun, directory: Path) -> Burnt:
        """Let real writers do it. Returns what happened."""


class Deltalake:
    """The package of an interpreter, by default of this one, on an object store of ours.

    Raises `EnvironmentMissing` if there is none.
    """

    def __init__(self, python: str | None = None) -> None:
        self._python = python
        with real_client(python) as client:
            self._number = client.version
        self.version = f"deltalake {self._number}"

    def expected(self, scenario: Scenario, seed: int, number: int) -> ExpectedRun:
        return expected_of_deltalake(scenario, self._number, seed, number)

    def burn(self, expected: ExpectedRun, directory: Path) -> Burnt:
        """Let real writers do it. Raises `InvariantViolated`: the store broke its promise."""
        return burn_on_deltalake(expected, directory, self._python)


class Spark:
    """Delta Lake in one JVM, on a local directory. Raises `EnvironmentMissing`."""

    version = f"delta-spark {release_here().delta}"

    def __init__(self) -> None:
        require_delta()

    def expected(self, scenario: Scenario, seed: int, number: int) -> ExpectedRun:
        return expected_of_spark(scenario, seed, number)

    def burn(self, expected: ExpectedRun, directory: Path) -> Burnt:
        """Let real writers do it. Raises `InvariantViolated`: the JVM ended by itself."""
        return burn_on_spark(expected, directory)


def run_under_fire(
    scenarios: Sequence[Scenario], numbers: range, seed: int, out: Path, engine: RealEngine
) -> Iterator[JudgedRun | SkippedRun]:
    """One run after the other, each with a table and a history below `out`; raises as `engine`.

    Raises `InvalidInput` for scenarios of several tables.
    """
    _require_one_table(scenarios)
    for number in numbers:
        round_, which = divmod(number, len(scenarios))
        scenario = scenarios[which]
        try:
            expected = engine.expected(_in_turn(scenario, round_), seed, number)
        except NobodyLeft as lack:
            yield SkippedRun(scenario.name, number, str(lack))
            continue
        burnt = engine.burn(expected, out / f"{scenario.name}-{number}")
        yield JudgedRun(scenario.name, number, engine.version, expected, burnt)


def _require_one_table(scenarios: Sequence[Scenario]) -> None:
    """Raises `InvalidInput` with every scenario of several tables."""
    problems = [
        Problem(scenario.source, f"has several tables ({', '.join(scenario.tables)}): "
                "real writers work on one `table`")
        for scenario in scenarios
        if scenario.table is None
    ]  # fmt: skip
    if problems:
        raise InvalidInput(problems)


def _in_turn(scenario: Scenario, round_: int) -> Scenario:
    """A cell of the scenario's sweep, each in turn; the scenario itself if it has no sweep."""
    if scenario.sweep is None:
        return scenario
    cells = list(scenario.sweep.cells())
    return cell_of(scenario, cells[round_ % len(cells)])

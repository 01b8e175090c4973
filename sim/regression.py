"""Regression scenarios: finding those with an `expect:`, running them, and holding them to it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from whitecap.engine.errors import InvalidInput, InvariantViolated, Problem
from whitecap.sim.processes import Processes
from whitecap.sim.scenario import Scenario, cell_of, load_scenario
from whitecap.sim.scenario.sweep import show_cell
from whitecap.sim.scenario.yaml_text import read_yaml


class Verdict(StrEnum):
    """How a scenario came out."""

    OK = "ok"
    MISSED = "missed"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Checked:
    """One expectation of a scenario: what it is about, what was found, and what was missed."""

    subject: str
    found: float
    missed: str | None
    because: str


@dataclass(frozen=True, slots=True)
class CheckedScenario:
    """One scenario with all its expectations; `error` where the run itself broke."""

    path: Path
    name: str
    expectations: tuple[Checked, ...]
    error: str | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """Broken before missed before ok."""
        if self.error is not None:
            return Verdict.BROKEN
        return Verdict.MISSED if self.misses else Verdict.OK

    @property
    def misses(self) -> list[Checked]:
        """The expectations that were not met."""
        return [each for each in self.expectations if each.missed is not None]


def find_scenarios(paths: Sequence[Path]) -> list[Path]:
    """The scenario files with an `expect:` among files and, at any depth, in folders.

    Raises `InvalidInput` with every problem: a path that is not there, a named file that expects
    nothing, a scenario that is wrong, or nothing found at all.
    """
    problems: list[Problem] = []
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_expecting(sorted(path.rglob("*.yaml")), problems)))
        elif path.is_file():
            expecting = list(_expecting([path], problems))
            if not expecting and not problems:
                problems.append(Problem(str(path), "expects nothing: it has no `expect:`"))
            found.update(dict.fromkeys(expecting))
        else:
            problems.append(Problem(str(path), "is not there"))
    for path in found:
        try:
            load_scenario(path)
        except InvalidInput as error:
            problems.extend(error.problems)
    if not found and not problems:
        listed = ", ".join(str(path) for path in paths)
        problems.append(Problem(listed, "no scenario with an `expect:` lies there"))
    if problems:
        raise InvalidInput(problems)
    return list(found)


def _expecting(paths: Sequence[Path], problems: list[Problem]) -> Iterator[Path]:
    for path in paths:
        try:
            content = read_yaml(path).content
        except InvalidInput as error:
            problems.extend(error.problems)
            continue
        if isinstance(content, dict) and "expect" in content:
            yield path


def check_all(paths: Sequence[Path], jobs: int) -> Iterator[CheckedScenario]:
    """Check every scenario, `jobs` at a time in processes of their own, in the order given."""
    with Processes(jobs) as processes:
        yield from processes.map(check_scenario, paths)


def check_scenario(path: Path) -> CheckedScenario:
    """Run one scenario with its own seed and evaluate its expectations.

    Where they name variants of its sweep (`when`), every cell is run, and held to those for it.
    """
    began = time.perf_counter()
    scenario = load_scenario(path)
    expectations: list[Checked] = []
    error = None
    for labels, cell in _cells(scenario):
        try:
            expectations += _checked(cell, labels)
        except InvariantViolated as broken:
            error = _at(labels, str(broken))
        except Exception as broken:
            again = f"to reproduce: whitecap run {path} --seed {scenario.seed}"
            text = f"{type(broken).__name__}: {broken}\n{again}\n{traceback.format_exc()}"
            error = _at(labels, text)
        if error is not None:
            break
    seconds = time.perf_counter() - began
    return CheckedScenario(path, scenario.name, tuple(expectations), error, seconds)


def _cells(scenario: Scenario) -> Iterator[tuple[dict[str, str], Scenario]]:
    """What to run: the scenario as it stands, or the cells that its expectations tell apart."""
    if scenario.sweep is None or not any(e.when for e in scenario.expect):
        yield {}, scenario
        return
    for labels in scenario.sweep.cells():
        yield labels, cell_of(scenario, labels)


def _checked(scenario: Scenario, labels: dict[str, str]) -> Iterator[Checked]:
    from whitecap.sim.expectations import evaluate, subject
    from whitecap.sim.run import run_scenario

    recording = run_scenario(scenario, labels=labels).recording
    for each in evaluate(scenario.expect, recording):
        expectation = each.expectation
        about = _at(labels, subject(expectation))
        yield Checked(about, each.found, each.missed, expectation.because)


def _at(labels: dict[str, str], text: str) -> str:
    return f"{show_cell(labels)}: {text}" if labels else text

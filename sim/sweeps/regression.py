"""Regression scenarios: runs every cell of those with an `expect:`.

What the runs are held to is not decided here: a function of the caller's reads each run in the
process that made it, and what it returns comes back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from whitecap.engine.recorded import Measure
from whitecap.sim.machine.processes import Processes
from whitecap.sim.oracles.duck_table import duckdb_is_there
from whitecap.sim.recording.dataset.reading import Reading
from whitecap.sim.replay.real.environment import EnvironmentMissing, MissingPrerequisite
from whitecap.sim.scenario.cells import show_cell
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.read_runs import Making, ReadRun, RunToRead, Watch
from whitecap.sim.sweeps.regression_files import Accept, LoadedScenario, load_regressions

T = TypeVar("T")


class CellRuns(Struct, Generic[T], frozen=True):
    """One cell, without labels if there is no sweep, with what was read of each replication."""

    scenario: Scenario
    labels: Mapping[str, str]
    runs: Mapping[int, T]

    @property
    def is_run_once(self) -> bool:
        """Whether everything that is expected of it concerns its first run alone."""
        return _expects_one_run(self.scenario)


class RanScenario(Struct, Generic[T], frozen=True):
    """One scenario with its cells; `error` if a run ended in one. `seconds` of computing."""

    path: Path
    name: str
    cells: tuple[CellRuns[T], ...]
    error: str | None
    seconds: float
    is_unfinished: bool = False
    """Whether time was up before all of its runs were made. Then it has no cells."""


Enough = Callable[[RanScenario[T], int], int]
"""How many replications of a scenario there should be, given what was run and how many there are.

An answer that is not larger than the number there is means that these are enough.
"""


class Rounds(Struct, Generic[T], frozen=True):
    """Replications added round by round while `enough` wants more, the `first` with so many."""

    enough: Enough[T]
    first: Callable[[int], int] = int
    """How many the first round has, of a scenario that is run so often without rounds."""


class RunEffort(Struct, frozen=True):
    """How much is run: so many runs at a time, `replications` of a cell if not the sweep's.

    After `seconds` no more runs are made.
    """

    jobs: int = 1
    replications: int | None = None
    seconds: float | None = None


DEFAULT_EFFORT = RunEffort()


def run_expecting(
    paths: Sequence[Path],
    reading: Reading[T],
    effort: RunEffort,
    watch: Watch | None = None,
    rounds: Rounds[T] | None = None,
    *,
    accept: Accept | None = None,
) -> Iterator[RanScenario[T]]:
    """Run the scenarios at these paths, in order.

    Every cell that something is expected of is run: as often as the effort, its sweep or the
    default says; once, if all that is expected of it is expected `exactly`; with `rounds`, as
    often as they want.

    With `accept` every cell is run, that often, of named files also where nothing is expected;
    before that it says what is wrong with these scenarios. When time is up, runs under way in other
    processes are ended, and what is not whole then `is_unfinished`.

    Raises `InvalidInput` before anything is run, with every problem: a path that is not there, a
    named file that expects nothing, a scenario that is wrong, or nothing found at all; and
    `EnvironmentMissing` where findings are expected and nothing is there to look for them.
    """
    began = time.monotonic()
    with Processes(effort.jobs) as processes:
        loaded = load_regressions(paths, processes, accept)
        _require_oracles(loaded)
        passed = time.monotonic() - began
        left = None if effort.seconds is None else max(effort.seconds - passed, 0.0)
        with _ended_after(left, processes) as is_over:
            making = Making(reading, processes, watch)
            counts = [effort.replications or each.replications for each in loaded]
            yield from _InRounds(making, rounds, accept is not None, is_over).ran(loaded, counts)


def _require_oracles(loaded: Sequence[LoadedScenario]) -> None:
    """Raises `EnvironmentMissing`: what was not looked for would count as not found."""
    scenarios = (scenario for each in loaded for _, scenario in each.cells)
    expected = {each.measure for scenario in scenarios for each in scenario.expect}
    if Measure.FINDINGS in expected and not duckdb_is_there():
        what = "DuckDB, by which rows are judged for an expectation of findings, is not installed"
        raise EnvironmentMissing(
            [MissingPrerequisite(what, "Install it: pip install 'whitecap[oracles]'")]
        )


class _InRounds(Struct, Generic[T], frozen=True):
    """How scenarios are run: with `rounds`, as often as these want.

    Of `every` cell, or of those that something is expected of.
    """

    making: Making[T]
    rounds: Rounds[T] | None
    every: bool
    is_over: Callable[[], bool]

    def ran(
        self, loaded: Sequence[LoadedScenario], counts: Sequence[int]
    ) -> Iterator[RanScenario[T]]:
        """Each scenario with `counts` replications, or as many as the first round has.

        The first replications of all scenarios are made in one go, so that no process is idle
        between two of them. What is not made when time `is_over` is left unfinished.
        """
        counts = [self.rounds.first(count) if self.rounds else count for count in counts]
        planned = [list(self._runs(each, range(n))) for each, n in zip(loaded, counts, strict=True)]
        ran = self.making.make([run for runs in planned for run in runs])
        for each, count, runs in zip(loaded, counts, planned, strict=True):
            made: list[ReadRun[T]] = []
            try:
                made += islice(ran, len(runs))
                self._add_rounds(each, made, count)
            except (CancelledError, BrokenProcessPool):
                if not self.is_over():
                    raise
            yield _together(each, made) if len(made) >= len(runs) else _unfinished(each)

    def _add_rounds(self, loaded: LoadedScenario, made: list[ReadRun[T]], count: int) -> None:
        """Make more replications of a scenario that has so many, until there are enough."""
        if self.rounds is None:
            return
        while (more := self.rounds.enough(_together(loaded, made), count)) > count:
            made += self.making.make(list(self._runs(loaded, range(count, more))))
            count = more

    def _runs(self, loaded: LoadedScenario, replications: range) -> Iterator[RunToRead]:
        for labels, scenario in loaded.cells:
            is_once = not self.every and _expects_one_run(scenario)
            for replication in replications if scenario.expect or self.every else ():
                if not is_once or replication == 0:
                    yield RunToRead(scenario, labels, replication)


def _expects_one_run(scenario: Scenario) -> bool:
    """Whether all that is expected concerns the first run alone."""
    return all(each.exactly for each in scenario.expect)


@contextmanager
def _ended_after(seconds: float | None, processes: Processes) -> Iterator[Callable[[], bool]]:
    """End the work of `processes` after that time; the context says whether it is over."""
    over = threading.Event()

    def end() -> None:
        over.set()
        processes.stop()

    timer = threading.Timer(seconds or 0.0, end)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()


def at(labels: Mapping[str, str], text: str) -> str:
    """`text`, said of the cell with these labels."""
    return f"{show_cell(labels)}: {text}" if labels else text


def _unfinished(loaded: LoadedScenario) -> RanScenario[T]:
    return RanScenario(loaded.path, loaded.name, (), None, 0.0, is_unfinished=True)


def _together(loaded: LoadedScenario, ran: Sequence[ReadRun[T]]) -> RanScenario[T]:
    errors = [at(each.run.labels, each.error) for each in ran if each.error is not None]
    cells = []
    for labels, scenario in loaded.cells:
        runs = {
            each.run.replication: each.read
            for each in ran
            if each.run.labels == labels and each.read is not None
        }
        if runs:
            cells.append(CellRuns(scenario, labels, runs))
    seconds = sum(each.seconds for each in ran)
    error = errors[0] if errors else None
    return RanScenario(loaded.path, loaded.name, tuple(cells), error, seconds)

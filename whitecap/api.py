"""The public Python API: run a scenario, load a recording, look at it with pandas.

import whitecap
run = whitecap.run("scenarios/events.yaml", seed=7)
run.transactions.groupby("exception").size()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from whitecap.sim.loading import load_scenario, parse_scenario, scenario_of
from whitecap.sim.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from whitecap.reports.answers.answer import Answer
    from whitecap.reports.expectations.judging import Judged
    from whitecap.reports.measures.measured_run import MeasuredRun
    from whitecap.sim.recording.recording import Recording
    from whitecap.sim.run import FinishedRun
    from whitecap.sweeps import Sweep

__all__ = ["Run", "Scenario", "load", "load_scenario", "run", "scenario_from"]

ScenarioLike = Scenario | str | Path | Mapping[str, Any]
"""A scenario, the path of its file, its YAML text, or its content as a dictionary."""


@dataclass(frozen=True)
class Run:
    """One recorded run. `scenario` is what was run."""

    scenario: Scenario
    recording: Recording
    _finished: FinishedRun | None = field(default=None, repr=False)

    @cached_property
    def transactions(self) -> pd.DataFrame:
        """One row per transaction, in order of submission."""
        return self._frame("transactions")

    @cached_property
    def attempts(self) -> pd.DataFrame:
        """One row per put-if-absent of a commit file."""
        return self._frame("attempts")

    @cached_property
    def commits(self) -> pd.DataFrame:
        """One row per version of the log."""
        return self._frame("commits")

    @cached_property
    def requests(self) -> pd.DataFrame:
        """One row per request to the store; run with `requests=True`."""
        return self._frame("requests")

    @cached_property
    def writers(self) -> pd.DataFrame:
        """One row per writer: the jobs that fell due, and those not begun when the run ended."""
        return self._frame("writers")

    @cached_property
    def measured(self) -> MeasuredRun:
        """Every measure with what it is counted from, whole and by writer group."""
        from whitecap.engine.recorded import COLUMNS_READ
        from whitecap.reports.measures.measured_run import measure_run

        return measure_run(self.recording.manifest, self.recording.columns(COLUMNS_READ))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per writer group and command, and one for all."""
        from dataclasses import asdict

        import pandas as pd

        from whitecap.reports.summary import summary_of

        return pd.DataFrame([asdict(line) for line in summary_of(self.measured)])

    @cached_property
    def refusals(self) -> pd.DataFrame:
        """Who stopped whom: one row per loser, winner and exception, most frequent first.

        `loser_group`, `loser_command`: the writers whose transactions were aborted;
        `winner_group`, `winner_command`: those whose commit was behind it, or `(before the run)`,
        `(its own commit)`, `(unknown)`, `(nobody)`; `exception`; `count`; `aborts`: of the loser in
        all; `share`: `count` of them. Transactions of the warm-up are left out.
        """
        import pandas as pd

        from whitecap.reports.measures.refusals import REFUSAL_COLUMNS

        rows = [refusal.as_row() for refusal in self.measured.refusals]
        return pd.DataFrame(rows, columns=list(REFUSAL_COLUMNS))

    @property
    def is_interrupted(self) -> bool:
        """Whether it was ended early; the recording then covers less than the scenario says."""
        from whitecap.sim.recording.recording import INTERRUPTED

        return bool(self.recording.manifest.get(INTERRUPTED))

    @cached_property
    def answer(self) -> Answer:
        """Whether the objectives are met in this run, and what stands in the way. Printable."""
        from whitecap.reports.answers.of_runs import answer_of_run

        return answer_of_run(self.recording.manifest, self.measured)

    @property
    def expectations(self) -> list[Judged]:
        """The scenario's `expect:`, judged by this one run; without those of cells of its sweep."""
        from whitecap.reports.expectations.expected import of_cell
        from whitecap.reports.expectations.judging import judge_run

        return [judge_run(each, self.measured) for each in of_cell(self.scenario.expect, {})]

    def export(
        self,
        directory: str | Path,
        *,
        version: int | None = None,
        data: bool = True,
        overwrite: bool = False,
    ) -> int:
        """Write the simulated Delta table to disk, up to `version`; returns the version.

        Raises `InvalidInput` if the directory holds something, other than (with `overwrite`) a
        table that was exported before.
        """
        from whitecap.sim.table.export import export_table

        if self._finished is None:
            raise ValueError("only a run that was just made has its table; run the scenario again")
        store = self._finished.world.store
        place = Path(directory)
        return export_table(store, place, version=version, data=data, overwrite=overwrite)

    def _frame(self, name: str) -> pd.DataFrame:
        if name not in self.recording.rows:
            raise ValueError(f"{name} were not recorded")
        frame: pd.DataFrame = self.recording.rows[name].read().to_pandas()
        return frame


@overload
def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: None = None,
    max_replications: int | None = None,
) -> Run: ...


@overload
def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: str | Sequence[str],
    max_replications: int | None = None,
) -> Sweep: ...


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    replication: int = 0,
    changes: Mapping[str, Any] | None = None,
    cell: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    requests: bool = False,
    overwrite: bool = False,
    until: str | Sequence[str] | None = None,
    max_replications: int | None = None,
) -> Run | Sweep:
    """Simulate a scenario, or a `cell` of its sweep (axis -> label).

    `changes` are dotted paths and their values; only what is run then is checked, and no other
    cell. `out` is a directory for the recording; interrupted, the run keeps there what it has.
    With `until` ("conflict_rate +- 1 point") it is a sweep of one cell, with replications up to
    `max_replications` (100) until that is known: nothing of one run (`replication`, `requests`,
    `overwrite`) can be asked for then.

    Raises `InvalidInput` with every problem of the scenario, or if `out` holds a run already
    (without `overwrite`) or something else. `ValueError`: of one run, and there are several.
    """
    from whitecap.sim.run import run_scenario

    loaded = scenario_from(scenario, changes, cell)
    if until is not None or max_replications is not None:
        from whitecap.sweeps import replicated

        if replication or requests or overwrite:
            raise ValueError("replication, requests and overwrite are of one run")
        return replicated(loaded, until or (), max_replications, seed=seed, out=out)
    finished = run_scenario(
        loaded,
        seed=seed,
        replication=replication,
        out=None if out is None else Path(out),
        requests=requests,
        overwrite=overwrite,
    )
    return Run(loaded, finished.recording, finished)


def load(directory: str | Path) -> Run:
    """A run that was recorded before. Raises `InvalidInput` if it is none or is damaged."""
    from whitecap.sim.recording.recording import read_recording

    return recorded(read_recording(Path(directory)), str(directory))


def recorded(recording: Recording, place: str) -> Run:
    """A run from its recording, which lies at `place`."""
    return Run(parse_scenario(recording.scenario, place, cells=False), recording)


def scenario_from(
    given: ScenarioLike,
    changes: Mapping[str, Any] | None = None,
    cell: Mapping[str, str] | None = None,
) -> Scenario:
    """A checked scenario, or a cell of it, with changes applied. Raises `InvalidInput`."""
    match given:
        case Scenario() if not changes and cell is None:
            return given
        case Scenario():
            return scenario_of(given.document, changes, cells=False, cell=cell)
        case Mapping():
            return scenario_of(dict(given), changes, cells=False, cell=cell)
        case str() if "\n" in given:
            return parse_scenario(given, "scenario", changes, cells=False, cell=cell)
        case _:
            return load_scenario(Path(str(given)), changes, cells=False, cell=cell)

"""The public Python API of sweeps: run one, look at its numbers, draw its figures.

import whitecap
sweep = whitecap.sweep("scenarios/events.yaml", only={"isolation": []}, replications=3)
sweep.measures            # means with 95 % intervals per cell, as a pandas DataFrame
whitecap.figures.heat_map(sweep, "conflict_rate")
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.arguments.kinds import of_its_kinds
from whitecap.arguments.texts import lists_of, texts_of
from whitecap.engine.errors import gathered, noted
from whitecap.runs import Run, recorded
from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
from whitecap.sim.quantities.whole_numbers import whole
from whitecap.sim.scenario.cells import CellChoice, chosen_cell
from whitecap.sim.scenario.model import Scenario
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import SweepAt, made_in, recorded_runs, require_sweep_place, sweep_place

if TYPE_CHECKING:
    import pandas as pd

    from whitecap.reports.answers.answer import WordedAnswer
    from whitecap.reports.report import Report
    from whitecap.reports.subject import Subject
    from whitecap.sim.recording.dataset.place import DatasetPlace
    from whitecap.sim.sweeps.engines import SweepEngine
    from whitecap.until import Until

__all__ = ["Sweep", "load_sweep", "report", "sweep"]

SHOWN = ("job_success_rate", "wasted_compute_share")
"""What a sweep draws of itself in a notebook: whether jobs get through, and at what price."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """All finished runs of a sweep, aggregated."""

    place: DatasetPlace
    """Where its recordings lie."""
    directory: Path
    """Where tables, answer, figures and page are written: there too, unless that is a URI."""
    subject: Subject
    """All that tables, figures and page are made of."""
    answer: WordedAnswer
    """What to choose under which load; print it, or look at `headline`, `sentences`, `cell`."""

    def __str__(self) -> str:
        return str(self.answer)

    def __repr__(self) -> str:
        return str(self)

    def __fspath__(self) -> str:
        """Where it lies, for all that takes a sweep's place."""
        return str(self.place)

    def _repr_html_(self) -> str:
        from whitecap.reports.figures.figures import ranges
        from whitecap.reports.markup.notebook_part import notebook_part

        title = "Job success rate and wasted compute"
        figures = {title: ranges(self.subject, title, "", *SHOWN)}
        return notebook_part(str(self).splitlines(), {"table": self.table}, figures)

    @property
    def cells(self) -> dict[str, dict[str, str]]:
        """Each cell with its label per axis."""
        return {cell.name: dict(cell.labels) for cell in self.subject.layout.cells}

    @property
    def measures(self) -> pd.DataFrame:
        """Mean and 95 % interval of every measure per cell."""
        return self.subject.tables.cells

    @property
    def runs(self) -> pd.DataFrame:
        """Every measure of every run."""
        return self.subject.tables.runs

    @property
    def exceptions(self) -> pd.DataFrame:
        """Abort rate by exception per cell."""
        return self.subject.tables.exceptions

    @property
    def differences(self) -> pd.DataFrame:
        """Paired differences of all pairs of cells."""
        return self.subject.tables.differences

    @property
    def refusals(self) -> pd.DataFrame:
        """Who stops whom, per cell over all replications; the columns are those of `Run.refusals`,
        after the cell and its label per axis (`axis_...`)."""
        return self.subject.tables.refusals

    @property
    def tallies(self) -> pd.DataFrame:
        """What each measure of each run is counted from, by writer group (none named: of all).

        `part` of `whole`: numerator and denominator of a share; a count of one run; a count per
        so many minutes. Shares are pooled over replications by the sums of both.
        """
        return self.subject.tables.tallies

    @property
    def left_out(self) -> pd.DataFrame:
        """What success and latency of each run do not tell, by writer group (none named: of all).

        Of `jobs`, `given_up` (`half_done` of them) and `unfinished`, of the others `idle`, which
        found nothing to do; transactions `in_flight` at the end; of those that `succeeded` the ones
        `without_effect`, which are of a statement that never left a version, and of these the ones
        `repeated`, whose table had their batch; of `jobs_due` over the whole run, `jobs_not_begun`.
        """
        return self.subject.tables.left_out

    @cached_property
    def hashes(self) -> pd.DataFrame:
        """Of every run a SHA-256 of the rows of each table, as they lie there.

        Two sweeps of the same seed have the same, whatever made them and wherever they lie.
        """
        import pandas as pd

        from whitecap.sim.recording.dataset.rows import EVERYTHING, hashes_of

        sweep = self.subject.runs.sweep
        assert sweep is not None
        rows = [
            {"cell": cell, "replication": replication, **hashes}
            for (cell, replication), hashes in sweep.read(hashes_of, EVERYTHING)
        ]
        return pd.DataFrame(rows)

    @cached_property
    def expectations(self) -> pd.DataFrame:
        """The scenario's `expect:`, judged over replications: a row per expectation and cell."""
        import pandas as pd

        from whitecap.checking import expected_by
        from whitecap.reports.expectations.cells import judged_cells

        expected = expected_by(self.subject.runs.definition)
        measured = self.subject.tables.measured
        rows = [
            {"cell": cell, "expectation": str(each), "judgement": judged.standing.value,
             "found": judged.measured, "text": judged.text}
            for each in judged_cells(expected, measured, self.subject.layout)
            for cell, judged in each.cells.items()
        ]  # fmt: skip
        columns = ["cell", "expectation", "judgement", "found", "text"]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Cells down, measures across: every number in its unit with its 95 % interval."""
        import pandas as pd

        from whitecap.reports.measures import MEASURES, measures_shown
        from whitecap.reports.statistics import written_estimate

        layout, tables = self.subject.layout, self.subject.tables
        shown = measures_shown(self.subject.runs.is_priced)
        written = {
            measure.title: {
                layout.title(cell): written_estimate(estimate, measure.unit)
                for cell, estimate in tables.of(measure.name).items()
            }
            for measure in (MEASURES[name] for name in shown)
        }
        return pd.DataFrame(written)

    def run(self, cell: CellChoice, replication: int = 0) -> Run:
        """One recorded run of a cell (axis -> label, or its name); `whitecap.figures.timeline`
        draws it. Raises `InvalidInput` if it is not there."""
        from whitecap.sim.recording.dataset.place import recorded_run

        with gathered() as problems:
            with noted(problems):
                name = chosen_cell(cell, self.cells)
            with noted(problems):
                replication = whole("replication", replication, 0, MAX_REPLICATIONS)
        return recorded(recorded_run(self.place, (name, replication)), str(self.place))


@of_its_kinds
def sweep(
    scenario: str | Path,
    *,
    axes: Mapping[str, Any] | None = None,
    only: Mapping[str, Any] | None = None,
    replications: int | None = None,
    seed: int | None = None,
    objective: str | Sequence[str] = (),
    until: str | Sequence[str] = (),
    max_replications: int | None = None,
    out: str | Path | None = None,
    engine: str | None = None,
    master: str | None = None,
    quiet: bool = False,
) -> Sweep:
    """Sweep a scenario file and aggregate it; says on stderr how far it is.

    `axes` adds axes, a dotted path with its values each; `only` keeps these of the scenario's own
    axes, and of each the labels given (all if none are). `objective` takes the place of the
    scenario's. `until` ("conflict_rate +- 1 point") adds replications, up to `max_replications`
    (100), until that is known in every cell; `answer.reached` says how exactly it is. `out` is a
    directory, a new temporary one without it, or a URI that Hadoop knows (`s3a://...`). `engine` is
    "spark" or "processes" (of this machine); without it Spark where Java and pyspark are, or where
    a `master` is named.

    Raises `InvalidInput`, `InvariantViolated` and, on Spark without Java or pyspark,
    `EnvironmentMissing`.
    """
    from whitecap.sim.sweeps.experiment import load_experiment
    from whitecap.terminal.sweep_progress import sweep_progress
    from whitecap.until import sweep_until, until_of

    with gathered() as problems:
        with noted(problems):
            asked = until_of(until, max_replications)
        with noted(problems):
            require_sweep_place(out)
        with noted(problems):
            runs_on = sweep_engine(engine, master, quiet=quiet, makes_runs=True)
        experiment = load_experiment(
            Path(scenario),
            quick_axes=lists_of("axes", axes, problems),
            only=lists_of("only", only, problems),
            replications=replications,
            seed=seed,
            objective=texts_of(objective),
        )
    where = str(_temporary_place() if out is None else out)
    with sweep_progress(quiet=quiet) as tell:
        sweep_until(experiment, where, runs_on, asked, tell)
    return _analysed(where, runs_on)


def replicated(
    scenario: Scenario,
    until: Until,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
) -> Sweep:
    """A scenario as a sweep of one cell, replicated until something is known; as `sweep`."""
    from whitecap.sim.scenario.sweep import DEFAULT_REPLICATIONS
    from whitecap.sim.sweeps.rounds import one_cell
    from whitecap.terminal.sweep_progress import sweep_progress
    from whitecap.until import sweep_until

    where = str(_temporary_place() if out is None else out)
    runs_on = sweep_engine("processes")
    with sweep_progress(quiet=quiet) as tell:
        experiment = one_cell(scenario, DEFAULT_REPLICATIONS, seed)
        sweep_until(experiment, where, runs_on, until, tell)
    return _analysed(where, runs_on)


def _temporary_place() -> Path:
    return Path(tempfile.mkdtemp(prefix="whitecap-sweep-"), "sweep")


@of_its_kinds
def load_sweep(place: str | Path, *, engine: str | None = None, master: str | None = None) -> Sweep:
    """A sweep that was run before, finished or not. Raises `InvalidInput` if it is none.

    It is read by Spark where that is there, which takes seconds to start, or by `engine`
    ("spark", "processes").
    """
    return _analysed(place, sweep_engine(engine, master, quiet=True))


def _analysed(where: str | Path, engine: Callable[[], SweepEngine]) -> Sweep:
    from whitecap.reports.report import analyse
    from whitecap.reports.runs import runs_of

    place = sweep_place(where, engine)
    subject, answer = analyse(runs_of(SweepAt(place, made_in(where), engine)))
    return Sweep(place, made_in(where), subject, answer)


@of_its_kinds
def report(
    place: Sweep | str | Path, *, engine: str | None = None, master: str | None = None
) -> Report:
    """Write the report of a sweep or of a run's directory; says where its page is.

    Of a sweep it is read as by `load_sweep`. Raises `InvalidInput`: nothing lies there, or
    something in it is damaged.
    """
    from whitecap.reports.report import build_report

    return build_report(recorded_runs(fspath(place), sweep_engine(engine, master, quiet=True)))

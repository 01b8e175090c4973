"""One recorded run, to be looked at with pandas: what `whitecap.run` and `whitecap.load` return."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whitecap.arguments.kinds import of_its_kinds
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.whole_numbers import whole_or_none
from whitecap.sim.scenario.model import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from whitecap.reports.answers.answer import WordedAnswer
    from whitecap.reports.expectations.judging import Judged
    from whitecap.reports.measures.measured_run import MeasuredRun
    from whitecap.sim.recording.recording import Recording
    from whitecap.sim.run import FinishedRun


@dataclass(frozen=True, eq=False)
class Run:
    """One recorded run. `scenario` is what was run."""

    scenario: Scenario
    recording: Recording
    """Its manifest and its tables as they were recorded."""
    _finished: FinishedRun | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: the recording, without the world that made it."""
        return {"scenario": self.scenario, "recording": self.recording, "_finished": None}

    def __str__(self) -> str:
        manifest = self.recording.manifest
        ends = self.transactions["outcome"].value_counts()
        counted = ", ".join(f"{count:,} {outcome}" for outcome, count in ends.items())
        ended = ", interrupted" if self.is_interrupted else ""
        return (
            f"{manifest['scenario_name']}, seed {manifest['seed']}, replication "
            f"{manifest['replication']}{ended}: {len(self.transactions):,} transactions, {counted}"
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.figures.figures import timeline_of_run
        from whitecap.reports.markup.notebook_part import notebook_part

        tables = {"summary": self.summary, "refusals": self.refusals}
        shown = {name: table for name, table in tables.items() if len(table)}
        if not len(self.transactions):
            return notebook_part([str(self)], shown)
        figure = timeline_of_run(self.transactions, self.commits, self.recording.manifest)
        return notebook_part([str(self)], shown, {"what the writers did": figure})

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
        """One row per request to the store. Raises `InvalidInput`: run without `requests=True`."""
        if "requests" not in self.recording.rows:
            said = "were not recorded: run with requests=True (--requests)"
            raise InvalidInput([Problem("requests", said)])
        return self._frame("requests")

    @cached_property
    def writers(self) -> pd.DataFrame:
        """One row per writer: the jobs that fell due, and those not begun when the run ended."""
        return self._frame("writers")

    @cached_property
    def measured(self) -> MeasuredRun:
        """Every measure with what it is counted from, whole and by writer group."""
        from whitecap.engine.recorded import columns_read
        from whitecap.reports.measures.measured_run import measure_run

        manifest = self.recording.manifest
        return measure_run(manifest, self.recording.columns(columns_read(manifest)))

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row per writer group and command, and one for all."""
        import pandas as pd
        from msgspec.structs import asdict

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
    def answer(self) -> WordedAnswer:
        """Whether the objectives are met in this run, and what stands in the way. Printable."""
        from whitecap.reports.answers.of_runs import answer_of_run

        return answer_of_run(self.recording.manifest, self.measured)

    @property
    def expectations(self) -> list[Judged]:
        """The scenario's `expect:`, judged by this one run; without those of cells of its sweep."""
        from whitecap.reports.expectations.expected import of_cell
        from whitecap.reports.expectations.judging import judge_run

        return [judge_run(each, self.measured) for each in of_cell(self.scenario.expect, {})]

    @of_its_kinds
    def export(
        self,
        directory: str | Path,
        *,
        table: str | None = None,
        version: int | None = None,
        data: bool = True,
        overwrite: bool = False,
    ) -> int:
        """Write the simulated Delta table to disk, up to `version`; returns the version.

        Of several tables `table` says which. Raises `InvalidInput` if there is no such table, or
        the directory holds something, other than (with `overwrite`) a table that was exported
        before.
        """
        from whitecap.sim.table.export import export_table

        if self._finished is None:
            said = "only a run that was just made has its table; run the scenario again"
            raise InvalidInput([Problem("", said)])
        store = self._finished.world.table_named(table).store
        place, version = Path(directory), whole_or_none("version", version, 0)
        return export_table(store, place, version=version, data=data, overwrite=overwrite)

    def _frame(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = self.recording.rows[name].read().to_pandas()
        return frame


def recorded(recording: Recording, place: str) -> Run:
    """A run from its recording, which lies at `place`."""
    return Run(parse_scenario(recording.scenario, place, cells=False), recording)

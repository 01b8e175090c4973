"""Scenarios drafted from the log of a real table, from Python.

import whitecap
draft = whitecap.from_log("/data/events")
draft.figures[draft.figures["known"] == "assumed"]  # what to put yours in the place of
draft.write("mine.yaml")
whitecap.plan("mine.yaml", "writers.merge.count=4..12")
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from whitecap.arguments.kinds import of_its_kinds
from whitecap.engine.errors import Problem, gathered, noted
from whitecap.sim.inferring import DEFAULT_COMMITS
from whitecap.sim.inferring.drafting import DraftedScenario, draft_of
from whitecap.sim.inferring.evidence.figures import many
from whitecap.sim.inferring.evidence.reading import FigureEvidence, evidence_in
from whitecap.sim.inferring.failures import SHOWN, FailureComparison, read_failures
from whitecap.sim.inferring.failures import compare as compared
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading.profiles import require_shipped
from whitecap.sim.machine.places import require_new_file
from whitecap.sim.quantities.whole_numbers import whole
from whitecap.sim.recording.dataset.place import is_uri

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Draft", "Predicted", "from_log"]


@dataclass(frozen=True)
class Draft:
    """A scenario drafted from a log: look at how its figures are known, write it, run its text."""

    inferred: DraftedScenario
    """The scenario with the source of each of its figures."""

    @property
    def text(self) -> str:
        """The scenario, commented; `whitecap.run(draft.text)` runs it."""
        return self.inferred.text

    @property
    def left_out(self) -> Sequence[str]:
        """What of the log is not in it."""
        return self.inferred.left_out

    @cached_property
    def figures(self) -> pd.DataFrame:
        """One row per figure and reason for it, in the order of the text.

        Columns: `figure` (its dotted path), `value` (as it is written), `known` (from the surest
        on: `read`, `counted`, `fitted`, `guessed`, `assumed`), `because`.
        """
        return _table(evidence_in(self.text))

    @of_its_kinds
    def write(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the scenario to a file, which it returns, to be read, corrected and planned with.

        Raises `InvalidInput`: it cannot be written, or is there already (without `overwrite`).
        """
        place = Path(path)
        require_new_file(place, overwrite=overwrite)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.text, encoding="utf-8")
        return place

    @of_its_kinds
    def compare(self, failures: str | Path) -> Predicted:
        """Hold conflicts that somebody kept against those that five runs of the draft predict.

        `failures` is a CSV file with the columns `instant` (UTC unless it says otherwise), `job` (a
        writer group of the draft, or a job's name in the log) and `exception`, a line for each
        refused transaction. Raises `InvalidInput` with what is wrong in it.
        """
        return Predicted(compared(self.inferred, read_failures(Path(failures))))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "\n".join(self._sentences())

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        evidence = evidence_in(self.text)
        groups = [f"writers.{writer.group.name}." for writer in self.inferred.writers]
        others = [each for each in evidence if not each.path.startswith("writers.")]
        tables = {f"figures of {each[:-1]}": _table(evidence, each) for each in groups}
        return notebook_part(self._sentences(), {"figures": _table(others), **tables})

    def _sentences(self) -> list[str]:
        writers = "; ".join(map(str, self.inferred.writers))
        said = [f"Drafted from {many(len(self.inferred.observed.commits), 'commit')}: {writers}."]
        if self.left_out:
            said.append(f"Left out: {'; '.join(self.left_out)}.")
        said.append("No aborted transaction is in a log: runs of the draft predict how many.")
        return said


@dataclass(frozen=True)
class Predicted:
    """The conflicts that were seen beside those that a draft predicts."""

    comparison: FailureComparison
    """Both, by writer group."""

    @property
    def agrees(self) -> bool:
        """Whether what was seen and what is predicted may be the same, of every writer group."""
        return all(each.agrees for each in self.comparison.groups)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per writer group.

        Columns: `writer`, `seen` (how many), and per hour, with 95 % intervals, `seen_per_hour`,
        `seen_low`, `seen_high`, `predicted_per_hour`, `predicted_low`, `predicted_high`; `verdict`.
        """
        import pandas as pd

        rows = [
            (each.group, each.seen, *each.seen_per_h, *each.predicted_per_h, each.verdict)
            for each in self.comparison.groups
        ]
        of_both = (f"{of}_{part}" for of in ("seen", "predicted") for part in _INTERVAL)
        return pd.DataFrame(rows, columns=["writer", "seen", *of_both, "verdict"])

    def __str__(self) -> str:
        lines = [
            f"{writer}: {seen} seen, {per_hour} per hour, {predicted} predicted: {verdict}"
            for writer, seen, per_hour, predicted, verdict in self._shown()
        ]
        return "\n".join([*lines, self.comparison.caption])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        import pandas as pd

        from whitecap.reports.markup.notebook_part import notebook_part

        shown = pd.DataFrame(self._shown(), columns=list(SHOWN))
        return notebook_part([self.comparison.caption], {"": shown})

    def _shown(self) -> list[tuple[str, str, str, str, str]]:
        return [each.shown for each in self.comparison.groups]


_INTERVAL = ("per_hour", "low", "high")


def _table(evidence: Sequence[FigureEvidence], within: str = "") -> pd.DataFrame:
    import pandas as pd

    rows = [
        (each.path.removeprefix(within), each.text, each.surety.value, each.because)
        for each in evidence
        if each.path.startswith(within)
    ]
    return pd.DataFrame(rows, columns=["figure", "value", "known", "because"])


@of_its_kinds
def from_log(
    table: str | Path,
    *,
    store: str | None = None,
    anonymise: bool = False,
    commits: int = DEFAULT_COMMITS,
    name: str = "",
    from_files: bool = False,
) -> Draft:
    """Draft a scenario from the newest `commits` of the Delta table at a directory or URI.

    `whitecap.run(draft.text)` runs it; `store` is a profile's name. Its runs begin with a table
    like the real one, or with that one's own files. Raises `InvalidInput`: there is no Delta table,
    its log cannot be read, or it holds no commit of a writer; or other names are asked for than the
    files have.
    """
    with gathered() as problems:
        if anonymise and from_files:
            contradiction = (
                "--from-files (from_files=True) names the table, which --anonymise does not"
            )
            problems.append(Problem("", contradiction))
        with noted(problems):
            if store is not None:
                require_shipped(store, "store")
        observed = observe(str(table), whole("commits", commits, 1))
    place = Path(table).absolute() if from_files and not is_uri(table) else observed.place
    observed = replace(observed, place=str(place))
    said = [*([] if anonymise else [observed.place]), *(["--from-files"] if from_files else [])]
    command = shlex.join(["whitecap", "from-log", *said])
    return Draft(draft_of(observed, Options(store, anonymise, name, command, from_files)))

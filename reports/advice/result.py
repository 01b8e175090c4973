"""What to change: the way from what stands to the cheapest design that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.engine.recorded import Objective
from whitecap.reports.advice.steps import DesignStep, Stood
from whitecap.reports.answers.survivors import SurvivingJobs
from whitecap.reports.documents import write_document
from whitecap.reports.sensitivity.effects import gap_of
from whitecap.reports.statistics import CONFIDENCE, Standing

if TYPE_CHECKING:
    import pandas as pd


class Searched(Struct, frozen=True):
    """What was searched: `kinds` by their number of changes, of so many `designs` those that were
    looked at, in `runs`; `fresh` replications then judged the way."""

    kinds: Mapping[str, int]
    refused: Mapping[str, str]
    designs: int
    looked_at: int
    runs: int
    most: int
    fresh: int
    seed: int
    is_cut: bool = False


class Behind(Struct, frozen=True):
    """What `explain` says of two statements behind refusals that waste much. `waste`: their part of
    all compute that aborted transactions took, about."""

    loser: str
    winner: str
    exception: str
    count: int
    waste: float
    statements: tuple[str, str] | None
    answer: str
    suggestions: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """What to change, step by step; print it, or look at its parts."""

    scenario_name: str
    objectives: tuple[Objective, ...]
    stands: Stood
    best: Stood
    steps: tuple[DesignStep, ...]
    searched: Searched
    currency: str
    behind: tuple[Behind, ...]
    changed: str
    """The scenario with all steps taken, as YAML."""

    def __str__(self) -> str:
        from whitecap.reports.advice.wording import advice_text

        return advice_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        return notebook_part(str(self).splitlines(), {"table": self.table} if self.steps else {})

    @property
    def is_met(self) -> bool:
        """Whether the best design meets all objectives, for sure."""
        return self.best.value.standing is Standing.MET

    @property
    def loses(self) -> tuple[SurvivingJobs, SurvivingJobs] | None:
        """The jobs of whose success nothing is asked, as it stands and changed, where surely more
        of them are lost then; of the group that loses most."""
        before = {each.writer: each for each in self.stands.value.surviving}
        for after in self.best.value.surviving:
            stood = before.get(after.writer)
            if stood is not None and not after.is_asked and _is_surely_less(after, stood):
                return stood, after
        return None

    @property
    def document(self) -> dict[str, Any]:
        """All of it, made of what JSON knows."""
        from whitecap.reports.advice.document import advice_document

        return advice_document(self)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per step and measure.

        Columns: `step` (1, ...), `kind`, `change`, `measure`, `writer` (empty: all together),
        `before`, `after`, `difference`, `low`, `high` (simultaneous 95 %), `distinguishable`.
        """
        import pandas as pd

        from whitecap.reports.advice.document import step_rows

        return pd.DataFrame(list(step_rows(self)))

    def write(self, directory: str | Path) -> Sequence[Path]:
        """`advice.json`, and the changed scenario as `advised.yaml`; returns the files."""
        path, changed = Path(directory, "advice.json"), Path(directory, "advised.yaml")
        write_document(path, self.document)
        changed.write_text(self.changed, encoding="utf-8")
        return path, changed


def _is_surely_less(after: SurvivingJobs, before: SurvivingJobs) -> bool:
    """Whether fewer jobs committed, for sure, in the same replications."""
    gap = gap_of(after.success, before.success, CONFIDENCE)
    return gap is not None and gap.is_distinguishable and gap.point < 0

"""Which parameters move a result: all that came out, to be printed, drawn and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.reports.documents import write_document
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.sensitivity.effects import (
    Followed,
    Moving,
    ParameterRuns,
    moving_by,
)
from whitecap.reports.statistics import Estimate, confidence_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class MovedMeasure(Struct, frozen=True):
    """One measure: as the scenario stands, and what moves it, most first."""

    followed: Followed
    stands: Estimate
    moving: tuple[Moving, ...]


@dataclass(frozen=True)
class Sensitivity:
    """What moves each measure; print it, or look at its parts.

    All intervals together hold with 95 %, each with `confidence`.
    """

    scenario_name: str
    measures: tuple[MovedMeasure, ...]
    left_out: Mapping[str, str]
    """Parameters that were not varied, with the reason."""
    replications: int
    runs: int
    seed: int
    confidence: float
    origin: str = ""

    def __str__(self) -> str:
        from whitecap.reports.sensitivity.wording import sensitivity_text

        return sensitivity_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        return notebook_part(
            str(self).splitlines(), figures={"effects of the parameters": self.figure()}
        )

    @property
    def document(self) -> dict[str, Any]:
        """All of it, made of what JSON knows."""
        from whitecap.reports.sensitivity.document import sensitivity_document

        return sensitivity_document(self)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per measure, parameter and value, sorted by effect.

        Columns: `measure`, `writer` (empty: all together), `parameter` (dotted path), `stands` and
        `value` (as people write them), `there` (the measure's estimate at the value), `effect`,
        `low`, `high` (simultaneous 95 %), `distinguishable`.
        """
        import pandas as pd

        from whitecap.reports.sensitivity.document import effect_rows

        return pd.DataFrame([row for moved in self.measures for row in effect_rows(moved)])

    def figure(self) -> Figure:
        """The effects of every parameter as bars with intervals, the largest on top."""
        from whitecap.reports.sensitivity.figure import effects_figure

        return effects_figure(self)

    def write(self, directory: str | Path) -> Sequence[Path]:
        """`sensitivity.json` and the figure as PNG and SVG; returns the files."""
        from whitecap.reports.figures.style import save

        path = Path(directory, "sensitivity.json")
        write_document(path, self.document)
        return path, *save(self.figure(), path.parent, "sensitivity")


def sensitivity_of(
    scenario_name: str,
    followed: Sequence[Followed],
    base: Runs,
    varied: Sequence[ParameterRuns],
    left_out: Mapping[str, str],
    seed: int,
    origin: str,
) -> Sensitivity:
    """What moves each of these measures."""
    changes = sum(len(each.runs) for each in varied)
    confidence = confidence_of(changes * len(followed))
    moved = tuple(
        MovedMeasure(each, each.estimate(base), moving_by(each, base, list(varied), confidence))
        for each in followed
    )
    runs = len(base) * (1 + changes)
    return Sensitivity(scenario_name, moved, left_out, len(base), runs, seed, confidence, origin)

"""What a plan found: the boundary of each variant with its interval, and what was tried for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.engine.recorded import Objective
from whitecap.reports.answers.survivors import SurvivingJobs
from whitecap.reports.documents import write_document
from whitecap.reports.planning.search import Bracket, Sense
from whitecap.reports.planning.trying import TriedValue

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Boundary(Struct, frozen=True):
    """Positions between which the largest (or smallest) value lies at which all objectives hold.

    `low` is -1 where perhaps not even the first value is one, `high` the number of values where
    perhaps one beyond the last is. `point` is the best guess; `None` where it may lie beyond.
    """

    sense: Sense | None
    low: int
    high: int
    point: int | None

    @classmethod
    def of(cls, bracket: Bracket, tried: Mapping[int, TriedValue], positions: int) -> Boundary:
        """Of what was found; the guess follows the values without their intervals."""
        low, high = bracket.low, bracket.high - 1
        if bracket.sense is Sense.SMALLEST:
            low, high = low + 1, high + 1
        point = _point(bracket.sense, low, high, tried) if 0 <= low <= high < positions else None
        return cls(bracket.sense, low, high, point)


def _point(sense: Sense | None, low: int, high: int, tried: Mapping[int, TriedValue]) -> int | None:
    match sense:
        case Sense.LARGEST:
            at, way = low, sorted(each for each in tried if low < each <= high)
        case Sense.SMALLEST:
            at, way = high, sorted((each for each in tried if low <= each < high), reverse=True)
        case None:
            return None
    for each in way:
        if not tried[each].seems_met:
            break
        at = each
    return at


class PlannedVariant(Struct, frozen=True):
    """A variant: its boundary, the values that were tried, and what speaks against it."""

    name: str
    boundary: Boundary
    tried: Mapping[int, TriedValue]
    is_cut: bool
    """Whether the search ended before its end: runs were at their most, or Ctrl-C came."""
    warnings: tuple[str, ...] = ()

    @property
    def stands_for_it(self) -> int:
        """The position that stands for the boundary: its guess, or the last that surely holds."""
        at_least, at_most = self.boundary.low, self.boundary.high
        surely = at_most if self.boundary.sense is Sense.SMALLEST else at_least
        return surely if self.boundary.point is None else self.boundary.point

    @property
    def survivors(self) -> tuple[SurvivingJobs, ...]:
        """How many jobs committed there of those whose latency is asked, if it was tried."""
        tried = self.tried.get(self.stands_for_it)
        return () if tried is None else tried.surviving

    @property
    def shown_within(self) -> list[int]:
        """Positions within the interval that are shown to be as the first ones are, beyond one that
        is undecided. They do not narrow it: its level is that of the values before
        (`docs/statistics.md`)."""
        sense, low, high = self.boundary.sense, self.boundary.low, self.boundary.high
        match sense:
            case Sense.LARGEST:
                within = range(low + 1, high + 1)
            case Sense.SMALLEST:
                within = range(low, high)
            case None:
                return []
        tried = self.tried
        return [at for at in within if at in tried and tried[at].standing is sense.near]


@dataclass(frozen=True)
class Plan:
    """The boundaries of all variants along one parameter; print it, or look at its parts."""

    scenario_name: str
    path: str
    labels: tuple[str, ...]
    """The values of the grid, upward, as people write them."""
    numbers: tuple[float, ...]
    objectives: tuple[Objective, ...]
    variants: tuple[PlannedVariant, ...]
    runs: int
    most_runs: int
    seed: int
    is_interrupted: bool = False
    origin: str = ""

    def __str__(self) -> str:
        from whitecap.reports.planning.wording import plan_text

        return plan_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        figures = {"objectives along the parameter": self.figure()}
        return notebook_part(str(self).splitlines(), {"table": self.table}, figures)

    @property
    def document(self) -> dict[str, Any]:
        """All of it, made of what JSON knows."""
        from whitecap.reports.planning.document import plan_document

        return plan_document(self)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row per variant, tried value, objective and writer group, with its interval.

        Columns: `variant`, `value` (label), `number` (milliseconds of a duration, per millisecond
        of a rate), `measure`, `writer` (empty: all together), `mean`, `low`, `high` (95 %),
        `standing` at the level of the search, `is_idle` (no job was due, so nothing is judged
        by it), `is_overloaded` (missed because jobs pile up), `replications`.
        """
        import pandas as pd

        from whitecap.reports.planning.document import quantity_row

        rows = [
            {
                "variant": variant.name,
                "value": self.labels[at],
                "number": self.numbers[at],
                **quantity_row(quantity),
                "replications": tried.replications,
            }
            for variant in self.variants
            for at, tried in sorted(variant.tried.items())
            for quantity in tried.quantities
        ]
        return pd.DataFrame(rows)

    def figure(self) -> Figure:
        """The objectives along the parameter, with thresholds and intervals."""
        from whitecap.reports.planning.figure import boundary_figure

        return boundary_figure(self)

    def write(self, directory: str | Path) -> Sequence[Path]:
        """`plan.json` and the figure as PNG and SVG; returns the files."""
        from whitecap.reports.figures.style import save

        path = Path(directory, "plan.json")
        write_document(path, self.document)
        return path, *save(self.figure(), path.parent, "plan")

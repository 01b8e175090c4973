"""What a configuration is chosen by: stated objectives or the default, group by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from whitecap.engine.recorded import ALL_WRITERS, Direction, Measure, Objective

DEFAULT_OBJECTIVES = (Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.99),)
"""Where a scenario states none: fewer than one job in a hundred may be given up."""

FEWEST_JOBS = 300
"""Of a writer group over all replications, before it is judged by the default objective.

As many without a failure are what shows 99 % at all (the rule of three: 299). With fewer a
group can only miss it: that takes few jobs if many of them fail."""


class Held(Struct, frozen=True):
    """An objective that is held against a writer group, or against all together (no `writer`).

    It can be judged as an expectation can (`reports/expectations/expected.py: MeasureThresholds`).
    """

    objective: Objective
    writer: str | None

    @property
    def measure(self) -> Measure:
        """What is looked at."""
        return self.objective.measure

    @property
    def thresholds(self) -> Mapping[str, float]:
        """Its one threshold, by its direction."""
        return {self.objective.direction.value: self.objective.threshold}

    @property
    def command(self) -> str | None:
        """A writer group has one command."""
        return None

    @property
    def exception(self) -> str | None:
        """Objectives are not narrowed to an exception."""
        return None

    @property
    def exactly(self) -> bool:
        """Objectives are judged over all replications there are."""
        return False

    @property
    def because(self) -> str:
        """Objectives give no reason."""
        return ""

    @property
    def when(self) -> Mapping[str, str]:
        """Objectives are of every cell."""
        return {}


class ObjectiveSet(Struct, frozen=True):
    """What all cells are held to; `are_default` if the scenario states none."""

    each: tuple[Objective, ...]
    are_default: bool

    def held(self, writers: Iterable[str]) -> Iterator[Held]:
        """Against these writer groups: one with an objective of its own for a measure is held to
        that alone."""
        groups = list(dict.fromkeys(writers))
        for objective in self.each:
            whom = [None] if objective.of == ALL_WRITERS else self._judged_by(objective, groups)
            yield from (Held(objective, writer) for writer in whom)

    def _judged_by(self, objective: Objective, groups: Sequence[str]) -> Sequence[str]:
        """The groups that an objective is of; one of all groups spares those with their own."""
        if objective.of is not None:
            return [group for group in groups if group == objective.of]
        own = {each.of for each in self.each if each.measure is objective.measure}
        return [group for group in groups if group not in own]


def objectives_of(stated: Sequence[Objective]) -> ObjectiveSet:
    """What a scenario states, or the default."""
    return ObjectiveSet(tuple(stated) or DEFAULT_OBJECTIVES, not stated)

"""The parts of an answer's sentences: objectives, values, loads and lists, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from whitecap.engine.recorded import ALL_WRITERS, Direction, Measure, Objective, Unit
from whitecap.reports.answers.grid import OfferedLoad
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.answers.overload import overload_text
from whitecap.reports.answers.standing import JudgedObjective, ObjectiveStanding
from whitecap.reports.expectations.expected import exact
from whitecap.reports.layout import is_number
from whitecap.reports.measures import MEASURES, written
from whitecap.reports.statistics import said_estimate
from whitecap.reports.words import counted, listed

NO_JOB_DUE = "no job was due"

EVERY_GROUP = "every writer group"
ALL_TOGETHER = "all writers together"


def objective_text(objective: Objective) -> str:
    """`job success rate of upserter at least 99 %`."""
    whom = objective.of or EVERY_GROUP
    return f"{MEASURES[objective.measure].called} of {_whom(whom)} {asked(objective)}"


def asked(objective: Objective) -> str:
    """`at least 99 %`."""
    side = objective.direction.value.replace("_", " ")
    return f"{side} {exact(objective.threshold, objective.measure.unit)}"


class LookedAt(Protocol):
    """A measure of a writer group, or of all together (no `writer`)."""

    @property
    def measure(self) -> Measure:
        """Which one."""

    @property
    def writer(self) -> str | None:
        """Whose."""


def held_text(held: LookedAt) -> str:
    """What is looked at: `job success rate of upserter`."""
    return f"{MEASURES[held.measure].called} of {held.writer or ALL_TOGETHER}"


def value_text(judged: JudgedObjective) -> str:
    """The value with its interval: `92.1 % (90.5 to 93.5 %)`; of a count, the one that decided."""
    unit = judged.held.measure.unit
    if judged.is_idle:
        return "n/a"
    if unit.is_counted:
        return exact(judged.judged.measured, unit)
    return said_estimate(judged.estimate, unit, judged.held.thresholds.values())


def found_text(judged: JudgedObjective) -> str:
    """What came out, and how that is judged, in one phrase without a full stop."""
    text = f"{held_text(judged.held)} is {value_text(judged)}"
    match judged.stands:
        case ObjectiveStanding.MISSED if judged.overload:
            also = f", {beyond_text(judged)}, and" if judged.beyond else ", but"
            return f"{text}{also} {overload_text(judged.overload)}"
        case ObjectiveStanding.MISSED:
            return f"{text}, {beyond_text(judged)}"
        case ObjectiveStanding.UNDECIDED:
            return f"{text}: {decided_text(judged)}"
        case ObjectiveStanding.TOO_FEW if judged.needed is not None:
            needed = counted(judged.needed, "replication")
            return f"{text}, of {counted(judged.jobs, 'job')} (it takes about {needed})"
        case ObjectiveStanding.TOO_FEW:
            return f"{text}: {NO_JOB_DUE}" if judged.is_idle else f"{text}, of no job"
        case ObjectiveStanding.MET:
            return text


def beyond_text(judged: JudgedObjective) -> str:
    """By how much a threshold is missed: `6.9 points below 99 %`."""
    objective, unit = judged.held.objective, judged.held.measure.unit
    gap = abs(objective.threshold - judged.judged.measured)
    if unit.is_counted or math.isnan(gap):
        return f"{asked(objective)} is asked for"
    side = "below" if objective.direction is Direction.AT_LEAST else "above"
    shown = f"{_points(gap)} points" if unit is Unit.SHARE else written(gap, unit)
    return f"{shown} {side} {exact(objective.threshold, unit)}"


def _points(gap: float) -> str:
    points = 100 * gap
    return f"{points:.1f}" if points >= 1 else f"{points:.2g}"


def decided_text(judged: JudgedObjective) -> str:
    """What would decide an objective at the present estimate: `about 25 replications (some 3,000
    jobs) would decide, if all of them are like these`."""
    if judged.judged.more_than is not None:
        most = f"more than {judged.judged.more_than:,} replications"
        return f"it lies on the threshold, {most} would be needed to decide"
    if judged.needed is None or judged.needed_jobs is None:
        return needed_text(judged.needed)
    jobs = f"{_about(judged.needed_jobs):,} jobs"
    text = f"about {judged.needed:,} replications (some {jobs}) would decide"
    return f"{text}, if there too {_all_alike(judged)}" if judged.has_no_event else text


def _all_alike(judged: JudgedObjective) -> str:
    """What has been so in everything that was seen."""
    if judged.held.measure is Measure.JOB_SUCCESS_RATE:
        return "every job commits" if judged.estimate.point else "no job commits"
    return "it does not happen" if not judged.estimate.point else "it always happens"


def _about(count: int) -> int:
    """Two digits of a number that is a guess."""
    return round(count, 2 - len(str(count))) if count >= 100 else count


def needed_text(needed: int | None) -> str:
    """What would decide: `about 12 replications would decide`."""
    if needed is None:
        return "more replications are needed to decide"
    return f"about {needed:,} replications would decide"


def the_objectives(objectives: ObjectiveSet) -> str:
    """`the objective` or `the objectives`."""
    return "the objective" if len(objectives.each) == 1 else "the objectives"


def loads_text(loads: Sequence[OfferedLoad]) -> str:
    """`8, 12 and 16 writers`; labels that are no numbers with their axis: `low and high (rate)`."""
    titles = [load.title for load in loads]
    heads, tails = zip(*(title.partition(" ")[::2] for title in titles), strict=True)
    if len(set(tails)) == 1 and tails[0] and all(map(is_number, heads)):
        return f"{listed(heads)} {tails[0]}"
    axes = [axis for load in loads for axis in load.labels]
    is_plain = len(set(axes)) == 1 and not any(is_number(each) for each in loads[0].labels.values())
    return f"{listed(titles)} ({axes[0]})" if is_plain else listed(titles)


def at_text(loads: Sequence[OfferedLoad]) -> str:
    """`at 8 and 12 writers `, with a blank behind; nothing where load does not vary."""
    return f"at {loads_text(loads)} " if any(load.labels for load in loads) else ""


def where_text(design: str, load: OfferedLoad) -> str:
    """`with by date at 8 writers, `; what does not vary is not said."""
    parts = [f"with {design}"] if design else []
    parts += [at_text([load]).strip()] if load.labels else []
    return f"{' '.join(parts)}, " if parts else ""


def _whom(name: str) -> str:
    return ALL_TOGETHER if name == ALL_WRITERS else name

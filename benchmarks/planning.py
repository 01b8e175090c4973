"""Plans held to a boundary that brute force knows; the last section of docs/planning.md.

Usage: `python -m benchmarks.planning`. Every count of a small scenario is run many times. Each plan
then searches on replications of its own among them, as `whitecap plan` does on runs that it makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from benchmarks.markdown import table, write_last_section
from whitecap.engine.recorded import Measure, Objective
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.measured_run import MeasuredRun, measure_run
from whitecap.reports.planning.levels import LookSchedule
from whitecap.reports.planning.search import Bracket, bracket_of
from whitecap.reports.planning.trying import TriedValue, tried_value
from whitecap.reports.statistics import Estimate
from whitecap.sim.loading import load_scenario
from whitecap.sim.machine.processes import Processes, at_a_time
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.sweeps.read_runs import Making, RunToRead

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "planning.md"
TITLE = "## Held to a boundary known by brute force"

COUNTS = range(1, 7)
THRESHOLDS = ("95 %", "90 %", "78 %")
PLANS = 12
MOST = 20
"""Replications of one value that a plan may have."""

SMALL = {
    "duration": "10 min",
    "table.partition_by": [],
    "table.initial.rows": 60,
}
"""What makes `scenarios/capacity.yaml` small enough to be run a thousand times and more."""

Pool = Sequence[Sequence[MeasuredRun]]
"""By position of the count, then by replication."""


class Coverage(Struct, frozen=True):
    """How many plans hold the boundary that brute force knows."""

    threshold: str
    boundary: int
    at: Estimate
    beyond: Estimate
    held: int
    points: int
    width: float
    runs: float


def main() -> None:
    """Run all counts, plan on the runs, and write what came of it."""
    with Processes(at_a_time()) as processes:
        pool = pool_of(processes, PLANS * MOST)
    rows = [coverage(pool, threshold, PLANS, MOST) for threshold in THRESHOLDS]
    section = list(_section(rows))
    write_last_section(PAGE, TITLE, section)
    print("\n".join([TITLE, "", *section]))


def pool_of(processes: Processes, replications: int) -> Pool:
    """Every count so many times."""
    made = Making(measure_run, processes).make(
        [RunToRead(_scenario(n), {}, number) for n in COUNTS for number in range(replications)]
    )
    read = [run.read for run in made]
    runs = [each for each in read if each is not None]
    assert len(runs) == len(read), "a run broke"
    return [runs[at * replications :][:replications] for at in range(len(COUNTS))]


def _scenario(count: int) -> Scenario:
    changes = {**SMALL, "writers.etl.count": count}
    return load_scenario(ROOT / "scenarios" / "capacity.yaml", changes, cells=False)


def coverage(pool: Pool, threshold: str, plans: int, most: int) -> Coverage:
    """Plan so often, each on replications of its own."""
    shares = [_success(runs) for runs in pool]
    objectives = _objectives(threshold)
    least = objectives.each[0].threshold
    boundary = max(at for at, share in enumerate(shares) if share.point >= least)
    schedule = LookSchedule(len(pool), most)
    searches = [searched(pool, objectives, schedule, first * most) for first in range(plans)]
    brackets = [each for each, _ in searches]
    held = [each for each in brackets if each.low <= boundary <= each.high - 1]
    exact = [each for each in held if each.high - 1 == each.low]
    return Coverage(
        threshold,
        COUNTS[boundary],
        shares[boundary],
        shares[boundary + 1],
        len(held),
        len(exact),
        sum(each.high - 1 - each.low for each in brackets) / plans,
        sum(runs for _, runs in searches) / plans,
    )


def _success(runs: Sequence[MeasuredRun]) -> Estimate:
    return estimated(
        Measure.JOB_SUCCESS_RATE, [run.tally(Measure.JOB_SUCCESS_RATE) for run in runs]
    )


def _objectives(threshold: str) -> ObjectiveSet:
    changes = {"objective": f"job_success_rate >= {threshold}"}
    scenario = load_scenario(ROOT / "scenarios" / "capacity.yaml", changes, cells=False)
    each: tuple[Objective, ...] = tuple(scenario.objectives)
    return ObjectiveSet(each, are_default=False)


def searched(
    pool: Pool, objectives: ObjectiveSet, schedule: LookSchedule, first: int
) -> tuple[Bracket, int]:
    """A search on the replications from `first` on, and how many runs it took."""
    tried: dict[int, TriedValue] = {}
    while True:
        bracket = bracket_of(
            {at: each.tried(schedule.most) for at, each in tried.items()}, schedule
        )
        if not bracket.wanted:
            return bracket, sum(each.replications for each in tried.values())
        for at, count in bracket.wanted.items():
            runs: Mapping[int, MeasuredRun] = dict(enumerate(pool[at][first : first + count]))
            tried[at] = tried_value(runs, objectives, schedule.error)


def _section(rows: Sequence[Coverage]) -> Iterator[str]:
    when = datetime.now(UTC).date()
    changes = ", ".join(f"`{path}: {value}`" for path, value in SMALL.items())
    yield (
        f"`scenarios/capacity.yaml` with {changes}: every count of writers from {COUNTS[0]} to "
        f"{COUNTS[-1]} was run {PLANS * MOST:,} times, which tells the boundary; then {PLANS} "
        f"plans searched for it, each on {MOST} replications of its own at most "
        f"(`python -m benchmarks.planning`, {when})."
    )
    yield ""
    yield from table(HEAD, map(_cells, rows))


HEAD = (
    "job success at least", "boundary by brute force", "success there and one beyond",
    "intervals that hold it", "that are it alone", "mean width", "mean runs of a plan",
)  # fmt: skip


def _cells(row: Coverage) -> tuple[object, ...]:
    beyond = f"{100 * row.at.point:.2f} and {100 * row.beyond.point:.2f} %"
    held = f"{row.held} of {PLANS}"
    return (
        row.threshold, row.boundary, beyond, held, row.points, f"{row.width:.2f}",
        f"{row.runs:.0f}",
    )  # fmt: skip


if __name__ == "__main__":
    main()

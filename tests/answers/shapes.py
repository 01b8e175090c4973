"""Every shape that an answer can have, as measured cells; their answers lie in `golden/`.

`python -m tests.answers.shapes` writes them anew, to be looked at before they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tests.answers.cells import Cells, Did, answered, replicated, sweep_layout
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.layout import layout_of

GOLDEN = Path(__file__).parent / "golden"

WRITERS = ("8", "12", "16")
LAYOUTS = ("unpartitioned", "by date")

GOOD, DOUBTFUL, BAD = 0, 11, 90
"""Of a thousand jobs, so many are given up: 99 % is met, undecided or missed."""


def runs(given_up: int, *, jobs: int = 1000, replications: int = 5, wasted: float = 0.1) -> Cells:
    """A cell whose upserters give up so many jobs, because of the loaders."""
    upserter = Did(
        jobs - given_up, given_up, aborted=4 * given_up, by="loader", wasted=wasted, unfinished=3
    )
    return {"": replicated(replications, loader=Did(500), upserter=upserter)}


def cells_of(given_up: dict[str, Sequence[int]]) -> Cells:
    """Cells of layouts under 8, 12 and 16 writers."""
    return {
        f"{layout}__{load}": runs(count)[""]
        for layout, counts in given_up.items()
        for load, count in zip(WRITERS, counts, strict=True)
    }


BOTH = sweep_layout(partitioning=LAYOUTS, writers=WRITERS)
LOAD_ONLY = sweep_layout(writers=WRITERS)
DESIGN_ONLY = sweep_layout(partitioning=LAYOUTS)
ONE_CELL = layout_of({"run": {}}, {})


def of_both(unpartitioned: Sequence[int], by_date: Sequence[int]) -> WordedAnswer:
    """Two layouts under three loads."""
    cells = cells_of({"unpartitioned": unpartitioned, "by date": by_date})
    return answered(BOTH, cells, load=["writers"])


def of_load(*given_up: int) -> WordedAnswer:
    """One layout under three loads."""
    cells = {load: runs(count)[""] for load, count in zip(WRITERS, given_up, strict=True)}
    return answered(LOAD_ONLY, cells, load=["writers"])


def of_design(*given_up: int) -> WordedAnswer:
    """Two layouts under one load."""
    cells = {name: runs(count)[""] for name, count in zip(LAYOUTS, given_up, strict=True)}
    return answered(DESIGN_ONLY, cells)


def of_one(
    given_up: int, *objectives: Objective, jobs: int = 1000, replications: int = 5
) -> WordedAnswer:
    """One cell, or one run."""
    cells = {"run": runs(given_up, jobs=jobs, replications=replications)[""]}
    return answered(ONE_CELL, cells, *objectives)


def of_unlike(committed: int, wasted: float) -> WordedAnswer:
    """Two layouts under one load that meet the objective: the second is like so."""
    second = Did(committed, wasted=wasted)
    cells = {
        "unpartitioned": replicated(5, loader=Did(500), upserter=Did(1000, wasted=0.1)),
        "by date": replicated(5, loader=Did(500), upserter=second),
    }
    return answered(DESIGN_ONLY, cells)


def of_few() -> WordedAnswer:
    """One short run."""
    few = replicated(1, loader=Did(20), upserter=Did(16, 4))
    return answered(ONE_CELL, {"run": few})


def of_two_loads() -> WordedAnswer:
    """One layout under two kinds of load."""
    layout = sweep_layout(**{"writers": ("8", "16"), "writers.stream.count": ("1", "2")})
    given_up = {"8__1": GOOD, "8__2": GOOD, "16__1": GOOD, "16__2": BAD}
    cells = {name: runs(count)[""] for name, count in given_up.items()}
    return answered(layout, cells, load=["writers", "writers.stream.count"])


LATENCY = Objective(Measure.LATENCY_P95_MS, Direction.AT_MOST, 12_000.0, "all")
NOTHING_LOST = Objective(Measure.GIVEN_UP, Direction.AT_MOST, 0.0, "upserter")
HALF = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.5, "upserter")

SHAPES: dict[str, Callable[[], WordedAnswer]] = {
    "all met": lambda: of_both((GOOD, GOOD, GOOD), (GOOD, GOOD, GOOD)),
    "one bears more": lambda: of_both((GOOD, BAD, BAD), (GOOD, GOOD, GOOD)),
    "the heaviest undecided": lambda: of_both((BAD, BAD, BAD), (GOOD, GOOD, DOUBTFUL)),
    "the heaviest missed": lambda: of_both((GOOD, BAD, BAD), (GOOD, GOOD, BAD)),
    "each is better once": lambda: of_both((GOOD, BAD, BAD), (BAD, GOOD, GOOD)),
    "none met": lambda: of_both((BAD, 2 * BAD, 3 * BAD), (BAD - 20, BAD, 2 * BAD)),
    "load only": lambda: of_load(GOOD, DOUBTFUL, BAD),
    "load only, all met": lambda: of_load(GOOD, GOOD, GOOD),
    "load only, none met": lambda: of_load(BAD, BAD, BAD),
    "design only": lambda: of_design(BAD, GOOD),
    "design only, equal": lambda: of_design(GOOD, GOOD),
    "design only, one wastes more": lambda: of_unlike(1000, 0.2),
    "design only, one gets less through": lambda: of_unlike(900, 0.1),
    "design only, undecided": lambda: of_design(BAD, DOUBTFUL),
    "design only, none met": lambda: of_design(2 * BAD, BAD),
    "two kinds of load": of_two_loads,
    "one cell, met": lambda: of_one(GOOD),
    "one cell, missed": lambda: of_one(BAD),
    "one cell, undecided": lambda: of_one(DOUBTFUL),
    "one run": lambda: of_one(BAD, replications=1),
    "too few of one group": lambda: of_one(GOOD, jobs=30),
    "too few of all": of_few,
    "a latency alone": lambda: of_one(BAD, LATENCY),
    "several objectives": lambda: of_one(BAD, LATENCY, NOTHING_LOST, HALF),
}


def golden(name: str) -> Path:
    """Where the answer of a shape is kept."""
    return GOLDEN / f"{name.replace(', ', '-').replace(' ', '-')}.txt"


def main() -> None:
    """Write all of them anew."""
    for name, shape in SHAPES.items():
        golden(name).write_text(f"{shape()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Every validation, run in as many processes as there are cores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import TypeVar

from benchmarks.validation.backoff_table import PUBLISHED, Contests, contests
from benchmarks.validation.closed_forms import ClosedForm, closed_forms
from benchmarks.validation.hot_key import rows
from benchmarks.validation.lost_commits import searches
from benchmarks.validation.metamorphic import changes
from benchmarks.validation.page import ValidationResults
from whitecap.reports.statistics import Estimate
from whitecap.sim.machine.processes import Processes, at_a_time

REPLICATIONS, CONTEST_REPLICATIONS = 10, 200

T = TypeVar("T")
R = TypeVar("R")


def results(made: date) -> ValidationResults:
    """Run everything; a line on stderr for each part on the way."""
    laws = closed_forms()
    confidence = 1 - 0.01 / len(laws)
    with Processes(at_a_time()) as processes:
        estimates = _each(processes, "laws", partial(_simulated, confidence), laws)
        contest_lists = _each(processes, "contests", _contests, list(PUBLISHED))
        print("changes", file=sys.stderr, flush=True)
        return ValidationResults(
            made,
            REPLICATIONS,
            CONTEST_REPLICATIONS,
            list(zip(laws, estimates, strict=True)),
            [each for several in contest_lists for each in several],
            changes(REPLICATIONS),
            searches(),
            rows(),
        )


def _each(processes: Processes, what: str, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    results = []
    for number, result in enumerate(processes.map(work, items), 1):
        print(f"{what}: {number} of {len(items)}", file=sys.stderr, flush=True)
        results.append(result)
    return results


def _simulated(confidence: float, law: ClosedForm) -> Estimate:
    return law.simulated(REPLICATIONS, confidence)


def _contests(clients: int) -> list[Contests]:
    return list(contests([clients], CONTEST_REPLICATIONS))

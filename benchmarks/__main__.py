"""`make bench`: print the table and write the page of it.

Names on the command line choose workloads by how they begin; then nothing is written.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct
from rich.console import Console

from benchmarks.bare_simpy import unit_seconds
from benchmarks.measure import Measurement, measure
from benchmarks.profiler import SamplingProfiler
from benchmarks.speed_page import Speed, write
from benchmarks.workloads import TimedScenario, workloads


class _TimeoutUnit(Struct):
    """CPU seconds of a bare timeout, measured again beside each workload: the lesser one counts."""

    seconds: float

    def beside(self, workload: TimedScenario) -> tuple[Measurement, float]:
        """What was measured of a workload, and what a timeout took then."""
        gc.collect()
        before_s, measured = self.seconds, measure(workload)
        self.seconds = unit_seconds()
        return measured, min(before_s, self.seconds)


def main() -> None:
    """Measure and print, a row as soon as it is known."""
    chosen = _chosen(tuple(sys.argv[1:]))
    console, rows = Console(soft_wrap=True), list[Speed]()
    for speed in _measured(chosen):
        console.print(speed.line())
        rows.append(speed)
    if len(sys.argv) == 1:
        write(rows, date.today())


def _measured(chosen: Sequence[TimedScenario]) -> Iterator[Speed]:
    unit = _TimeoutUnit(unit_seconds())
    for workload in chosen:
        measured, unit_s = unit.beside(workload)
        yield Speed(workload, measured, 1e6 * unit_s, _shares(workload))


def _shares(workload: TimedScenario) -> dict[str, float]:
    """Of which parts its time is, by another run; nothing for those that nobody shows."""
    if not workload.is_watched:
        return {}
    profiler = SamplingProfiler()
    measure(workload, profiler)
    return profiler.shares()


def _chosen(beginnings: tuple[str, ...]) -> list[TimedScenario]:
    """The workloads whose names begin so. Exits where some beginning is that of none."""
    offered = list(workloads())
    names = [workload.name for workload in offered]
    wrong = [each for each in beginnings if not any(name.startswith(each) for name in names)]
    if wrong:
        listed = "\n".join(f"  {name}" for name in names)
        said = f"error: no workload begins with {', '.join(wrong)}; there are\n{listed}"
        print(said, file=sys.stderr)
        raise SystemExit(2)
    return [each for each in offered if not beginnings or each.name.startswith(beginnings)]


if __name__ == "__main__":
    main()

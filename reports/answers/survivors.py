"""How many jobs committed of those whose latency is asked: a latency is of survivors alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

from msgspec import Struct

from whitecap.engine.recorded import Measure
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.estimates import estimated
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.writing import written
from whitecap.reports.statistics import Estimate, said_estimate

SUCCESS = Measure.JOB_SUCCESS_RATE


class SurvivingJobs(Struct, frozen=True):
    """The success of a writer group (`None`: all together) whose latency is asked: over all
    replications, in the worst of them, and whether anything is asked of it too."""

    writer: str | None
    success: Estimate
    least: float
    is_asked: bool

    @property
    def jobs(self) -> str:
        """Whose they are: `the jobs of etl`."""
        return "the jobs" if self.writer is None else f"the jobs of {self.writer}"

    @property
    def text(self) -> str:
        """`55.9 % (54.1 to 57.6 %) of the jobs of etl committed`."""
        return f"{said_estimate(self.success, SUCCESS.unit)} of {self.jobs} committed"


def surviving_in(objectives: ObjectiveSet, runs: Runs) -> tuple[SurvivingJobs, ...]:
    """Of each group whose latency is asked, the one that loses most first; a group that ended no
    job has none to lose."""
    writers = [group.writer_group for run in runs.values() for group in run.groups]
    held = list(objectives.held(writers))
    asked = {each.writer for each in held if each.measure is SUCCESS}
    of_latency = dict.fromkeys(each.writer for each in held if each.measure in PERCENTILES)
    surviving = [
        SurvivingJobs(writer, *_success(runs, writer), _is_asked(writer, asked, runs, writers))
        for writer in of_latency
    ]
    ended = [each for each in surviving if not math.isnan(each.least)]
    return tuple(sorted(ended, key=lambda each: each.least))


def _is_asked(
    writer: str | None, asked: Collection[str | None], runs: Runs, writers: Collection[str]
) -> bool:
    """All together are asked too where each group is that lost a job; a group is not where all
    together are."""
    if writer in asked or writer is not None or not asked:
        return writer in asked
    losing = {each for each in writers if _success(runs, each)[1] < 1}
    return losing <= set(asked)


def _success(runs: Runs, writer: str | None) -> tuple[Estimate, float]:
    tallies = [run.tally(SUCCESS, writer) for _, run in sorted(runs.items())]
    values = [each.value for each in tallies if not math.isnan(each.value)]
    return estimated(SUCCESS, tallies), min(values, default=math.nan)


def unasked(surviving: Collection[SurvivingJobs]) -> Iterator[str]:
    """Where nobody asks for success, how much of it there is; of the group that loses most."""
    each = next((each for each in surviving if not each.is_asked), None)
    if each is not None:
        yield (
            "latency is that of jobs that committed and nothing is asked of their success: in the "
            f"worst replication {written(each.least, SUCCESS.unit)} of {each.jobs} committed"
        )

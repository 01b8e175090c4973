"""What the numbers of a run do not say: jobs that it did not see through, or did not begin.

Success counts jobs that ended, latency those that committed. Whatever is left out of them is
counted here, to stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from operator import add

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import astuple

from whitecap.engine.recorded import Arrivals, RecordedOutcome
from whitecap.reports.measures.groups import WriterCommand, with_tables
from whitecap.reports.measures.sample import MeasureSample

HALF_DONE = "an earlier statement had committed"
"""What is meant by it, for people."""

REPEATED = (
    "its table had every batch already, and takes one write of a batch (txnAppId, txnVersion), "
    "as of an earlier statement"
)
"""Why a statement of an idempotent query did nothing: such a one commits whenever it runs, for it
records its batch. Source: DeltaCommand.scala (hasBeenExecuted)."""

TOLD_IDLE = 0.5
"""Idle successes are told from this share of all on: then the median latency is one of theirs."""


_ONE_SIDED = 1.645
"""Standard deviations that 95 % of a normal distribution do not exceed."""


class Due(Struct, frozen=True):
    """The jobs that fell to some writers over the whole run, warm-up included.

    `not_begun` of `jobs` were due before the end of the run and had not begun. `scheduled`: that
    many of the `writers` work by a schedule.
    """

    writers: int = 0
    scheduled: int = 0
    jobs: int = 0
    not_begun: int = 0

    def __add__(self, other: Due) -> Due:
        return Due(*map(add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        return self.said()

    def said(self, whose: str = "") -> str:
        """`33 of 100 due jobs had not begun`, or whose jobs they are besides."""
        of_whom = f" of {whose}" if whose else ""
        return f"{self.not_begun:,} of {self.jobs:,} due jobs{of_whom} had not begun"

    @property
    def is_overloaded(self) -> bool:
        """Whether jobs pile up: more had not begun than where as much gets done as arrives.

        One that waits for its writer's current job is usual. Of jobs that come by chance as many
        more are as chance leaves waiting at that balance, in 95 % of runs.
        """
        return self.not_begun > max(self.writers, self._left_at_balance(_ONE_SIDED))

    @property
    def is_at_balance(self) -> bool:
        """Whether as many had not begun as where as much gets done as arrives: nobody can say on
        which side of that it is. Of a schedule that is always told."""
        least = max(self.writers, self._left_at_balance(-_ONE_SIDED))
        return not (self.scheduled or self.is_overloaded) and self.not_begun > least

    def _left_at_balance(self, deviations: float) -> float:
        """How many Poisson jobs wait in the end where as many get done as arrive: the mean and so
        many standard deviations; 0 of a schedule.

        What one writer has before it is then a random walk that is reflected at zero: after n jobs
        about the amount of a normal number of variance n (heavy traffic; Whitt 2002, 5.7), of mean
        sqrt(2 n / pi), of which one job is under way. Those of several writers, or runs, add up.
        Job times that scatter leave more.
        """
        if self.scheduled or not self.writers:
            return 0.0
        each = self.jobs / self.writers
        scatter = math.sqrt(self.writers * (1 - 2 / math.pi) * each)
        return self.writers * (math.sqrt(2 / math.pi * each) - 1) + deviations * scatter

    @property
    def overload(self) -> str:
        """What it is that piles up, where it does."""
        return "the schedule is overloaded" if self.scheduled else "more arrives than gets done"

    @property
    def not_begun_share(self) -> float:
        """Of the jobs that were due."""
        return self.not_begun / self.jobs if self.jobs else 0.0


class JobsLeftOpen(Struct, frozen=True):
    """What some writers left open: `unfinished` of `jobs` neither committed nor were given up.

    `half_done` of those that were given up left a commit of an earlier statement behind. `idle` of
    those that succeeded found nothing to do. `without_effect` of the `succeeded` transactions are
    of a statement that never left a version, `repeated` of these since the table had their batch.
    """

    jobs: int
    in_flight: int
    given_up: int
    unfinished: int
    due: Due
    half_done: int = 0
    idle: int = 0
    succeeded: int = 0
    without_effect: int = 0
    repeated: int = 0

    @property
    def done(self) -> int:
        """How many succeeded."""
        return self.jobs - self.given_up - self.unfinished

    @property
    def is_mostly_idle(self) -> bool:
        """Whether so many successes found nothing to do that they hide the others."""
        return self.idle > 0 and self.idle >= TOLD_IDLE * self.done

    @property
    def has_vain_statement(self) -> bool:
        """Whether some statement of jobs that did something never did anything."""
        return self.without_effect > 0 and not self.is_mostly_idle

    @property
    def is_told(self) -> bool:
        """Whether there is anything that success and latency do not tell."""
        idle = self.is_mostly_idle or self.has_vain_statement
        return any((self.unfinished, self.given_up, self.due.not_begun, idle))


def due_by_group(writers: pa.Table) -> dict[WriterCommand, Due]:
    """The recorded jobs of every writer group, in the order of the scenario.

    Those of several statements are with the last one.
    """
    by_group: dict[WriterCommand, Due] = {}
    for row in with_tables(writers).to_pylist():
        group = WriterCommand(row["writer_group"], row["command"])
        scheduled = int(row["arrival"] == Arrivals.SCHEDULE)
        due = Due(1, scheduled, row["jobs_due"], row["jobs_not_begun"])
        due = due if row.get("ends_job", True) else Due()
        by_group[group] = by_group.get(group, Due()) + due
    return by_group


def left_out_of(sample: MeasureSample, due: Due) -> JobsLeftOpen:
    """What of these transactions' jobs no rate and no latency tells."""
    jobs, rows = sample.jobs, sample.rows
    return JobsLeftOpen(
        jobs=len(jobs),
        in_flight=sample.count(RecordedOutcome.IN_FLIGHT),
        given_up=int(jobs.is_given_up.sum()),
        unfinished=int(np.sum(~(jobs.is_done | jobs.is_given_up))),
        due=due,
        half_done=int(jobs.is_half_done.sum()),
        idle=int(jobs.is_idle.sum()),
        succeeded=sample.count(RecordedOutcome.COMMITTED),
        without_effect=int(rows.is_without_effect.sum()),
        repeated=int((rows.is_without_effect & rows.is_numbered).sum()),
    )


def added(several: Sequence[JobsLeftOpen]) -> JobsLeftOpen:
    """What was left out in several runs, or by several writer groups."""
    return JobsLeftOpen(
        jobs=sum(each.jobs for each in several),
        in_flight=sum(each.in_flight for each in several),
        given_up=sum(each.given_up for each in several),
        unfinished=sum(each.unfinished for each in several),
        due=sum((each.due for each in several), Due()),
        half_done=sum(each.half_done for each in several),
        idle=sum(each.idle for each in several),
        succeeded=sum(each.succeeded for each in several),
        without_effect=sum(each.without_effect for each in several),
        repeated=sum(each.repeated for each in several),
    )


def left_out_sentences(by_group: Mapping[WriterCommand, JobsLeftOpen]) -> Iterator[str]:
    """What a reader of success and latency must know besides, one sentence for each group."""
    for group, left_out in by_group.items():
        if left_out.due.not_begun:
            yield due_sentence(group, left_out.due)
        if left_out.unfinished or left_out.given_up:
            yield _of_jobs(group, left_out)
        if left_out.is_mostly_idle:
            yield _idle(group, left_out)
        if left_out.has_vain_statement:
            yield _vain(group, left_out)


def due_sentence(group: WriterCommand, due: Due) -> str:
    """How many due jobs had not begun, and what that means if it is more than usual."""
    text = due.said(group.writer_group)
    return f"{text}: {due.overload}" if due.is_overloaded else text


def half_done_sentence(left_out: JobsLeftOpen) -> str:
    """How many jobs left a commit behind when they were given up."""
    jobs = f"{left_out.half_done:,} of {left_out.given_up:,} jobs given up are"
    only = "the one job given up is" if left_out.given_up == 1 else jobs
    return f"{only} half done ({HALF_DONE})"


def _of_jobs(group: WriterCommand, left_out: JobsLeftOpen) -> str:
    open_jobs = f"{left_out.unfinished:,} unfinished at the end (in neither success nor latency)"
    given_up = f"{left_out.given_up:,} given up (in no latency)"
    if left_out.half_done:
        given_up += f", {left_out.half_done:,} of them half done ({HALF_DONE})"
    parts = [
        text
        for text, count in ((open_jobs, left_out.unfinished), (given_up, left_out.given_up))
        if count
    ]
    return f"{group.writer_group}: of {left_out.jobs:,} jobs {', '.join(parts)}"


def _idle(group: WriterCommand, left_out: JobsLeftOpen) -> str:
    """How many succeeded since there was nothing to do, as for a compaction without small files."""
    jobs = f"{left_out.idle:,} of {left_out.done:,} jobs that succeeded"
    return f"{group.writer_group}: {jobs} had nothing to do (no commit; their latencies count)"


def _vain(group: WriterCommand, left_out: JobsLeftOpen) -> str:
    """How many are of a statement that never did anything, and why."""
    of = f"{left_out.without_effect:,} of {left_out.succeeded:,} {group.command} that succeeded"
    why = f": {REPEATED}" if left_out.repeated == left_out.without_effect else " (no commit)"
    return f"{group.writer_group}: {of} are of a statement that never did anything{why}"

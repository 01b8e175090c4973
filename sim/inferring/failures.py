"""Failures that somebody kept, held against what a draft predicts.

    instant,job,exception
    2026-01-14 08:12:31,merge,ConcurrentAppendException

A log holds none of them; job schedulers and application logs do. A job is a writer group of the
draft, or the name of a job in the log. Only the conflict exceptions of Delta Lake are predicted.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev

from msgspec import Struct
from scipy.stats import t as student

from whitecap.engine.errors import InvalidInput, Problem, unknown_name, unreadable
from whitecap.engine.recorded import CONFLICTS
from whitecap.engine.rules import ConflictException
from whitecap.sim.inferring.drafting import DraftedScenario
from whitecap.sim.inferring.evidence.figures import count_interval, many
from whitecap.sim.inferring.log.observed import ObservedTable
from whitecap.sim.loading import parse_scenario
from whitecap.sim.quantities.units import MS_PER
from whitecap.sim.run import run_scenario

COLUMNS = ("instant", "job", "exception")

REPLICATIONS = 5
"""Runs of the draft: the t quantile falls fast up to four degrees of freedom."""

SHOWN = ("writer", "seen", "per hour", "predicted", "the draft predicts")
"""Above the columns of a table that shows a comparison."""

MOST_TOLD = 20
"""Wrong lines that are told one by one."""


class ReportedFailure(Struct, frozen=True):
    """One refused transaction, at an instant in epoch milliseconds."""

    at_ms: float
    job: str
    exception: ConflictException | None


class ComparedGroup(Struct, frozen=True):
    """Conflicts of one writer group per hour: seen, and predicted, each with its 95 % interval."""

    group: str
    seen: int
    seen_per_h: tuple[float, float, float]
    predicted_per_h: tuple[float, float, float]

    @property
    def agrees(self) -> bool:
        """Whether both may be the same."""
        seen, predicted = self.seen_per_h, self.predicted_per_h
        return seen[1] <= predicted[2] and predicted[1] <= seen[2]

    @property
    def verdict(self) -> str:
        """What the draft does."""
        if self.agrees:
            return "agrees"
        is_less = self.predicted_per_h[0] < self.seen_per_h[0]
        return "fewer than seen" if is_less else "more than seen"

    @property
    def shown(self) -> tuple[str, str, str, str, str]:
        """What tables show of it, below `SHOWN`."""
        seen, predicted = _interval_text(self.seen_per_h), _interval_text(self.predicted_per_h)
        return self.group, f"{self.seen:,}", seen, predicted, self.verdict


def _interval_text(figures: tuple[float, float, float]) -> str:
    mean, low, high = figures
    return f"{mean:.3g} [{low:.3g}, {high:.3g}]"


class FailureComparison(Struct, frozen=True):
    """All groups, and how many failures were not compared, by the reason."""

    groups: Sequence[ComparedGroup]
    not_compared: Mapping[str, int]
    hours: float

    @property
    def caption(self) -> str:
        """What the figures are, and what is in none of them."""
        said = f"Conflicts per hour with 95 % intervals; the draft's mean of {REPLICATIONS} runs."
        aside = (f"{count:,} {reason}" for reason, count in self.not_compared.items())
        left_out = "; ".join(aside)
        return f"{said} Not compared: {left_out}." if left_out else said


def read_failures(path: Path) -> list[ReportedFailure]:
    """The failures of a CSV file. Raises `InvalidInput` with every wrong line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    reader = csv.DictReader(lines, skipinitialspace=True)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        said = f"needs the columns {', '.join(COLUMNS)}: {', '.join(missing)} is missing"
        raise InvalidInput([Problem(f"{path}:1", said)])
    failures, problems = list[ReportedFailure](), list[Problem]()
    for row in reader:
        try:
            failures.append(_failure(row))
        except (ValueError, OverflowError):
            said = f"{row['instant']!r} is no instant, such as 2026-01-14 08:12:31"
            problems.append(Problem(f"{path}:{reader.line_num}", said))
    if problems:
        raise InvalidInput(problems[:MOST_TOLD])
    return failures


def _failure(row: Mapping[str, str | None]) -> ReportedFailure:
    moment = datetime.fromisoformat((row["instant"] or "").strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    job, said = (row["job"] or "").strip(), row["exception"] or ""
    return ReportedFailure(moment.timestamp() * 1000, job, conflict_of(said))


def conflict_of(said: str) -> ConflictException | None:
    """The conflict that a class, an error class or a message names; `None` for anything else."""
    for conflict in ConflictException:
        if conflict.value in said or f"DELTA_{conflict.name}" in said:
            return conflict
    return None


def compare(draft: DraftedScenario, failures: Sequence[ReportedFailure]) -> FailureComparison:
    """Run the draft and hold its conflicts against those that were seen.

    Raises `InvalidInput` for jobs that nobody knows, if no other one is there, and for a log that
    spans no time.
    """
    seen, aside = _counted(draft, failures)
    hours = draft.observed.span_ms / MS_PER["h"]
    predicted, of_each_run = _predicted(draft)
    groups = [
        ComparedGroup(
            group, seen[group], _of_count(seen[group], hours), rate_of_runs(counts, of_each_run)
        )
        for group, counts in predicted.items()
    ]
    return FailureComparison(groups, aside, hours)


def _counted(
    draft: DraftedScenario, failures: Sequence[ReportedFailure]
) -> tuple[Counter[str], Counter[str]]:
    """Conflicts by writer group, and the failures that are none of these, by the reason.

    Raises `InvalidInput` as `compare` does.
    """
    first, last = _span(draft.observed)
    seen, aside = Counter[str](), Counter[str]()
    group_of = _groups_by_job(draft)
    for failure in failures:
        group = group_of.get(failure.job.lower())
        if not first <= failure.at_ms <= last:
            aside["outside of the time that the log spans"] += 1
        elif failure.exception is None:
            aside["no conflict of Delta Lake"] += 1
        elif group is None:
            aside["of jobs that are not in the draft"] += 1
        else:
            seen[group] += 1
    if failures and not seen and aside["of jobs that are not in the draft"]:
        raise InvalidInput(_unknown_jobs(failures, group_of))
    return seen, aside


def _span(observed: ObservedTable) -> tuple[float, float]:
    times = [commit.timestamp_ms for commit in observed.commits]
    if not observed.span_ms:
        said = f"{many(len(times), 'commit')} span no time to hold failures against"
        raise InvalidInput([Problem(observed.place, said)])
    return min(times), max(times)


def _groups_by_job(draft: DraftedScenario) -> dict[str, str]:
    """The group of each name that a job goes by: its group's, its members', those in the log."""
    groups = {writer.group.name: writer.group.name for writer in draft.writers}
    for writer in draft.writers:
        name = writer.group.name
        origins = [commit.origin for commit in writer.group.commits]
        jobs = (each for origin in origins for each in (origin.job, origin.notebook))
        members = (f"{name}-{n}" for n in range(1, int(writer.cadence.count.text) + 1))
        for each in chain(members, filter(None, jobs)):
            groups.setdefault(each.lower(), name)
    return groups


def _unknown_jobs(
    failures: Sequence[ReportedFailure], group_of: Mapping[str, str]
) -> list[Problem]:
    jobs = dict.fromkeys(failure.job for failure in failures)
    groups = list(dict.fromkeys(group_of.values()))
    said = "writer group of the draft"
    return [Problem("job", *unknown_name(said, job, groups)) for job in list(jobs)[:MOST_TOLD]]


def _predicted(draft: DraftedScenario) -> tuple[dict[str, list[int]], float]:
    """Conflicts of each group in each of several runs, and how many hours one of these lasts."""
    scenario = parse_scenario(draft.text, cells=False)
    counts: dict[str, list[int]] = {writer.group.name: [] for writer in draft.writers}
    for replication in range(REPLICATIONS):
        run = run_scenario(scenario, replication=replication)
        rows = run.recording.transactions.select(["writer_group", "exception"]).to_pylist()
        conflicts = Counter(row["writer_group"] for row in rows if row["exception"] in CONFLICTS)
        for group, of_runs in counts.items():
            of_runs.append(conflicts[group])
    return counts, scenario.duration / MS_PER["h"]


def _of_count(count: int, hours: float) -> tuple[float, float, float]:
    low, high = count_interval(count)
    return count / hours, low / hours, high / hours


def rate_of_runs(counts: Sequence[int], hours: float) -> tuple[float, float, float]:
    """The mean per hour of runs that last so long, with its interval by Student's t; never
    narrower than that of as many conflicts by Poisson's law, since few are often as many in every
    run, and none in all of them does not mean that there never is one."""
    mean = fmean(counts)
    half = float(student.ppf(0.975, len(counts) - 1)) * stdev(counts) / math.sqrt(len(counts))
    low, high = (end / len(counts) for end in count_interval(sum(counts)))
    return mean / hours, max(min(mean - half, low), 0.0) / hours, max(mean + half, high) / hours

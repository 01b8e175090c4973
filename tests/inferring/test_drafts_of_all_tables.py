"""Tables of all kinds are exported, and what is drafted from their logs is what had written them.

How long jobs take is what was drawn, in the draft too: whether a log tells it is tried elsewhere
(`test_brackets_of_windows.py`, `test_round_trip.py`). Here it is who writes what, where, how often.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.inferring.original_tables import HOURS, ORIGINALS, Job
from whitecap.sim.inferring.drafting import DraftedScenario, WriterDraft, draft_of
from whitecap.sim.inferring.log.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.table.export import export_table

BEYOND = 3.3
"""Standard errors within which both must lie: beyond it by chance once in a thousand times."""

FIRST_ROWS = 1
"""The version that brought the rows with which an original begins: no job's."""


@dataclass(frozen=True)
class Counts:
    """What a group did: versions that it committed, and conflicts."""

    committed: int
    aborted: int

    @property
    def tries(self) -> int:
        return self.committed + self.aborted


@pytest.fixture(scope="module", params=ORIGINALS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def original(name: str) -> FinishedRun:
    return run_scenario(parse_scenario(ORIGINALS[name].text))


@pytest.fixture(scope="module", params=[False, True], ids=["drafted", "from files"])
def from_files(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def place(original: FinishedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("original") / "events"
    export_table(original.world.store, folder)
    return folder


@pytest.fixture(scope="module")
def draft(place: Path, from_files: bool) -> DraftedScenario:
    return draft_of(observe(str(place), 5000), Options(from_files=from_files))


@pytest.fixture(scope="module")
def drafted_as(name: str, draft: DraftedScenario, from_files: bool) -> Mapping[str, WriterDraft]:
    """The group of the draft that each group of the original became."""
    return dict(_pairs(ORIGINALS[name].jobs, draft, from_files))


def _pairs(
    jobs: Mapping[str, Job], draft: DraftedScenario, from_files: bool
) -> Iterator[tuple[str, WriterDraft]]:
    for name, job in jobs.items():
        words = job.from_files if from_files and job.from_files else job.becomes
        fitting = [writer for writer in draft.writers if _fits(writer, job, words)]
        assert len(fitting) == 1, (name, words, [each.work.statement for each in draft.writers])
        yield name, fitting[0]


def _fits(writer: WriterDraft, job: Job, words: str) -> bool:
    statement = writer.work.statement
    if statement is None or job.statement is None:
        brings = {parameter.text for parameter in writer.work.parameters}
        return statement is job.statement and f"{{rows: {{count: {job.rows}}}}}" in brings
    text = " ".join(statement.split())
    is_whole = words in text and f"{words} AND" not in text
    return text.startswith(job.command) and is_whole


def test_each_group_is_drafted_with_its_command_and_condition(
    draft: DraftedScenario, drafted_as: Mapping[str, WriterDraft]
) -> None:
    groups = [writer.group.name for writer in drafted_as.values()]
    assert len(groups) == len(set(groups)) == len(draft.writers)


def test_each_commit_is_of_its_group(
    original: FinishedRun, drafted_as: Mapping[str, WriterDraft]
) -> None:
    made = {
        name: sum(commit.version > FIRST_ROWS for commit in writer.group.commits)
        for name, writer in drafted_as.items()
    }
    assert made == {name: counts.committed for name, counts in _counts(original).items()}


def test_the_table_is_laid_out_alike(name: str, draft: DraftedScenario) -> None:
    given, drafted = parse_scenario(ORIGINALS[name].text), parse_scenario(draft.text)
    assert drafted.dialect == given.dialect
    for layout in ("partition_by", "cluster_by", "key", "isolation"):
        assert getattr(drafted.table, layout) == getattr(given.table, layout), layout
    assert drafted.table is not None
    assert given.table is not None
    assert drafted.table.properties.items() >= given.table.properties.items()


def test_a_run_of_the_draft_commits_as_often_and_is_refused_as_often(
    original: FinishedRun, draft: DraftedScenario, drafted_as: Mapping[str, WriterDraft]
) -> None:
    names = {writer.group.name: name for name, writer in drafted_as.items()}
    run = run_scenario(_with_durations_of(original.scenario, draft, names))
    before, after = _counts(original), _counts(run)
    for group, name in names.items():
        _require_as_often(before[name], after.get(group, Counts(0, 0)), f"{name} as {group}")
    _require_as_often(_together(before), _together(after), "all")


def _with_durations_of(
    original: Scenario, draft: DraftedScenario, names: Mapping[str, str]
) -> Scenario:
    computes = {
        f"writers.{group}.compute": original.writers[name].compute.model_dump(exclude_none=True)
        for group, name in names.items()
    }
    changes = {"duration": f"{HOURS} h", **computes}
    return parse_scenario(draft.text, changes=changes, cells=False)


def _counts(run: FinishedRun) -> dict[str, Counts]:
    ended = run.recording.transactions.to_pylist()
    groups = {row["writer_group"] for row in ended}
    return {
        group: Counts(
            sum(r["writer_group"] == group and r["committed_version"] is not None for r in ended),
            sum(r["writer_group"] == group and r["outcome"] == "aborted" for r in ended),
        )
        for group in groups
    }


def _together(counts: Mapping[str, Counts]) -> Counts:
    each = counts.values()
    return Counts(sum(c.committed for c in each), sum(c.aborted for c in each))


def _require_as_often(given: Counts, drafted: Counts, who: str) -> None:
    """Hold counts against each other, as those of Poisson's law, and shares, as binomial ones."""
    spread = math.sqrt(given.committed + drafted.committed)
    assert abs(given.committed - drafted.committed) <= BEYOND * spread, (who, given, drafted)
    share = (given.aborted + drafted.aborted) / (given.tries + drafted.tries)
    error = math.sqrt(share * (1 - share) * (1 / given.tries + 1 / max(drafted.tries, 1)))
    difference = given.aborted / given.tries - drafted.aborted / max(drafted.tries, 1)
    assert abs(difference) <= BEYOND * error, (who, given, drafted)

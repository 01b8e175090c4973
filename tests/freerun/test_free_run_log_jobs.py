"""Which jobs for the log a statement of a run apart made, told from the files of the log."""

from __future__ import annotations

import pytest

from whitecap.sim.freerun.log_jobs import LogFiles, LogJobs
from whitecap.sim.freerun.statements import TimedStatement


def _commit(
    version: int, read_version: int, begun_ms: float, checksum_ms: float, kind: str = "update"
) -> TimedStatement:
    """Open for half a second, a tenth after its beginning."""
    snapshot_ms, decided_ms = begun_ms + 100, begun_ms + 600
    return TimedStatement(
        f"{kind}-{version}", kind, 0, begun_ms, decided_ms + 200, snapshot_ms, decided_ms, version,
        read_version, None, decided_ms + checksum_ms,
    )  # fmt: skip


OTHER = _commit(11, 9, begun_ms=0, checksum_ms=300)
"""Decided at 600 ms; its checksum is there at 900 ms."""


@pytest.mark.parametrize(("begun_ms", "jobs"), [(899, 1), (900, 0)])
def test_who_begins_before_the_newest_checksum_is_there_reads_metadata(
    begun_ms: float, jobs: int
) -> None:
    this = _commit(12, 11, begun_ms, checksum_ms=50)
    work = LogFiles([OTHER, this]).work_of(this, None)
    assert work.before == LogJobs(metadata=jobs)
    assert work.within == LogJobs(states=1)
    assert work.after == LogJobs(files=1)


def test_who_knows_the_newest_version_since_it_is_its_own_reads_nothing() -> None:
    this = _commit(12, 11, 700, checksum_ms=50)
    assert LogFiles([OTHER, this]).work_of(this, OTHER).before == LogJobs()


@pytest.mark.parametrize(("begun_ms", "jobs"), [(299, 1), (300, 0)])
def test_who_commits_before_the_last_winners_checksum_is_there_reads_metadata_and_state(
    begun_ms: float, jobs: int
) -> None:
    this = _commit(12, 10, begun_ms, checksum_ms=50)
    after = LogFiles([OTHER, this]).work_of(this, None).after
    assert after == LogJobs(metadata=jobs, states=jobs, files=1)


def test_a_checksum_that_never_came_is_missing_and_one_from_before_the_run_is_there() -> None:
    this = _commit(12, 10, 5000, checksum_ms=50)
    without = TimedStatement("other", "update", 0, 0, 800, 100, 600, 11, 9)
    assert LogFiles([without, this]).work_of(this, None).after.states == 1
    assert LogFiles([this]).work_of(this, None).after.states == 0


def test_an_insert_reads_the_state_after_its_commit_where_its_snapshot_had_no_checksum() -> None:
    this = _commit(12, 11, 700, checksum_ms=50, kind="insert")
    work = LogFiles([OTHER, this]).work_of(this, None)
    assert (work.before, work.within) == (LogJobs(metadata=1), LogJobs())
    assert work.after == LogJobs(states=1, files=1)


def test_an_optimize_has_its_snapshot_first_so_that_all_jobs_are_in_its_window() -> None:
    this = _commit(12, 11, 700, checksum_ms=50, kind="optimize")
    work = LogFiles([OTHER, this]).work_of(this, None)
    assert (work.before, work.within) == (LogJobs(), LogJobs(metadata=1, states=1))


@pytest.mark.parametrize(("checksum_ms", "metadata"), [(50, 0), (300, 1)])
def test_every_tenth_version_is_a_checkpoint_with_a_job_over_the_state_and_one_of_its_own(
    checksum_ms: float, metadata: int
) -> None:
    other = _commit(19, 17, 0, checksum_ms)
    this = _commit(20, 18, 100, checksum_ms=50)
    work = LogFiles([other, this]).work_of(this, None)
    assert work.after == LogJobs(metadata=metadata, states=2, files=3)
    assert work.is_checkpoint


def test_what_committed_nothing_did_nothing_for_the_log() -> None:
    idle = TimedStatement("update-1", "update", 0, 0.0, 100.0, 50.0)
    assert LogFiles([idle]).work_of(idle, None).after == LogJobs()

"""Jobs of several statements: one after the other, each by itself, and what is left half done."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

import whitecap
from tests.sim.sim_worlds import rows
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.baseline import BaselineScenario, as_stored
from whitecap.reports.comparisons.changes import ChangeVerdict, changes_between
from whitecap.reports.comparisons.sides import side_of
from whitecap.reports.measures.measured_run import MeasuredRun
from whitecap.reports.measures.tally import Latencies
from whitecap.reports.pages.page_tables import left_out_table
from whitecap.runs import Run
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

TABLE = {
    "schema": "id BIGINT, country STRING, amount INT",
    "key": "id",
    "values": {"country": ["at", "be"]},
    "initial": {"rows": 100, "rows_per_file": 100},
}
APPENDS = {
    "statement": "INSERT INTO silver VALUES :rows",
    "parameters": {"rows": {"rows": {"count": 2}}},
}
CHANGES = "UPDATE gold SET amount = 1 WHERE country = 'at'"

JOBS: dict[str, Any] = {
    "name": "jobs",
    "duration": "20 min",
    "store": "s3",
    "tables": {"silver": TABLE, "gold": TABLE},
    "writers": {
        "loader": {
            "statements": [{**APPENDS, "compute": "2 s"}, {"statement": CHANGES}],
            "arrival": {"schedule": {"every": "60 s", "offset": "5 s"}},
            "compute": "4 s",
        },
        "rival": {
            "statement": CHANGES,
            "arrival": {"closed": {"think": "4 s"}},
            "compute": "3 s",
        },
    },
}
ALWAYS_REFUSED = {"writers.rival.arrival": {"closed": {"think": "0 s"}}}


def ran(changes: dict[str, Any] | None = None) -> FinishedRun:
    return run_scenario(scenario_of(JOBS, changes))


def measured(run: FinishedRun) -> MeasuredRun:
    return Run(run.scenario, run.recording).measured


def jobs_of(run: FinishedRun) -> list[list[dict[str, Any]]]:
    """The loader's transactions, job by job."""
    jobs: dict[int, list[dict[str, Any]]] = {}
    for row in rows(run):
        if row["writer_group"] == "loader":
            jobs.setdefault(row["job_id"], []).append(row)
    return list(jobs.values())


def steps(job: list[dict[str, Any]]) -> str:
    """What was tried in a job: the number of each statement, small letters for what failed."""
    return " ".join(
        f"{row['statement_number']}{'+' if row['outcome'] == 'committed' else '-'}" for row in job
    )


@pytest.fixture(scope="module")
def made() -> FinishedRun:
    return ran()


def test_a_statement_begins_when_the_one_before_has_committed(made: FinishedRun) -> None:
    jobs = jobs_of(made)
    assert len(jobs) > 1
    for job in jobs:
        assert [row["table_name"] for row in job] == ["silver", "gold"]
        assert [row["ends_job"] for row in job] == [False, True]
        assert job[1]["submitted_at_ms"] == job[0]["ended_at_ms"]
        assert [row["rerun_number"] for row in job] == [0, 0]


def test_each_statement_takes_its_own_time(made: FinishedRun) -> None:
    computed = {row["table_name"]: row["compute_ms"] for job in jobs_of(made) for row in job}
    assert computed == {"silver": 2000.0, "gold": pytest.approx(4000.0)}


def test_what_a_given_up_job_had_committed_stays_and_is_counted(made: FinishedRun) -> None:
    half = [job for job in jobs_of(made) if steps(job) == "1+ 2-"]
    assert half
    assert all(job[-1]["given_up"] for job in half)
    whole = measured(made)
    assert whole.tally(Measure.HALF_DONE).value == len(half)
    assert whole.tally(Measure.HALF_DONE, writer="rival").value == 0
    manifest = made.recording.manifest
    assert manifest["live_rows_of"]["silver"] == 100 + 2 * len(jobs_of(made))


def test_jobs_are_counted_with_their_last_statement_and_with_no_other(made: FinishedRun) -> None:
    """A statement before it would else have a goodput of 0, as if nothing got through."""
    run = measured(made)
    own = (part for group, part in run.groups.items() if group.writer_group == "loader")
    first, last = sorted(own, key=lambda part: part.left_out.jobs)
    assert math.isnan(first.value(Measure.GOODPUT_PER_MINUTE))
    assert math.isnan(first.value(Measure.JOB_SUCCESS_RATE))
    goodput = run.tally(Measure.GOODPUT_PER_MINUTE, writer="loader")
    assert goodput == last.tallies[Measure.GOODPUT_PER_MINUTE]
    assert goodput.value > 0
    assert first.value(Measure.COMMITTED) > 0


def test_what_a_statement_does_not_count_is_kept_as_nothing(made: FinishedRun) -> None:
    before = side_of({0: measured(made)}, measures=[Measure.GOODPUT_PER_MINUTE])
    read_back = as_stored(BaselineScenario("jobs", "jobs.yaml", 1, {"": before})).sides
    changes = changes_between(read_back, {"": before}, paired=True)
    assert {change.verdict for change in changes.each} == {ChangeVerdict.SAME}


def test_one_job_that_is_half_done_is_told_as_one() -> None:
    changes = {"duration": "20 min", "warm_up": "0 s", "writers.pipeline.rerun": "none"}
    options = [part for key, value in changes.items() for part in ("--set", f"{key}={value}")]
    shown = CliRunner().invoke(main, ["run", "two-tables", *options], env={"COLUMNS": "1000"})
    assert "2 given up (in no latency), 1 of them half done (" in shown.output


def test_a_sweep_and_its_page_tell_how_many_jobs_are_half_done(tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(yaml.safe_dump(JOBS, sort_keys=False))
    axis = ["--set", "writers.rival.compute=2 s,3 s", "--replications", "2"]
    arguments = ["sweep", str(file), *axis, "--engine", "processes", "--out", str(tmp_path / "out")]
    shown = CliRunner().invoke(main, arguments, env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    half_done = re.findall(r"(\d) s: (\d+) of \d+ jobs given up are half done", shown.stdout)
    assert [cell for cell, _ in half_done] == ["2", "3"]
    assert "given up (without a latency), " in shown.stdout
    swept = whitecap.load_sweep(tmp_path / "out", engine="processes")
    page = left_out_table(swept.subject)
    assert "half done" in page.headings
    at = page.headings.index("half done")
    counts = [row[at].text for row in page.rows if row[1].text.startswith("loader")]
    assert counts == [count for _, count in half_done]
    of_loader = swept.left_out[swept.left_out["writer_group"] == "loader"]
    assert of_loader["half_done"].sum() == of_loader["given_up"].sum() > 0


def test_a_job_succeeds_with_its_last_statement(made: FinishedRun) -> None:
    jobs, run = jobs_of(made), measured(made)
    done = [job for job in jobs if steps(job) == "1+ 2+"]
    success = run.tally(Measure.JOB_SUCCESS_RATE, writer="loader")
    assert success.value == len(done) / len(jobs)
    assert run.whole.left_out.due.jobs == sum(row["jobs_due"] for row in rows(made, "writers"))
    latencies = run.tally(Measure.LATENCY_P50_MS, writer="loader")
    assert isinstance(latencies, Latencies)
    assert sorted(job[-1]["ended_at_ms"] - job[0]["submitted_at_ms"] for job in done) == (
        pytest.approx(list(latencies.sorted_ms))
    )


def test_every_abort_is_of_the_statement_that_met_it(made: FinishedRun) -> None:
    run = measured(made)
    assert run.tally(Measure.CONFLICT_RATE, command="INSERT silver").value == 0
    assert run.tally(Measure.CONFLICT_RATE, "loader", "UPDATE gold").value > 0
    assert run.tally(Measure.ABORTED, command="UPDATE").value == run.whole.value(Measure.ABORTED)


def test_a_rerun_repeats_the_statement_and_not_the_job() -> None:
    rerun = {"writers.loader.rerun": {"fixed": {"wait": "1 s", "budget": 5}}}
    jobs = {steps(job) for job in jobs_of(ran(rerun))}
    assert "1+ 2- 2+" in jobs
    assert all(job.count("1") == 1 for job in jobs)


def test_a_restart_repeats_the_job_from_its_first_statement() -> None:
    restart = {"writers.loader.restart": {"fixed": {"wait": "1 s", "budget": 3}}}
    run = ran(restart)
    again = [job for job in jobs_of(run) if steps(job).startswith("1+ 2- 1+ 2")]
    assert again
    assert any(job[-1]["outcome"] == "committed" for job in again)
    for job in again:
        assert job[0]["statement"] == job[2]["statement"]
        assert [row["rerun_number"] for row in job[:4]] == [0, 0, 1, 1]
        assert job[2]["committed_version"] > job[0]["committed_version"]
    written = sum(steps(job).count("1+") for job in jobs_of(run))
    assert run.recording.manifest["live_rows_of"]["silver"] == 100 + 2 * written


def test_reruns_of_each_statement_have_a_budget_of_their_own() -> None:
    rerun = {"writers.loader.rerun": {"fixed": {"wait": "1 s", "budget": 1}}}
    restart = {"writers.loader.restart": {"fixed": {"wait": "1 s", "budget": 1}}}
    jobs = {steps(job) for job in jobs_of(ran(rerun | restart | ALWAYS_REFUSED))}
    assert "1+ 2- 2- 1+ 2- 2-" in jobs


def test_a_deadline_is_of_the_whole_job() -> None:
    run = ran({"writers.loader.deadline": "6 s"})
    late = [job for job in jobs_of(run) if job[-1]["rule"] == "deadline"]
    assert late
    for job in late:
        assert job[0]["outcome"] == "committed"
        assert job[-1]["ended_at_ms"] == job[0]["submitted_at_ms"] + 6000
    assert measured(run).tally(Measure.HALF_DONE).value >= len(late)


def test_jobs_that_wait_for_a_slot_have_begun_after_their_first_statement() -> None:
    shared = {"writers.loader.cluster": "etl", "writers.rival.cluster": "etl"}
    run = ran(shared | {"clusters": {"etl": {"slots": 1}}})
    assert sum(row["jobs_not_begun"] for row in rows(run, "writers")) <= 2
    assert all(row["jobs_due"] == 0 for row in rows(run, "writers") if not row["ends_job"])


def test_several_statements_may_write_one_table() -> None:
    plain = {key: part for key, part in JOBS.items() if key not in ("tables", "writers")}
    both = [{**APPENDS, "compute": "1 s"}, CHANGES.replace("gold", "silver")]
    writers = {"loader": {**JOBS["writers"]["loader"], "statements": both}}
    table = {"name": "silver", **TABLE}
    run = run_scenario(scenario_of({**plain, "table": table, "writers": writers}))
    assert {steps(job) for job in jobs_of(run)} == {"1+ 2+"}
    assert run.recording.manifest["table_names"] == ["silver"]


def test_two_statements_of_a_job_bring_rows_of_different_keys_to_one_table() -> None:
    plain = {key: part for key, part in JOBS.items() if key not in ("tables", "writers")}
    writers = {"loader": {**JOBS["writers"]["loader"], "statements": [APPENDS, APPENDS]}}
    table = {"name": "silver", **TABLE}
    run = run_scenario(scenario_of({**plain, "table": table, "writers": writers}))
    brought = [re.findall(r"\((\d+),", row["statement"]) for row in rows(run)]
    assert len(brought) > 20
    assert len({key for keys in brought for key in keys}) == 2 * len(brought)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"statement": CHANGES}, "give one of statement, statements and streaming"),
        ({"statements": []}, "needs at least 1, has 0"),
        ({"parameters": {"rows": {"rows": {}}}}, "each of several statements has parameters"),
        ({"statements": [CHANGES, "DELETE FROM gold WHERE id = :id"]},
         "loader.statements.1.statement, as it was set: nothing says what :id is"),
        ({"arrival": {"trace": {"text": "at_s,takes_s\n1,2\n"}}, "compute": "0 s"},
         "a trace says how long a job takes, not each of several statements"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_statements_is_told(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(JOBS, {f"writers.loader.{key}": value for key, value in changes.items()})
    assert expected in str(raised.value)

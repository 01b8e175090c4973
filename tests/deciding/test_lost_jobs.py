"""A latency is of jobs that committed: what is decided by it says how many are lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import whitecap
from tests.answers.cells import Did, answered, replicated, sweep_layout
from tests.deciding.worlds import written_to
from whitecap.engine.recorded import Direction, Measure, Objective
from whitecap.reports.advice.wording import headline, standings
from whitecap.reports.answers.objectives import objectives_of
from whitecap.reports.answers.survivors import surviving_in, unasked
from whitecap.reports.planning.wording import plan_text

TABLE: dict[str, Any] = {
    "schema": "id BIGINT, v DOUBLE",
    "key": "id",
    "initial": {"rows": 1000, "rows_per_file": 100},
}
ETL: dict[str, Any] = {
    "count": 6,
    "statement": "UPDATE events SET v = v + 1",
    "arrival": {"closed": {"think": {"exponential": {"mean": "1 min"}}}},
    "compute": "10 s",
    "rerun": {"exponential": {"base": "2 s", "cap": "1 min", "jitter": "full", "budget": 8}},
}
"""Each change of the whole table conflicts with each: what is not run again is lost."""


def scenario(path: Path, *objectives: str) -> Path:
    return written_to(path, duration="20 min", table=TABLE, writers={"etl": ETL},
                      objective=list(objectives))  # fmt: skip


@pytest.fixture(scope="module")
def advice(tmp_path_factory: pytest.TempPathFactory) -> whitecap.Advice:
    path = scenario(tmp_path_factory.mktemp("lost") / "s.yaml", "latency_p95_ms of etl <= 30 s")
    return whitecap.advise(path, ["retries"], replications=5, jobs=1, quiet=True)


def test_the_first_line_of_an_advice_that_loses_jobs_says_so(advice: whitecap.Advice) -> None:
    assert [each.label for each in advice.steps] == ["jobs run again never"]
    assert " of the jobs of etl commit instead of 9" in headline(advice)
    assert headline(advice).endswith("and nothing is asked of their success.")
    assert advice.document["text"] == headline(advice)


def test_success_stands_beside_a_latency_as_it_stands_and_changed(advice: whitecap.Advice) -> None:
    stands, changed, *others = standings(advice)
    assert " of the jobs of etl committed, a job that brings data costs " in stands
    assert " of the jobs of etl committed, a job that brings data costs " in changed
    assert any(each.startswith("Latency is that of jobs that committed") for each in others)
    (before,), (after,) = (advice.document[each]["jobs_committed"] for each in ("stands", "best"))
    assert after["mean"] < before["mean"]


def test_a_plan_names_the_success_at_its_boundary(tmp_path: Path) -> None:
    path = scenario(tmp_path / "s.yaml", "latency_p95_ms of etl <= 30 s")
    changes = {"writers.etl.rerun": "none"}
    plan = whitecap.plan(
        path, "writers.etl.count=2..3", variants={"as it is": changes}, max_runs=20, jobs=1,
        quiet=True,
    )  # fmt: skip
    said = plan_text(plan)
    assert "at 3 " in said
    assert " of the jobs of etl committed" in said
    assert "nothing is asked of their success" in said
    (variant,) = plan.document["variants"]
    assert any("nothing is asked of their success" in each for each in variant["sentences"])
    (row,) = variant["tried"][-1]["jobs_committed"]
    assert row["writer"] == "etl"
    assert not row["is_asked"]
    texts = [each.get_text() for each in plan.figure().texts]
    assert any("Latency is that of jobs that committed: at a boundary" in e for e in texts)


LATENCY = Objective(Measure.LATENCY_P95_MS, Direction.AT_MOST, 60_000.0, "b")


def success_of(group: str | None) -> Objective:
    return Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.1, group)


def test_success_that_is_asked_of_another_group_leaves_the_latency_unasked() -> None:
    runs = {"8": replicated(5, a=Did(1000), b=Did(300, 700))}
    answer = answered(sweep_layout(writers=["8"]), runs, LATENCY, success_of("a"))
    (said,) = [each for each in answer.sentences if "nothing is asked" in each]
    assert said.endswith(": in the worst replication 29.6 % of the jobs of b committed.")


@pytest.mark.parametrize("asked", ["b", None])
def test_success_that_is_asked_of_the_group_or_of_every_group_is_not_unasked(
    asked: str | None,
) -> None:
    runs = {"8": replicated(5, a=Did(1000), b=Did(300, 700))}
    answer = answered(sweep_layout(writers=["8"]), runs, LATENCY, success_of(asked))
    assert not any("nothing is asked" in each for each in answer.sentences)


def test_all_together_are_asked_where_every_group_is_and_no_group_where_all_together_are() -> None:
    runs = replicated(5, a=Did(1000), b=Did(300, 700))
    of_all = Objective(LATENCY.measure, LATENCY.direction, LATENCY.threshold, "all")
    every = surviving_in(objectives_of([of_all, success_of(None)]), runs)
    assert not list(unasked(every))
    of_losers = surviving_in(objectives_of([of_all, success_of("b")]), runs)
    assert not list(unasked(of_losers))
    of_others = surviving_in(objectives_of([of_all, success_of("a")]), runs)
    assert list(unasked(of_others))
    together = surviving_in(objectives_of([LATENCY, success_of("all")]), runs)
    assert list(unasked(together))

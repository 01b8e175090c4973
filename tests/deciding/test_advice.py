"""`whitecap advise`: where the remedy is known it is found, and what cannot help is not taken."""

from __future__ import annotations

import dataclasses
import html
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from msgspec import structs

import whitecap
from tests.deciding.worlds import STEADY, written_to
from tests.refusals import require_each_once, require_refused
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.reports.advice.search import STANDS, Score
from whitecap.reports.advice.wording import headline
from whitecap.reports.statistics import Standing
from whitecap.sim.changes.alternatives import KINDS, alternatives_of
from whitecap.sim.loading import load_scenario

DAYS: dict[str, Any] = {
    "schema": "event_id BIGINT, date DATE, amount DOUBLE",
    "partition_by": [],
    "key": "event_id",
    "values": {"date": {"days": 200}},
    "initial": {"rows": 400, "rows_per_file": 400},
}
"""Two hundred days in one file: whoever changes a day conflicts with everybody."""

CORRECTIONS: dict[str, Any] = {
    "count": 6,
    "statement": "UPDATE events SET amount = amount + 1.0 WHERE date = :date",
    "parameters": {"date": "uniform"},
    "arrival": {"closed": {"think": {"exponential": {"mean": "60 s"}}}},
    "compute": {"lognormal": {"median": "10 s", "sigma": 0.4}},
}
OBJECTIVE = "job_success_rate >= 90 %"


@pytest.fixture(scope="module")
def heap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("heap") / "heap.yaml"
    return written_to(
        path, duration="10 min", table=DAYS, writers={"etl": CORRECTIONS}, objective=OBJECTIVE,
        price={"per_slot_hour": 0.5, "currency": "EUR"}, may_change=["isolation", "partitioning"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def advice(heap: Path) -> whitecap.Advice:
    return whitecap.advise(heap, replications=5, jobs=1, quiet=True)


def test_the_partitioning_that_keeps_jobs_apart_is_found_and_isolation_is_left_alone(
    advice: whitecap.Advice,
) -> None:
    assert advice.stands.value.standing is Standing.MISSED
    assert advice.is_met
    assert [step.label for step in advice.steps] == ["events partitioned by date"]
    assert headline(advice).endswith("at least 90 %: events partitioned by date.")


def test_a_change_that_is_a_number_is_named_by_its_axis(advice: whitecap.Advice) -> None:
    (step,) = advice.steps
    fewer = dataclasses.replace(advice, steps=(structs.replace(step, kind="writers", label="2"),))
    assert headline(fewer).endswith("at least 90 %: 2 writers.")


@pytest.mark.parametrize(
    ("needed", "said"),
    [(13.2, "About 14 replications would decide, if they are like those seen."), (math.inf, None)],
)
def test_what_stays_undecided_is_told_with_the_replications_that_would_decide_it(
    needed: float, said: str | None, advice: whitecap.Advice
) -> None:
    first, *others = advice.best.value.quantities
    undecided = structs.replace(first, standing=Standing.UNDECIDED, needed=needed)
    value = structs.replace(advice.best.value, quantities=(undecided, *others))
    text = str(dataclasses.replace(advice, best=structs.replace(advice.best, value=value)))
    assert "stays undecided" in text
    assert ("would decide" in text) is (said is not None)
    assert said is None or said in text.splitlines()


def test_it_says_what_the_step_buys_of_each_objective_and_of_the_cost(
    advice: whitecap.Advice,
) -> None:
    table = advice.table.set_index("measure")
    assert set(table.index) == {"job_success_rate", "cost_per_job"}
    assert table["low"]["job_success_rate"] > 0.1
    assert table["high"]["cost_per_job"] < 0
    assert "EUR" in str(advice)


def test_what_is_stated_comes_from_replications_that_chose_nothing(
    advice: whitecap.Advice, heap: Path
) -> None:
    again = whitecap.run(heap, replication=5).summary
    assert advice.searched.fresh == 5
    fresh = advice.stands.value.quantities[0].tallies[0]
    assert fresh.value == pytest.approx(again.iloc[0]["job_success_rate"])


def test_the_statements_behind_the_waste_are_explained(advice: whitecap.Advice) -> None:
    (behind,) = advice.behind
    assert behind.waste == pytest.approx(1)
    assert behind.statements is not None
    assert len(set(behind.statements)) == 2, "two days, which an unpartitioned table cannot tell"
    assert "They conflict" in behind.answer
    assert any("artition" in each for each in behind.suggestions)


def test_a_notebook_shows_its_sentences_and_its_table(advice: whitecap.Advice) -> None:
    page = html.unescape(advice._repr_html_())
    assert all(f">{line}</p>" in page for line in str(advice).splitlines())
    assert all(f">{column}</th>" in page for column in advice.table.columns)


def test_the_changed_scenario_is_one_that_runs(advice: whitecap.Advice, tmp_path: Path) -> None:
    advice.write(tmp_path)
    changed = load_scenario(tmp_path / "advised.yaml")
    assert changed.table is not None
    assert changed.table.partition_by == ["date"]


def test_where_nothing_conflicts_everything_stays(tmp_path: Path) -> None:
    file = written_to(
        tmp_path / "appends.yaml", duration="10 min", writers={"loader": {**STEADY, "count": 12}},
        objective=OBJECTIVE,
    )  # fmt: skip
    advice = whitecap.advise(file, ["isolation"], replications=5, jobs=1, quiet=True)
    assert advice.steps == ()
    assert advice.currency == "slot-hours"
    assert headline(advice).startswith("Nothing that may be changed is cheaper and meets")


def test_where_nothing_helps_it_says_so(heap: Path) -> None:
    advice = whitecap.advise(heap, "isolation", replications=5, jobs=1, quiet=True)
    assert not advice.is_met
    assert headline(advice).startswith("Nothing that was found meets")


def test_a_design_that_falls_less_short_is_better_and_then_a_cheaper_one() -> None:
    assert Score(0.0, 9.0).is_better(Score(0.2, 1.0))
    assert Score(0.0, 1.0).is_better(Score(0.0, 1.1))
    assert not Score(0.0, 1.0).is_better(Score(0.0, 1.001))
    assert not Score(0.0, 1.0).is_better(Score(0.0, 1.0))
    assert not Score(0.0, 1.0, unmeasured=1).is_better(Score(5.0, 9.0))


def test_a_design_in_which_nothing_is_measured_is_no_remedy(tmp_path: Path) -> None:
    nightly = {
        **STEADY,
        "count": 1,
        "arrival": {"schedule": {"every": "30 min", "offset": "1 min"}},
    }
    file = written_to(
        tmp_path / "nightly.yaml", duration="10 min", writers={"nightly": nightly},
        objective="latency_p95_ms of nightly <= 1 ms",
    )  # fmt: skip
    advice = whitecap.advise(file, ["schedules"], replications=5, jobs=1, quiet=True)
    assert len(advice.searched.kinds) == 1
    assert not [s for s in advice.steps if s.label.startswith(("nightly 16 min", "nightly 23"))]


def test_every_kind_has_changes_that_can_be_run(tmp_path: Path) -> None:
    compactor = {
        "statement": "OPTIMIZE events",
        "arrival": {"schedule": {"every": "2 min", "offset": "1 min"}},
    }
    file = written_to(
        tmp_path / "all.yaml", table={**DAYS, "partition_by": ["date"]},
        writers={"etl": CORRECTIONS, "compactor": compactor},
    )  # fmt: skip
    kinds = alternatives_of(load_scenario(file), list(KINDS)).kinds
    labels: Mapping[str, list[str]] = {kind: list(each) for kind, each in kinds.items()}
    assert labels["partitioning"] == ["events unpartitioned"]
    assert "compactor every 4 min" in labels["schedules"]
    assert "jobs run again at most 3 times" in labels["retries"]
    assert any("deletion vectors" in each for each in labels["row-level"])
    assert set(labels) | {"clustering"} == set(KINDS)
    assert STANDS == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--allow", "partitoning"], "did you mean 'partitioning'?"),
        (["--allow", "schedules"], "leaves nothing to change"),
        (["--max-runs", "9"], "9 are not enough to look at every change"),
        (["--objective", "given_up <= 3"], "is a count"),
        (["--objective", "job_succes_rate >= 3"], "job_success_rate"),
    ],
)
def test_what_cannot_be_advised_on_is_told_by_name(
    heap: Path, arguments: list[str], said: str
) -> None:
    result = CliRunner().invoke(main, ["advise", str(heap), *arguments])
    require_refused(result, said)


def test_all_that_is_wrong_is_told_at_once(heap: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.advise(
            heap, "partitoning", objective="job_succes_rate >= 3", replications=2, quiet=True
        )
    require_each_once(
        refused.value, "did you mean 'partitioning'?", "job_success_rate", "2 is not between 5 and"
    )


def test_a_scenario_that_allows_nothing_is_asked_what_may_be_changed(tmp_path: Path) -> None:
    file = written_to(tmp_path / "small.yaml", objective=OBJECTIVE)
    with pytest.raises(InvalidInput) as refused:
        whitecap.advise(file, quiet=True)
    assert "say what may be changed, here or as `may_change:` in the scenario: partitioning" in str(
        refused.value
    )


def test_a_change_that_the_scenario_allows_and_nobody_has_is_told_of_the_scenario(
    tmp_path: Path,
) -> None:
    may_change = ["partitioning", "schedulse"]
    file = written_to(tmp_path / "small.yaml", objective=OBJECTIVE, may_change=may_change)
    result = CliRunner().invoke(main, ["advise", str(file)])
    require_refused(result, f"{file} may_change: there is no kind of change or axis 'schedulse'")
    assert "did you mean 'schedules'?" in result.stderr
    assert "--allow" not in result.stderr


def test_maintenance_more_often_is_no_cheaper_than_less_often(tmp_path: Path) -> None:
    """Every OPTIMIZE is a job that commits, and costs less than the jobs that bring data: if it
    counted among those that the cost is divided by, the more of them the better."""
    loader = {**STEADY, "count": 1, "compute": {"constant": "60 s"}}
    tidy = {
        "statement": "OPTIMIZE events",
        "arrival": {"schedule": {"every": "4 min"}},
        "compute": {"constant": "20 s"},
    }
    file = written_to(
        tmp_path / "tidy.yaml", duration="40 min", writers={"loader": loader, "tidy": tidy},
        objective="job_success_rate of loader >= 50 %", price={"per_slot_hour": 1.0},
    )  # fmt: skip
    advice = whitecap.advise(file, "schedules", replications=5, jobs=1, quiet=True)
    assert [step.label for step in advice.steps][:1] == ["tidy every 8 min"]
    cost = advice.table[advice.table["measure"] == "cost_per_job"].iloc[0]
    assert cost["after"] < cost["before"]
    assert "a job that brings data costs" in str(advice)


def test_axes_of_the_sweep_may_be_allowed_by_name(tmp_path: Path, heap: Path) -> None:
    document = yaml.safe_load(heap.read_text())
    axes = {"layout": {"heap": {}, "by date": {"table.partition_by": ["date"]}}}
    file = tmp_path / "axes.yaml"
    file.write_text(yaml.safe_dump({**document, "sweep": {"axes": axes}}))
    kinds = alternatives_of(load_scenario(file), ["layout"]).kinds
    assert {kind: list(each) for kind, each in kinds.items()} == {"layout": ["by date"]}


def test_the_command_prints_what_it_writes(heap: Path, tmp_path: Path) -> None:
    arguments = [
        "advise", str(heap), "--allow", "partitioning", "--replications", "5", "--jobs", "1",
        "--out", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    printed = json.loads(result.stdout)
    kept = json.loads((tmp_path / "out" / "advice.json").read_text())
    assert kept["steps"] == printed["steps"]
    assert printed["met"] is True

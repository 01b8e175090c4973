"""Runs of several tables on a real Delta Lake: each table by itself, and its jobs put together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.reports.agreement import read_agreement
from whitecap.sim.loading import scenario_of
from whitecap.sim.replay.agreement import Agreement, ComparedTransaction, Comparison
from whitecap.sim.replay.choice import named_run
from whitecap.sim.replay.history.window import Window, parse_window
from whitecap.sim.replay.plan import ReplayPlan, plan_replay, real_command
from whitecap.sim.replay.playing.script import End, TransactionResult
from whitecap.sim.replay.real.commands import Sql
from whitecap.sim.replay.replay import replay
from whitecap.sim.run import run_scenario

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_S = 150.0

TABLE = {
    "schema": "id BIGINT, country STRING, amount INT",
    "key": "id",
    "values": {"country": ["at", "be"]},
    "initial": {"rows": 20, "rows_per_file": 10},
}
CHANGES = "UPDATE gold SET amount = amount + 1 WHERE country = 'at'"
JOBS: dict[str, Any] = {
    "name": "jobs",
    "duration": "6 min",
    "store": "s3",
    "tables": {"silver": TABLE, "gold": TABLE},
    "writers": {
        "loader": {
            "statements": [
                {
                    "statement": "INSERT INTO silver VALUES :rows",
                    "parameters": {"rows": {"rows": {"count": 2}}},
                },
                {"statement": CHANGES},
            ],
            "arrival": {"schedule": {"every": "30 s", "offset": "5 s"}},
            "compute": "4 s",
        },
        "rival": {
            "statement": "UPDATE gold SET amount = 0 WHERE country = 'at'",
            "arrival": {"closed": {"think": "8 s"}},
            "compute": "3 s",
        },
    },
}
IN_BATCHES = {
    "writers.loader.foreach_batch": {"checkpoint": "orders", "idempotent": True},
    "writers.loader.restart": {"fixed": {"wait": "1 s", "budget": 5}},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    run_scenario(scenario_of(JOBS), out=out)
    return out


@pytest.fixture(scope="module")
def batches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "batches"
    run_scenario(scenario_of(JOBS, IN_BATCHES), out=out)
    return out


def planned(run: Path, window: str | None = None, limit: int | None = None) -> ReplayPlan:
    return plan_replay(named_run(run), parse_window(window) if window else None, limit)


def jobs_in(plan: ReplayPlan, table: str) -> set[int]:
    (own,) = [each for each in plan.tables if each.name == table]
    return {each.job_id for each in own.transactions if each.writer.startswith("loader")}


@pytest.mark.parametrize(("window", "limit"), [(None, None), (None, 8), ("gold:4..9", None)])
def test_the_jobs_of_one_tables_window_are_seen_whole(
    run: Path, window: str | None, limit: int | None
) -> None:
    plan = planned(run, window, limit)
    assert [each.window.table for each in plan.tables] == ["silver", "gold"]
    assert jobs_in(plan, "gold") <= jobs_in(plan, "silver")
    assert len(plan.played) <= (limit or 40)
    assert all(each.table in plan.sentence for each in plan.transactions)


def test_versions_are_those_of_their_table(run: Path) -> None:
    plan = planned(run, "gold:4..9")
    (gold,) = [each for each in plan.tables if each.name == "gold"]
    assert gold.window == Window(4, 9, "gold")
    made = sorted(version for each in gold.transactions for version in each.versions)
    assert made == [5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("4..9", "versions are a table's own: write silver:4..9, of silver, gold"),
        ("golt:4..9", "there is no table 'golt' (did you mean 'gold'?)"),
        ("gold:4..999", "gold:4..999 is not within the run's versions"),
    ],
)
def test_a_window_that_names_no_versions_is_told(run: Path, window: str, expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        planned(run, window)
    assert expected in str(raised.value)


def test_a_window_of_another_table_than_the_only_one_is_told(tmp_path: Path) -> None:
    writers = {"rival": {**JOBS["writers"]["rival"]}}
    plain = {key: value for key, value in JOBS.items() if key != "tables"}
    run_scenario(
        scenario_of({**plain, "table": {**TABLE, "name": "gold"}, "writers": writers}),
        out=tmp_path / "run",
    )
    assert planned(tmp_path / "run", "gold:2..4").tables[0].window.last == 4
    with pytest.raises(InvalidInput, match="names 'silver', and the run's table is 'gold'"):
        planned(tmp_path / "run", "silver:2..4")


def test_a_statement_of_a_batch_is_played_with_what_makes_it_known(batches: Path) -> None:
    commands = [real_command(each) for each in planned(batches).played if each.app_id]
    assert commands
    assert all(isinstance(each, Sql) and each.app_id for each in commands)
    assert {each.version is None for each in commands if isinstance(each, Sql)} == {False}


def _compared(
    job: int, table: str, recorded: TransactionResult, real: TransactionResult | None, **more: Any
) -> ComparedTransaction:
    same = Comparison.MATCH if recorded == real else Comparison.MISMATCH
    return ComparedTransaction(
        f"w #{job}", "C", 0, same, "", recorded, real, "", table, job, **more
    )


def test_jobs_are_half_done_here_and_there() -> None:
    commit, abort = (
        TransactionResult(End.COMMITTED, 5),
        TransactionResult(End.ABORTED, exception="X"),
    )
    agreement = Agreement(
        {},
        (
            *(_compared(job, "silver", commit, commit) for job in (1, 2, 3)),
            _compared(1, "gold", abort, abort, given_up=True),
            _compared(2, "gold", abort, commit, given_up=True),
            _compared(3, "gold", abort, None, given_up=True),
        ),
    )
    assert str(agreement.half_done) == "2 in the recording, 1 on real Delta Lake"
    document = agreement.document()
    assert document["half_done"] == {"recorded": 2, "real": 1}
    assert document["tables"]["silver"] == {"match": 3, "mismatch": 0, "not_comparable": 0}


@pytest.mark.spark
def test_real_delta_leaves_the_same_jobs_half_done(
    spark: SparkSession,  # noqa: ARG001  the command takes the session that runs
    run: Path,
    tmp_path: Path,
) -> None:
    place = tmp_path / "replay"
    asked = ["replay", str(run), "--transactions", "12", "--out", str(place)]
    called = CliRunner().invoke(main, asked)
    assert called.exit_code == 0, called.output
    document = json.loads((place / "agreement.json").read_text())
    assert document["mismatches"] == 0
    assert document["tables"].keys() == document["windows"].keys() == {"silver", "gold"}
    assert all(counts["match"] for counts in document["tables"].values())
    half_done = document["half_done"]
    assert half_done["recorded"] == half_done["real"] > 0
    assert f"jobs left half done: {half_done['real']} in the recording" in called.stdout
    agreement = read_agreement(tmp_path)
    assert agreement is not None
    assert any("left half done" in sentence for sentence in agreement.sentences)


@pytest.mark.spark
def test_real_delta_knows_a_batch_again_that_was_written(
    spark: SparkSession, batches: Path
) -> None:
    agreement = replay(planned(batches, limit=14), spark, timeout_s=WAIT_S)
    assert [each for each in agreement.compared if each.comparison != "match"] == []
    skipped = [each for each in agreement.compared if each.recorded.end is End.NOTHING_TO_COMMIT]
    assert skipped
    assert all(each.real == each.recorded for each in skipped)

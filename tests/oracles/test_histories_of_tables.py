"""One history of several tables: what a run writes of them, and what the oracles make of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command_line import invoked
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.snapshot import Snapshot
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.history import read_history
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import run_scenario

TABLE = {
    "schema": "id BIGINT, country STRING, amount INT",
    "key": "id",
    "values": {"country": ["at", "be"]},
    "initial": {"rows": 20, "rows_per_file": 10},
}
BOTH: dict[str, Any] = {
    "name": "both",
    "duration": "3 min",
    "store": "s3",
    "tables": {"silver": TABLE, "gold": TABLE},
    "writers": {
        "loader": {
            "statements": [
                {
                    "statement": "INSERT INTO silver VALUES :rows",
                    "parameters": {"rows": {"rows": {"count": 2}}},
                },
                "UPDATE gold SET amount = 0 WHERE country = 'at'",
            ],
            "arrival": {"schedule": {"every": "30 s", "offset": "5 s"}},
            "compute": "4 s",
        },
    },
}


_run = partial(invoked, columns=80)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with the scenario, its run, its tables and their history."""
    place = tmp_path_factory.mktemp("both")
    scenario = place / "both.yaml"
    scenario.write_text(yaml.safe_dump(BOTH, sort_keys=False))
    written = ["--out", place / "run", "--export", place / "tables", "--data"]
    result = _run("run", scenario, *written, "--history", place / "history.jsonl", "--quiet")
    assert result.exit_code == ExitCode.FINE, result.output
    return place


def test_a_run_writes_one_history_whose_lines_name_their_table(made: Path) -> None:
    lines = [json.loads(line) for line in (made / "history.jsonl").read_text().splitlines()]
    assert [line["table"] for line in lines if line["type"] == "table"] == ["silver", "gold"]
    silver = read_history(made / "history.jsonl", "silver").transactions
    assert silver
    assert all(each.statement and "INTO silver" in each.statement for each in silver)


@pytest.mark.parametrize("table", ["", "silver", "gold"])
def test_all_tables_are_judged_or_one_of_them(made: Path, table: str) -> None:
    result = _run("oracle", made / "tables" / table, "--history", made / "history.jsonl")
    assert result.output == "no anomaly was found\n"
    assert result.exit_code == ExitCode.FINE


def test_the_recording_is_judged_table_by_table(made: Path) -> None:
    assert _run("oracle", made / "run").output == "no anomaly was found\n"


def test_a_finding_says_in_which_table_it_is(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "history.jsonl"
    text = (made / "history.jsonl").read_text()
    other.write_text(text.replace("SET amount = 0", "SET amount = 1"))
    result = _run("oracle", made / "tables", "--history", other)
    assert result.exit_code == ExitCode.INVARIANT_VIOLATED
    assert "wrong rows in gold" in result.output
    assert "silver" not in result.output
    document = json.loads(_run("oracle", made / "tables", "--history", other, "--json").stdout)
    assert {finding["table"] for finding in document["findings"]} == {"gold"}


def test_a_history_of_other_tables_is_refused(made: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is of the tables silver, gold, and of no table 'golt'"):
        read_history(made / "history.jsonl", "golt")
    lines = (made / "history.jsonl").read_text()
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text(lines + lines.splitlines()[-1].replace('"table":"gold",', "") + "\n")
    result = _run("oracle", made / "tables", "--history", mixed)
    assert result.exit_code == ExitCode.BAD_INPUT
    nameless = tmp_path / "nameless.jsonl"
    nameless.write_text(lines.replace('"table":"gold",', "").replace('"table":"silver",', ""))
    result = _run("oracle", made / "tables", "--history", nameless)
    assert result.exit_code == ExitCode.BAD_INPUT


def test_two_statements_of_a_job_on_one_table_are_no_duplicates(tmp_path: Path) -> None:
    scenario = tmp_path / "one.yaml"
    statements = [BOTH["writers"]["loader"]["statements"][1], "DELETE FROM gold WHERE id < 3"]
    writers = {"loader": {**BOTH["writers"]["loader"], "statements": statements}}
    plain = {key: value for key, value in BOTH.items() if key != "tables"}
    table = {**TABLE, "name": "gold"}
    scenario.write_text(yaml.safe_dump({**plain, "table": table, "writers": writers}))
    assert _run("run", scenario, "--out", tmp_path / "run", "--quiet").exit_code == 0
    assert _run("oracle", tmp_path / "run").output == "no anomaly was found\n"


def test_a_batch_that_two_jobs_wrote_is_found_twice(tmp_path: Path) -> None:
    """Without a restart the next job takes the batch once more; the work is the batch's."""
    scenario = tmp_path / "batches.yaml"
    loader = {**BOTH["writers"]["loader"], "foreach_batch": {"checkpoint": "orders"}}
    rival = {
        "statement": "UPDATE gold SET amount = 1 WHERE country = 'at'",
        "arrival": {"closed": {"think": "1 s"}},
        "compute": "3 s",
    }
    document = {**BOTH, "writers": {"loader": loader, "rival": rival}}
    scenario.write_text(yaml.safe_dump(document))
    assert _run("run", scenario, "--out", tmp_path / "run", "--quiet").exit_code == 0
    shown = _run("oracle", tmp_path / "run").output
    assert "duplicate in silver (at most once)" in shown
    assert "of job loader batch" in shown


SHARED: dict[str, Any] = {
    "name": "shared",
    "seed": 1,
    "duration": "3 min",
    "table": {**TABLE, "name": "gold"},
    "store": {"profile": "s3", "client": {"on_lost_reply": "surface"}},
    "faults": [{"lost_reply": {"nth": 1, "of_jobs": [1]}, "writers": ["query-1"]}],
    "writers": {
        "query": {
            "count": 2,
            "streaming": {"checkpoint": "orders", "rows": {"count": 2}},
            "arrival": {"closed": {"think": "5 s"}},
            "compute": {"lognormal": {"median": "8 s", "sigma": 0.5}},
            "restart": "spark-streaming",
        },
    },
}
"""Two processes of one query; the restart of the first finds that the second has its batch."""


def test_a_streaming_job_that_goes_on_with_another_batch_wrote_nothing_twice() -> None:
    run = run_scenario(scenario_of(SHARED))
    assert any(run.recording.transactions["rerun_number"].to_pylist())
    assert not judge(run).findings


def test_a_batch_that_a_table_forgot_is_found_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The restart writes what the lost reply was about once more."""
    alone = scenario_of(SHARED, {"writers.query.count": 1})
    with monkeypatch.context() as patched:
        patched.setattr(Snapshot, "transaction_version", lambda *_: -1)
        run = run_scenario(alone)
    said = [finding.sentence for finding in judge(run).findings]
    assert any("2 tries of job" in each and "batch" in each for each in said), said
    assert any("before it recorded" in each for each in said), said

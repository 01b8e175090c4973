"""`whitecap init` writes what runs at once, asks only where somebody can answer, and tells all that
is wrong at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from whitecap.cli import main
from whitecap.exit_codes import ExitCode
from whitecap.sim.describing.draft import STATEMENTS
from whitecap.sim.loading import load_scenario

NEEDED = ["--writers", "merge:2", "--every", "2 min", "--takes", "30 s"]


def _init(*arguments: str, answers: str | None = None) -> Result:
    return CliRunner().invoke(main, ["init", *arguments], input=answers)


def test_without_a_terminal_it_says_what_to_give() -> None:
    result = _init("--every", "2 min")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "nobody to ask here: give --writers 'merge:4', --takes '30 s'" in result.stderr


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--writers", "merg:4", "did you mean 'merge'?"),
        ("--writers", "merge:none", "needs a number of writers"),
        ("--writers", "merge:0", "needs a number of writers"),
        ("--writers", f"merge:{'9' * 5000}", "needs a number of writers"),
        ("--writers", ",", "names none"),
        ("--every", "2 weeks", "is not a duration"),
        ("--takes", "0 s", "is less than a second"),
        ("--partition-by", "region", "has no 'region'"),
        ("--store", "s4", "no store profile 's4'"),
        ("--objective", "often", "is no objective"),
        ("--objective", "conflict_rate >= 9 %", "is better"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_written(
    option: str, value: str, said: str, tmp_path: Path
) -> None:
    out = tmp_path / "mine.yaml"
    result = _init(*NEEDED, option, value, "--out", str(out))
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.stderr
    assert not out.exists()


def test_all_wrong_answers_are_told_together() -> None:
    result = _init("--writers", "x", "--every", "y", "--takes", "z", "--store", "s4")
    lines = [line.removeprefix("error: ") for line in result.stderr.splitlines()]
    assert [line.partition(":")[0].strip() for line in lines] == [
        "--writers", "--every", "--takes", "--store",
    ]  # fmt: skip


def test_a_file_that_is_there_is_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    out.write_text("precious")
    refused = _init(*NEEDED, "--out", str(out))
    assert refused.exit_code == ExitCode.BAD_INPUT
    assert out.read_text() == "precious"
    assert _init(*NEEDED, "--out", str(out), "--overwrite").exit_code == ExitCode.FINE
    assert "MERGE INTO" in out.read_text()
    assert load_scenario(out).name == "mine"


def test_what_is_drafted_runs_and_sweeps(tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    assert _init(*NEEDED, "--out", str(out)).exit_code == ExitCode.FINE
    ran = CliRunner().invoke(main, ["run", str(out)])
    assert ran.exit_code == ExitCode.FINE, ran.output
    swept = CliRunner().invoke(
        main,
        ["sweep", str(out), "--out", str(tmp_path / "s"), "--replications", "1", "--engine",
         "processes", "--axis", "writers"],
    )  # fmt: skip
    assert swept.exit_code == ExitCode.FINE, swept.output


@pytest.mark.parametrize("partition_by", ["none", "country", "date,country"])
def test_every_kind_of_job_on_every_layout_is_a_scenario(partition_by: str, tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    kinds = ",".join(f"{kind}:2" for kind in STATEMENTS)
    result = _init("--writers", kinds, "--every", "1 h", "--takes", "5 min", "--partition-by",
                   partition_by, "--store", "azure", "--out", str(out))  # fmt: skip
    assert result.exit_code == ExitCode.FINE, result.stderr
    loaded = load_scenario(out)
    assert {name: group.count for name, group in loaded.writers.items()} == dict.fromkeys(
        STATEMENTS, 2
    )
    assert loaded.table is not None
    assert loaded.table.partition_by == [name for name in partition_by.split(",") if name != "none"]


def test_on_a_terminal_what_is_not_given_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("whitecap.commands.drafts.init.is_terminal", lambda: True)
    out = tmp_path / "mine.yaml"
    result = _init("--writers", "update:3", "--out", str(out), answers="5 min\n1 min\n\ngcs\n\n")
    assert result.exit_code == ExitCode.FINE, result.output
    loaded = load_scenario(out)
    assert (loaded.writers["update"].count, loaded.store.profile) == (3, "gcs")
    assert loaded.table is not None
    assert loaded.table.partition_by == ["date"]
    assert "--every '5 min'" in out.read_text()


def test_a_drafted_sweep_names_its_writers_by_how_many_there_are(tmp_path: Path) -> None:
    out = tmp_path / "mine.yaml"
    mixed = ["--writers", "merge:4,insert:2,optimize:1", *NEEDED[2:], "--partition-by", "country"]
    assert _init(*mixed, "--out", str(out)).exit_code == ExitCode.FINE
    sweep = load_scenario(out).sweep
    assert sweep is not None
    assert list(sweep.axes["writers"]) == ["7", "13", "19"]
    assert "writers.optimize.count" not in sweep.axes["writers"]["19"]
    assert next(iter(sweep.axes["partitioning"])) == "by country"


def test_every_objective_that_is_given_is_in_the_draft() -> None:
    both = ("job_success_rate >= 99 %", "latency_p95_ms <= 2 min")
    result = _init(*NEEDED, "--objective", both[0], "--objective", f" {both[1]}")
    assert result.exit_code == ExitCode.FINE
    assert f"objective:\n- {both[0]}\n- {both[1]}\n" in result.stdout
    command = " ".join(f"--objective '{each}'" for each in both)
    assert f"{command}`.\n" in result.stdout
    refused = _init(*NEEDED, "--objective", "x", "--objective", "y")
    assert refused.stderr.count("error: --objective: ") == 2

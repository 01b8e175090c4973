"""What is wrong with a command is told whole: options, places and scenario in one message."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.exit_codes import ExitCode

NOWHERE = "/dev/null/there"
TABLE = "/dev/null/table"
LOST = "/dev/null/history"
VARY = "--vary writers.elt.count=1..3"
WRONG = {
    f"run capacity --set writers.elt.count=2 --out {NOWHERE} --export {TABLE} --history {LOST}": (
        "no writer 'elt'",
        f"{NOWHERE}: cannot be written",
        f"{TABLE}: cannot be written",
        f"{LOST}: cannot be written",
    ),
    "run capacity --data --requests --set writers.elt.count=2": (
        "--data goes with --export",
        "--requests goes with --out",
        "no writer 'elt'",
    ),
    "run capacity --until 'abort_rat +- 1 point' --export x --replication 2": (
        "--replication, --export is of one run",
        "abort_rat",
    ),
    f"sweep capacity --axis partitionin --out {NOWHERE}": (
        "no axis 'partitionin'",
        f"{NOWHERE}: cannot be written",
    ),
    "explain --table merge-and-optimize --out x.pdf --conf a --other b --dialect databricks-14.4": (
        "x.pdf needs --format",
        "--conf needs KEY",
        "--other needs NAME",
        "'databricks-14.3'?",
    ),
    "matrix --dialect databricks-14.4 --against nowhere --out x.pdf --isolation Serialisable": (
        "x.pdf needs --format",
        "'databricks-14.3'?",
        "--against: there is no 'nowhere'",
        "'Serializable'",
    ),
    "matrix --pair UPDAT DELETE --isolation Serialisable": ("'UPDATE'?", "'Serializable'"),
    "dialects nowhere databricks-14.4": (
        "there is no 'nowhere': there are delta-oss-4.4, ",
        "'databricks-14.3'?",
    ),
    f"plan capacity {VARY} --objective 'foo >= 3' --out {NOWHERE}": (
        "no writer 'elt'",
        "'foo' is none of",
        f"{NOWHERE}: cannot be written",
    ),
    f"sensitivity capacity {VARY} --measure foo --out {NOWHERE}": (
        "no writer 'elt'",
        "no measure 'foo'",
        f"{NOWHERE}: cannot be written",
    ),
    f"advise capacity --allow retriess --objective foo --out {NOWHERE}": (
        "'retries'?",
        "'foo' is no objective",
        f"{NOWHERE}: cannot be written",
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_no_mistake_hides_another(words: str) -> None:
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "200"})
    assert result.exit_code == ExitCode.BAD_INPUT
    for each in WRONG[words]:
        assert each in result.stderr
    assert not result.stdout


def test_a_sweep_says_that_its_place_is_taken_before_it_says_what_it_runs(tmp_path: Path) -> None:
    place = tmp_path / "notes"
    place.write_text("mine")
    result = CliRunner().invoke(main, ["sweep", "events", "--out", str(place)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith(f"error: {place}: ")
    assert place.read_text() == "mine"


def test_a_sweep_of_one_run_is_said_in_the_singular(tmp_path: Path) -> None:
    words = ["sweep", "capacity", "--axis", "partitioning=by date", "--set", "duration=1 min"]
    words += ["--replications", "1", "--engine", "processes", "--out", str(tmp_path / "sweep")]
    result = CliRunner().invoke(main, words)
    assert "capacity: 1 cell x 1 replication = 1 run in " in result.stderr


OPTIONS = {
    "run capacity --sed 4 --replication -1 --max-replications x": (
        "No such option '--sed'. Did you mean '--seed'?",
        "'--replication': -1 is not in the range",
        "'--max-replications': 'x' is not a valid integer",
    ),
    "run capacity --foo": ("No such option '--foo'.\n",),
    "run capacity -x -q": ("No such option '-x'.", "No such option '-q'."),
    "run capacity --overwrit=yes --sets a=1": ("mean '--overwrite'?", "mean '--set'?"),
    "run": ("Missing argument 'SCENARIO'",),
    "run capacity events --seed": ("'--seed' requires an argument",),
    "run capacity events": ("unexpected extra argument (events)",),
    "plan --jobs 0": ("'--jobs': 0 is not in", "Missing option '--vary'", "argument 'SCENARIO'"),
    "sweep events --engine sparc --replications 0": ("'sparc' is not one of", "0 is not in"),
}


@pytest.mark.parametrize("words", OPTIONS)
def test_every_option_that_is_wrong_is_told(words: str) -> None:
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "200"})
    assert result.exit_code == ExitCode.BAD_INPUT
    command = words.split()[0]
    assert result.stderr.startswith(f"Usage: main {command} ")
    for each in OPTIONS[words]:
        assert result.stderr.count(each) == 1, result.stderr
    assert not result.stdout


def test_help_is_given_though_the_scenario_is_missing() -> None:
    result = CliRunner().invoke(main, ["run", "--seed", "x", "-h"])
    assert (result.exit_code, result.stderr) == (ExitCode.FINE, "")
    assert "Simulate SCENARIO once" in result.stdout

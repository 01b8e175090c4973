"""What is wrong with a command is told whole: options, places and scenario in one message."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.types import BoolParamType, StringParamType, Tuple
from click.types import Path as PathType

import whitecap
from whitecap.cli import COMMANDS, command_named, main
from whitecap.exit_codes import ExitCode
from whitecap.options.types import PlaceOf, Positive, Seed, WholeNumber, WordOf

NEVER_WRONG = {BoolParamType, PathType, StringParamType, Tuple}
"""Types of click's that read whatever is given."""

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
        "--until 'abort_rat +- 1 point': there is no measure 'abort_rat'",
    ),
    f"run evnts --until 'abort_rat +- 1 point' --out {NOWHERE}": (
        "did you mean events?",
        "abort_rat",
        f"{NOWHERE}: cannot be written",
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
        "--against: there is no dialect 'nowhere'",
        "'Serializable'",
    ),
    "matrix --pair UPDAT DELETE --isolation Serialisable": ("'UPDATE'?", "'Serializable'"),
    "matrix --pair UPDAT DELETE --partitioned yes --clustered yes": (
        "'UPDATE'?",
        "a partitioned table cannot be clustered",
    ),
    "matrix --pair UPDAT DELETE --row-level-concurrency on": (
        "'UPDATE'?",
        "row-level concurrency is not part of delta-oss-4.4",
    ),
    "matrix --dialect databricks-14.4 --pair UPDAT DELETE": ("'UPDATE'?", "'databricks-14.3'?"),
    "explain --table nowhere --dialect databricks-14.4 'UPDATE t SET a = 1'": (
        "'databricks-14.3'?",
        "nowhere: is not there",
        "statements: two are needed, A and B",
    ),
    "explain --table nowhere --dialect databricks-14.4 'UPDAT t' 'DELETE FRM t'": (
        "--dialect: there is no dialect 'databricks-14.4': one stands for versions from 14.3 on",
        "nowhere: is not there",
        "statement A: 'UPDAT': no such statement",
        "statement B: line 1",
    ),
    "explain --table merge-and-optimize --conf a 'UPDAT t' 'DELETE FROM nowhere'": (
        "--conf needs KEY",
        "A: 'UPDAT': no such statement",
        "B: writes nowhere",
    ),
    "explain --table merge-and-optimize --conf spark.foo=1 'UPDAT t' 'DELETE FROM orders'": (
        "spark.foo is not modelled",
        "A: 'UPDAT': no such statement",
    ),
    "explain --table merge-and-optimize --other a=b --conf a": (
        "--conf needs KEY",
        "--other: a table in YAML",
    ),
    "conformance nowhere.json --python x": ("--python is for", "nowhere.json: cannot be read"),
    "dialects nowhere databricks-14.4": (
        "there is no dialect 'nowhere': there are delta-oss-4.4, ",
        "'databricks-14.3'?",
    ),
    f"plan capacity {VARY} --objective 'foo >= 3' --out {NOWHERE}": (
        "no writer 'elt'",
        "'foo' is none of",
        f"{NOWHERE}: cannot be written",
    ),
    f"plan capacity {VARY} --resume --max-runs 100": ("no writer 'elt'", "--resume: goes on with"),
    "plan nowhere --vary writers=1 --objective foo": (
        "--vary 'writers=1': is not PATH=LOW..HIGH",
        "--objective: 'foo' is no objective",
        "nowhere: is not there",
    ),
    "advise nowhere --objective 'foo >= 3' --objective 'abort_rate <= 1 ms'": (
        "--objective: 'foo' is none of",
        "--objective: abort_rate is not counted in 'ms'",
        "nowhere: is not there",
    ),
    "sweep nowhere --objective foo": (
        "--objective: 'foo' is no objective",
        "nowhere: is not there",
    ),
    "sensitivity nowhere --vary writers=1 --measure foo": (
        "--vary 'writers=1': is not PATH=LOW..HIGH",
        "no measure 'foo'",
        "nowhere: is not there",
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
    "report nowhere --engine processes --master local": ("--master: ", "nowhere: no such"),
    f"replay nowhere --window 3 --out {NOWHERE}": (
        "'3' is not of the form",
        "nowhere: no such directory",
        f"{NOWHERE}: cannot be written",
    ),
    "compare nowhere lost --measure aborts --engine processes --master local": (
        "no measure 'aborts'",
        "--master: ",
        "nowhere: no such",
        "lost: no such",
    ),
    f"check nowhere lost --until foo --tolerate bar --junit {NOWHERE} --annotations --json": (
        "--tolerate needs --baseline",
        "--tolerate 'bar': write",
        "--json prints one object",
        "--until 'foo': write",
        f"{NOWHERE}: cannot be written",
        "nowhere: is not there",
        "lost: is not there",
    ),
    "check capacity nowhere --baseline lost --tolerate bar": (
        "--tolerate 'bar': write",
        "lost: ",
        "nowhere: is not there",
    ),
    f"chaos evnts --without stale --python x --save {NOWHERE} --no-shrink": (
        "--python is of",
        "--save keeps",
        "no fault 'stale'",
        f"{NOWHERE}: cannot be written",
        "evnts: is not there",
    ),
    f"init --writers merg:4 --store s4 --out {NOWHERE}": (
        "give --every '2 min', --takes '30 s'",
        "'merge'?",
        "'s4'",
        f"{NOWHERE}: cannot be written",
    ),
    "from-log nowhere --store s4 --anonymise --from-files --failures lost.csv": (
        "--failures needs --out",
        "(from_files=True) names the table",
        "lost.csv: ",
        "'s4'",
        "nowhere: ",
    ),
    "oracle nowhere --history lost --spark": ("nowhere: is not there", "lost: "),
    f"validate --partitions 2,2 --out {NOWHERE}": (
        "say --real",
        "stands there twice",
        f"{NOWHERE}: cannot be written",
    ),
    f"calibrate gs://a --clients 0 --for x --like s4 --out {NOWHERE} --save-samples {LOST}": (
        "is neither a directory",
        "--clients: ",
        "--for: ",
        "'s4'",
        f"{NOWHERE}: cannot be written",
        f"{LOST}: cannot be written",
    ),
    "calibrate nowhere --clients 0 --for '2 d'": (
        "--clients: ",
        "'2 d' is not between 1 s and 1 d",
    ),
    "calibrate --samples lost.csv --like s4 --count 20 --clients 1": (
        "--count does not go with --samples",
        "--clients does not go with --samples",
        "'s4'",
        "lost.csv: ",
    ),
    "run evnts --seed x --replication -1 --set bar --max-replications 1.5": (
        "--seed: needs a whole number, not 'x'",
        "--replication: -1 is not between 0 and 1,000",
        "--max-replications: needs a whole number, not '1.5'",
        "--set bar: is not PATH=VALUE",
        "did you mean events?",
    ),
    "sweep events --engine sparc --replications 0 --axis layout": (
        "--engine: 'sparc' is none of spark, processes (did you mean 'spark'?)",
        "--replications: 0 is not between 1 and 1,000",
        "no axis 'layout'",
    ),
    "check nowhere --minutes nan --undecided maybe": (
        "--minutes: needs a number, not 'nan'",
        "--undecided: 'maybe' is none of fail, pass",
        "nowhere: is not there",
    ),
    "replay nowhere --timeout 0.5": ("--timeout: 0.5 is not 1 or more", "nowhere: no such"),
    "oracle nowhere --spark": ("--spark: runs statements", "nowhere: is not there"),
    "scenarios evnts --json": ("--json goes with the list", "evnts: is not there"),
}


@pytest.mark.parametrize("words", WRONG)
def test_no_mistake_hides_another(words: str) -> None:
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "200"})
    assert result.exit_code == ExitCode.BAD_INPUT
    for each in WRONG[words]:
        assert each in result.stderr
    assert not result.stdout


@pytest.mark.parametrize("words", WRONG)
def test_each_mistake_begins_with_error_for_whoever_searches_a_log(words: str) -> None:
    result = CliRunner().invoke(main, shlex.split(words), env={"COLUMNS": "200"})
    usage, _, mistakes = result.stderr.rpartition("\n\n")
    assert usage.startswith("Usage: ") or not usage
    assert all(line.lower().startswith("error: ") for line in mistakes.splitlines()), mistakes


def test_a_sweep_says_that_its_place_is_taken_before_it_says_what_it_runs(tmp_path: Path) -> None:
    place = tmp_path / "notes"
    place.write_text("mine")
    result = CliRunner().invoke(main, ["sweep", "events", "--out", str(place)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.startswith(f"error: {place}: ")
    assert place.read_text() == "mine"


@pytest.mark.parametrize("command", ["report", "replay"])
def test_a_file_that_is_no_recording_is_told_in_one_message(command: str, tmp_path: Path) -> None:
    place = tmp_path / "notes"
    place.write_text("mine")
    result = CliRunner().invoke(main, [command, str(place)])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr == f"error: {place}: is a file, and recordings are a directory\n"


def test_a_sweep_of_one_run_is_said_in_the_singular(tmp_path: Path) -> None:
    words = ["sweep", "capacity", "--axis", "partitioning=by date", "--set", "duration=1 min"]
    words += ["--replications", "1", "--engine", "processes", "--out", str(tmp_path / "sweep")]
    result = CliRunner().invoke(main, words)
    assert "capacity: 1 cell x 1 replication = 1 run in " in result.stderr


LEAST = {
    "chaos": ("nowhere",),
    "compare": ("nowhere", "lost"),
    "explain": ("--table", "nowhere"),
    "plan": ("nowhere", "--vary", "a=1..2"),
    "validate": (),
    "fuzz": (),
    "matrix": (),
    "dialects": (),
    "calibrate": ("--samples", "nowhere.csv"),
}
"""What commands must be told besides; the others one place or scenario."""

OF_A_TYPE = [
    (name, option.opts[0])
    for name in sorted(COMMANDS)
    for option in command_named(name).params
    if isinstance(option.type, WholeNumber | Positive | WordOf)
]


@pytest.mark.parametrize(("name", "option"), OF_A_TYPE)
def test_no_command_begins_with_a_value_that_it_cannot_read(name: str, option: str) -> None:
    words = [name, *LEAST.get(name, ("nowhere",)), option, "x"]
    result = CliRunner().invoke(main, words, env={"COLUMNS": "200"})
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert result.stderr.startswith(f"error: {option}: ")
    assert not result.stdout


def test_every_option_that_takes_numbers_or_words_has_a_type_of_ours() -> None:
    types = {type(option.type) for name in COMMANDS for option in command_named(name).params}
    assert types <= {WholeNumber, Seed, Positive, PlaceOf, WordOf, *NEVER_WRONG}
    assert types >= {WholeNumber, Seed, Positive, WordOf}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_begins_with_an_option_that_it_does_not_have(name: str) -> None:
    words = [name, *LEAST.get(name, ("nowhere",)), "--bogus"]
    result = CliRunner().invoke(main, words, env={"COLUMNS": "200"})
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    assert "\nError: No such option '--bogus'.\n" in result.stderr
    assert not result.stdout


IN_VAIN = {
    "run capacity": "--out or --export",
    "init --writers merge:1 --every '1 min' --takes '3 s'": "--out",
    "from-log nowhere": "--out",
    "calibrate nowhere": "--out or --save-samples",
}


@pytest.mark.parametrize("words", IN_VAIN)
def test_nothing_is_replaced_by_a_command_that_writes_nothing(words: str) -> None:
    result = CliRunner().invoke(main, [*shlex.split(words), "--overwrite"])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert f"error: --overwrite goes with {IN_VAIN[words]}\n" in result.stderr
    assert not result.stdout


def test_every_command_that_replaces_something_says_so_where_it_cannot() -> None:
    replacing = {
        name
        for name in COMMANDS
        for option in command_named(name).params
        if option.opts == ["--overwrite"] and not _has_a_place(name)
    }
    assert replacing == {words.split()[0] for words in IN_VAIN}


def _has_a_place(name: str) -> bool:
    """Whether a command writes somewhere though nobody says where."""
    (out,) = (option for option in command_named(name).params if option.opts == ["--out"])
    return isinstance(out.default, Path)


def test_nothing_is_replaced_in_python_by_a_run_that_writes_nothing() -> None:
    with pytest.raises(whitecap.InvalidInput, match=r"overwrite: (.|\n)*no writer 'elt'"):
        whitecap.run("capacity", overwrite=True, changes={"writers.elt.count": 3})


def test_help_is_given_though_the_scenario_is_missing() -> None:
    result = CliRunner().invoke(main, ["run", "--seed", "x", "-h"])
    assert (result.exit_code, result.stderr) == (ExitCode.FINE, "")
    assert "Simulate SCENARIO once" in result.stdout

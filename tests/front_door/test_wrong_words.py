"""Words that a command does not take, or lacks, are told whole, and hide nothing else."""

from __future__ import annotations

import shlex

import click
import pytest
from click.testing import CliRunner

from tests.front_door.test_everything_is_told_at_once import NOWHERE
from whitecap.cli import COMMANDS, command_named, main
from whitecap.exit_codes import ExitCode
from whitecap.options.types import PlaceOf

OPTIONS = {
    "run capacity --sed 4 --replication -1 --max-replications x": (
        "No such option '--sed'. Did you mean '--seed'?",
        "--replication: -1 is not between 0 and 1,000",
        "--max-replications: needs a whole number, not 'x'",
    ),
    'run capacity --bogus --out "" --export " "': ("--out: is empty", "--export: is empty"),
    'explain A B --table ""': ("'--table': is empty",),
    'check ""': ("is empty",),
    "run capacity --foo": ("No such option '--foo'.\n",),
    "run capacity -x -q": ("No such option '-x'.", "No such option '-q'."),
    "run capacity --overwrit=yes --sets a=1": ("mean '--overwrite'?", "mean '--set'?"),
    "run evnts --sed 3 --replication x --set a": (
        "No such option '--sed'. Did you mean '--seed'?",
        "--replication: needs a whole number, not 'x'",
        "--set a: is not PATH=VALUE",
        "evnts",
    ),
    "sweep capacity --bogus --axis partitionin --max-replications 1": (
        "No such option '--bogus'.",
        "no axis 'partitionin'",
        "--max-replications",
    ),
    "stores s4 --jsn": ("mean '--json'?", "s4"),
    "scenarios evnts --jsn": ("mean '--json'?", "evnts"),
    f"schema --makdown --out {NOWHERE}/a": ("mean '--markdown'?", f"{NOWHERE}/a: cannot be"),
    "oracle nowhere --jsn --spark": ("mean '--json'?", "--spark: runs statements", "nowhere:"),
    "run --bogus capacity --overwrite": ("No such option '--bogus'.\n",),
    "run": ("Missing argument 'SCENARIO'",),
    "run capacity events --seed": ("'--seed' requires an argument",),
    "run capacity events": ("unexpected extra argument (events)",),
    "plan --jobs 0": ("--jobs: 0 is not 1 or", "Missing option '--vary'", "argument 'SCENARIO'"),
    "plan evnts --objective 'foo > 1' --variant a --resume": (
        "Missing option '--vary'.",
        "--variant a: is not NAME:PATH=VALUE",
        "--resume: goes on with",
        "did you mean events?",
    ),
    "plan capacity --objective 'foo > 1'": (
        "Missing option '--vary'. What is varied: writers.etl.count=1..200, or",
        "'foo > 1' is no objective",
    ),
    "run --overwrit yes capacity": ("No such option '--overwrit'. Did you mean '--overwrite'?\n",),
    "plan --vary writers.etl.count=3 --resume": (
        "Missing argument 'SCENARIO'.",
        "--vary 'writers.etl.count=3': is not PATH=LOW..HIGH",
        "--resume: goes on with",
    ),
    f"run --set a --data --out {NOWHERE}": (
        "Missing argument 'SCENARIO'.",
        "--set a: is not PATH=VALUE",
        "--data goes with --export",
        f"{NOWHERE}: cannot be written",
    ),
    f"check --junit {NOWHERE} --sed": (
        "Missing argument 'PATHS...'.",
        "No such option '--sed'.",
        f"{NOWHERE}: cannot be written",
    ),
    "compare nowhere --measure aborts": (
        "Missing argument 'AFTER'.",
        "no measure 'aborts'",
        "nowhere: no such",
    ),
    "explain 'UPDAT t' 'DELETE FROM t' --conf a": (
        "Missing option '--table'. A table's YAML, a bundled one's name, or a Delta table's",
        "--conf needs KEY=VALUE",
        "statement A: 'UPDAT': no such statement",
    ),
    "run evnts capacity --set a": (
        "unexpected extra argument (capacity)",
        "--set a: is not PATH=VALUE",
        "did you mean events?",
    ),
    "run evnts --set a --seed 1 --seed": (
        "'--seed' requires an argument",
        "--set a: is not PATH=VALUE",
        "did you mean events?",
    ),
    "run evnts --quiet --quiet=yes": ("'--quiet' does not take a value", "did you mean events?"),
    "matrix --isolation Serialisable --pair UPDATE": (
        "'--pair' requires 2 arguments",
        "'Serializable'",
    ),
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


REQUIRED = {
    name: [each for each in command_named(name).params if each.required] for name in COMMANDS
}
"""What each command must be given."""


@pytest.mark.parametrize("name", [name for name, required in REQUIRED.items() if required])
def test_what_is_missing_is_all_that_is_told_of_a_command_without_words(name: str) -> None:
    result = CliRunner().invoke(main, [name], env={"COLUMNS": "200"})
    _usage, *said = result.stderr.split("\nError: ")
    assert result.exit_code == ExitCode.BAD_INPUT
    assert [line.split()[0] for line in said] == ["Missing"] * len(REQUIRED[name])


def test_every_option_that_names_a_place_tells_that_it_is_empty() -> None:
    for name in COMMANDS:
        for parameter in command_named(name).params:
            if isinstance(parameter.type, click.Path):
                assert isinstance(parameter.type, PlaceOf), (name, parameter.name)


def test_places_that_are_empty_are_told_with_all_else() -> None:
    words = ["run", "capacity", "--out", "", "--history", "", "--seed", "x"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert result.stderr.splitlines() == [
        "error: --out: is empty",
        "error: --history: is empty",
        "error: --seed: needs a whole number, not 'x'",
    ]

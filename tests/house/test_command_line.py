"""The front door: names, hints and exit codes that every command shares."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from whitecap import cli
from whitecap.engine.errors import InvalidInput, InvariantViolated, Problem
from whitecap.exit_codes import ExitCode, exit_code_of


def test_a_misspelt_command_is_answered_with_the_nearest_one() -> None:
    result = CliRunner().invoke(cli.main, ["swep", "x.yaml"])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "Did you mean 'sweep'?" in result.output


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_listed_command_exists_under_its_name(name: str) -> None:
    command = cli.command_named(name)
    assert isinstance(command, click.Command)
    assert command.name == name


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(cli.main, [name, "--help"])
    assert result.exit_code == ExitCode.FINE
    assert "Usage:" in result.output


def test_errors_say_whose_fault_they_are_by_exit_code() -> None:
    assert exit_code_of(InvalidInput([Problem("a", "b")])) is ExitCode.BAD_INPUT
    assert exit_code_of(InvariantViolated("x")) is ExitCode.INVARIANT_VIOLATED
    assert exit_code_of(RuntimeError("x")) is None


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_help_asks_for_numbers_plainly(name: str) -> None:
    help_text = CliRunner().invoke(cli.main, [name, "--help"], env={"COLUMNS": "80"}).output
    assert "RANGE" not in help_text
    assert "9223372036854775807" not in help_text
    assert max(map(len, help_text.splitlines())) <= 80


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_help_says_what_every_option_is_for(name: str) -> None:
    options = [each for each in cli.command_named(name).params if isinstance(each, click.Option)]
    assert [each.name for each in options if not each.help] == []


def test_a_word_that_is_like_no_command_is_answered_with_none() -> None:
    assert "Did you mean" not in CliRunner().invoke(cli.main, ["foo"]).output

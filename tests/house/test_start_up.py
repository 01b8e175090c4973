"""A command starts with what it needs, and nothing else is imported for it."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from whitecap import cli
from whitecap.cli import main
from whitecap.process import NEW_OBJECTS

ROOT = Path(__file__).parents[2]

NEVER_NEEDED = {
    "--help": ("numpy", "pyarrow", "sqlglot", "whitecap.sim", "yaml"),
    "explain --help": ("duckdb", "matplotlib", "numpy", "pyspark"),
    "run scenarios/events.yaml --quiet --set duration=20min": (
        "duckdb",
        "matplotlib",
        "pandas",
        "pyspark",
        "whitecap.sim.oracles.judging",
        "whitecap.sim.sweeps",
    ),
}
"""What is called -> modules that take a while to import, and that it has no use for."""


@pytest.mark.parametrize("command", NEVER_NEEDED)
def test_a_command_imports_nothing_that_it_has_no_use_for(command: str) -> None:
    code = (
        "import sys; from whitecap.cli import main; "
        f"ended = main({command.split()!r}, standalone_mode=False); "
        "print('\\n' + ' '.join(sys.modules)); sys.exit(ended)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    imported = done.stdout.splitlines()[-1].split()
    assert "whitecap.cli" in imported
    assert not set(NEVER_NEEDED[command]) & set(imported)


def test_searches_for_garbage_are_seldom_while_a_command_runs_and_as_before_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual, during = gc.get_threshold(), list[int]()
    noting = click.Command("dialects", callback=lambda: during.append(gc.get_threshold()[0]))
    monkeypatch.setattr(cli, "command_named", lambda name: noting)
    try:
        gc.set_threshold(NEW_OBJECTS - 1, *usual[1:])
        assert CliRunner().invoke(main, ["dialects"]).exit_code == 0
        assert (during, gc.get_threshold()[0]) == ([NEW_OBJECTS], NEW_OBJECTS - 1)
    finally:
        gc.set_threshold(*usual)

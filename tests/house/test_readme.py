"""The README promises commands and paths; each is tried here as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from whitecap.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

COMMANDS = re.findall(r"`whitecap ([^`]+)`", README)
TARGETS = sorted(set(re.findall(r"\bmake ([a-z]+)\b", README)))
LINKS = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
FOLDERS = re.findall(r"`((?:engine|sim|scenarios|reports|notebooks|whitecap)/[\w/.-]*)`", README)
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)

DEMO = ("sweep", "replay", "report")
NEEDS_SPARK = (*DEMO, "fuzz")
SHORTER = {
    "sweep": ["--replications", "1", "--axis", "isolation=WriteSerializable"],
    "replay": ["--transactions", "6"],
    "fuzz": ["--minutes", "0.01"],
    "sensitivity": ["--replications", "5"],
    "advise": ["--replications", "5"],
    "plan": ["--max-runs", "10", "--max-replications", "5"],
    "matrix": ["--pair", "UPDATE", "DELETE"],
}
"""What the test adds so that it takes seconds; everything else is as the README says it."""


def _arguments(command: str) -> list[str]:
    arguments = shlex.split(command)
    if arguments[0] == "explain":
        arguments[-2:] = [
            "UPDATE events SET amount = 0 WHERE date > '2010-01-01'",
            "DELETE FROM events WHERE date < '2010-01-01'",
        ]
    return arguments + SHORTER.get(arguments[0], [])


def _run(command: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scenarios", "tests"):
        link = directory / name
        if not link.exists():
            link.symlink_to(ROOT / name)
    monkeypatch.chdir(directory)
    result = CliRunner().invoke(main, _arguments(command))
    assert result.exit_code == 0, result.output


def _without_spark() -> list[str]:
    return [command for command in COMMANDS if command.split()[0] not in NEEDS_SPARK]


def test_the_readme_has_commands_paths_and_python_to_try() -> None:
    assert len(COMMANDS) >= 8
    assert {"demo", "test", "setup", "notebooks", "conformance"} <= set(TARGETS)
    assert LINKS
    assert FOLDERS
    assert PYTHON


@pytest.mark.parametrize("command", _without_spark())
def test_a_command_of_the_readme_does_what_it_says(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run(command, tmp_path, monkeypatch)


@pytest.mark.spark
def test_sweep_replay_and_report_of_the_readme_work_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = {name: position for position, name in enumerate(DEMO)}
    commands = [command for command in COMMANDS if command.split()[0] in order]
    for command in sorted(commands, key=lambda text: order[text.split()[0]]):
        _run(command, tmp_path, monkeypatch)
    assert (tmp_path / "out/events/report/report.html").is_file()
    assert (tmp_path / "out/events/replay/agreement.json").is_file()


@pytest.mark.spark
def test_the_fuzz_of_the_readme_finds_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (command,) = [command for command in COMMANDS if command.startswith("fuzz")]
    _run(command, tmp_path, monkeypatch)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("path", sorted({*LINKS, *FOLDERS}))
def test_a_path_of_the_readme_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("target", TARGETS)
def test_a_make_target_of_the_readme_exists(target: str) -> None:
    plan = subprocess.run(
        ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert plan.returncode == 0, plan.stderr


def test_the_demo_is_made_of_the_commands_that_the_readme_names() -> None:
    plan = subprocess.run(
        ["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in DEMO:
        assert f"whitecap {name} " in plan.stdout


@pytest.mark.parametrize("code", PYTHON)
def test_the_python_of_the_readme_runs(
    code: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert "Concurrent" in capsys.readouterr().out

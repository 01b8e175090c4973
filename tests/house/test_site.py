"""The documentation is a site in which every link leads somewhere; what tutorials say is tried."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.sim.loading import load_scenario

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = [DOCS / "quick-start.md", *sorted((DOCS / "tutorials").glob("*.md"))]
OF_THE_READERS = "PATH"
"""Stands in commands for what only the reader has."""

SHORTER = {
    "plan": ["--max-runs", "10", "--max-replications", "5"],
    "sweep": ["--replications", "1", "--engine", "processes"],
    "chaos": ["--runs", "1"],
}
"""What the test adds so that a command takes seconds."""

FINDS = {"oracle": {3}, "chaos": {0, 1}}
"""Exit codes of commands that look for what is wrong."""


def _commands(page: Path) -> list[str]:
    lines = re.findall(r"^    whitecap (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return [line.split(" #")[0] for line in lines if OF_THE_READERS not in line.split()]


def _output(command: str) -> str:
    command, _, file = command.partition(" > ")
    arguments = shlex.split(command)
    result = CliRunner().invoke(main, arguments + SHORTER.get(arguments[0], []))
    assert result.exit_code in FINDS.get(arguments[0], {0}), result.output
    if file:
        Path(file).write_text(result.stdout, encoding="utf-8")
    return result.stdout


def _words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_commands_of_a_tutorial_work_one_after_another_and_say_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = _commands(page)
    said = _words(" ".join(_output(command) for command in commands))
    assert commands
    if not any(command.startswith("plan ") for command in commands):
        for block in re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            assert _words(block) in said


def test_what_the_tutorial_expects_of_its_scenario_can_be_expected() -> None:
    text = (DOCS / "tutorials" / "who-stops-whom.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(expect:.*?)```", text, re.DOTALL)
    (expected,) = load_scenario("events", yaml.safe_load(block)).expect
    assert expected.when["isolation"] == "WriteSerializable"


def test_the_site_is_built_and_every_link_in_it_leads_somewhere(tmp_path: Path) -> None:
    places = [f"SITE_SOURCE={tmp_path / 'source'}", f"SITE={tmp_path / 'site'}"]
    built = subprocess.run(
        ["make", "docs", "-o", "setup", f"BIN={Path(sys.executable).parent}", *places],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    assert "Largest" in (tmp_path / "site/docs/tutorials/how-many-writers.html").read_text()
    commands = (tmp_path / "site/docs/reference/commands.html").read_text()
    assert "--max-runs" in commands
    for default_of_nothing in ("None", "UNSET", "N/A"):
        assert default_of_nothing not in commands
    assert "max_replications" in (tmp_path / "site/docs/reference/python.html").read_text()


def test_every_page_stands_in_the_contents_of_the_site() -> None:
    contents = (DOCS / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [*DOCS.rglob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    missing = [
        str(page.relative_to(ROOT)) for page in pages if str(page.relative_to(ROOT)) not in contents
    ]
    assert not missing

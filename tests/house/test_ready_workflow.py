"""The workflow and the container file of docs/ci do what they promise: their shell steps, in order,
in a fresh environment, as a runner would call them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.expectations.test_check import MET
from tests.house.fresh_environments import ROOT, new_environment
from whitecap.exit_codes import ExitCode

WORKFLOW = yaml.safe_load((ROOT / "docs" / "ci" / "whitecap.yml").read_text())
CONTAINER = (ROOT / "docs" / "ci" / "Containerfile").read_text()
(JOB,) = WORKFLOW["jobs"].values()
STEPS = {step["name"]: step["run"] for step in JOB["steps"] if "run" in step}
INSTALL, CHECK, SHOW = STEPS

BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")
"""As GitHub runs a step, but for the file that it writes it to."""

SCENARIO = MET.replace("at_least: 1", "at_least: 1, exactly: true")
OFFLINE = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_IGNORE_INSTALLED": "1"}


def _step(name: str, where: Path, environment: Mapping[str, str]) -> Any:
    return subprocess.run(
        [*BASH, STEPS[name]], cwd=where, env=dict(environment), capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a runner, with Whitecap installed by the workflow's own step."""
    folder = tmp_path_factory.mktemp("runner")
    new_environment(folder / "venv")
    path = f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}"
    variables = {
        **{name: str(value) for name, value in WORKFLOW["env"].items()},
        **OFFLINE, "PATH": path, "HOME": str(folder), "WHITECAP": str(wheel),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }  # fmt: skip
    installed = _step(INSTALL, folder, variables)
    assert installed.returncode == 0, installed.stderr
    assert installed.stdout.startswith("whitecap, version ")
    assert (folder / "venv" / "bin" / "whitecap").is_file()
    return variables


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "tiny.yaml").write_text(SCENARIO)
    return tmp_path


def test_the_steps_pass_without_a_baseline_and_show_what_was_checked(
    repository: Path, environment: dict[str, str]
) -> None:
    checked = _step(CHECK, repository, environment)
    assert checked.returncode == ExitCode.FINE, checked.stderr
    assert (repository / "out" / "whitecap.xml").is_file()
    assert _step(SHOW, repository, environment).returncode == 0
    summary = Path(environment["GITHUB_STEP_SUMMARY"]).read_text()
    assert "### Whitecap: 1 ok" in summary


def test_what_got_worse_fails_the_step_with_an_annotation_and_a_comment(
    repository: Path, environment: dict[str, str]
) -> None:
    update = "whitecap check scenarios --baseline baseline.json --update-baseline"
    subprocess.run(
        [*BASH, update], cwd=repository, env=environment, check=True, capture_output=True
    )
    assert json.loads((repository / "baseline.json").read_text())["scenarios"]
    slower = SCENARIO.replace("rate: 4 per min", "rate: 1 per min")
    (repository / "scenarios" / "tiny.yaml").write_text(slower)
    checked = _step(CHECK, repository, environment)
    assert checked.returncode == ExitCode.WORSE, checked.stdout + checked.stderr
    assert "::error file=scenarios/tiny.yaml,line=1,title=tiny%3A worse::goodput" in checked.stdout
    assert "- **worse**: goodput" in (repository / "out" / "comment.md").read_text()


def test_the_container_installs_and_starts_whitecap(wheel: Path, tmp_path: Path) -> None:
    (install,) = re.findall(r"^RUN (.+)$", CONTAINER, re.MULTILINE)
    (entry,) = re.findall(r"^ENTRYPOINT (.+)$", CONTAINER, re.MULTILINE)
    (arguments,) = re.findall(r"^CMD (.+)$", CONTAINER, re.MULTILINE)
    new_environment(tmp_path / "venv")
    variables = {
        **OFFLINE, "PATH": f"{tmp_path / 'venv' / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path), "WHITECAP": str(wheel),
    }  # fmt: skip
    built = subprocess.run(["sh", "-c", install], env=variables, capture_output=True, text=True,
                           check=False)  # fmt: skip
    assert built.returncode == 0, built.stderr
    started = subprocess.run(
        [str(tmp_path / "venv" / "bin" / json.loads(entry)[0]), *json.loads(arguments)],
        env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert started.returncode == 0
    assert "Usage: whitecap" in started.stdout


def test_the_comment_that_the_workflow_looks_for_is_the_one_that_is_written() -> None:
    script = next(step for step in JOB["steps"] if "script" in step.get("with", {}))
    assert "body.split('\\n')[0]" in script["with"]["script"]
    assert "out/comment.md" in script["with"]["script"]
    assert "--markdown out/comment.md" in STEPS[CHECK]

"""For users there is one package, `whitecap`, whatever folders lie in their working directory."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.house.fresh_environments import ROOMS, ROOT, new_environment

FIRST_USE = "import whitecap; run = whitecap.run('mine.yaml'); print(len(run.transactions) > 0)"
EXIT = "raise SystemExit('a folder of the user was imported')\n"


def _built_from() -> set[str]:
    """The packages that the folders of the checkout hold, by their name under `whitecap`."""
    packages = {
        path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        for room in (*ROOMS, "whitecap")
        for path in (ROOT / room).rglob("__init__.py")
    }
    return {name if name.split(".")[0] == "whitecap" else f"whitecap.{name}" for name in packages}


def test_every_package_of_the_checkout_is_named_for_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert set(settings["packages"]) == _built_from()
    assert settings["package-dir"] == {f"whitecap.{room}": room for room in ROOMS}


def test_the_links_that_type_checkers_and_editors_read_point_at_the_rooms() -> None:
    for room in ROOMS:
        assert os.readlink(ROOT / "whitecap" / room) == f"../{room}"


def test_a_wheel_holds_nothing_beside_whitecap(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"whitecap"}
    assert "whitecap/scenarios/events.yaml" in names
    assert "whitecap/reports/templates/report.html" in names


@pytest.fixture(scope="module")
def fresh_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel; dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("environment")
    python = new_environment(folder)
    install = ["install", "--quiet", "--no-deps", "--no-index", "--prefix", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", *install, "--ignore-installed", str(wheel)], check=True
    )
    return python


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A working directory whose own modules have the names of Whitecap's rooms."""
    for package in ("reports", "sim", "scenarios"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(EXIT)
    (tmp_path / "engine.py").write_text(EXIT)
    scenario = ROOT / "scenarios" / "regression" / "concurrent-append.yaml"
    (tmp_path / "mine.yaml").write_text(scenario.read_text())
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["-c", FIRST_USE],
        ["-c", "import whitecap; print(whitecap.figures, whitecap.explain, True)"],
        ["-m", "whitecap", "--version"],
        ["-m", "whitecap", "run", "mine.yaml"],
        ["-m", "whitecap", "check", "mine.yaml"],
        ["-m", "whitecap", "run", "late-commit"],
        ["-m", "whitecap", "check", "late-commit", "--replications", "1"],
        ["-m", "whitecap", "explain", "--table", "merge-and-optimize"],
        ["-m", "whitecap", "scenarios", "events"],
        ["-m", "whitecap", "dialects"],
    ],
)
def test_an_installed_wheel_works_in_a_directory_with_folders_of_the_same_names(
    words: list[str], fresh_python: Path, hostile: Path
) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [fresh_python, *words],
        cwd=hostile, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()

"""Which Spark and Delta Lake an environment can play, and that all who name them agree."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.conformance.seen import SEEN
from whitecap.engine.dialects import dialect_named
from whitecap.sim.replay.real import environment
from whitecap.sim.replay.real.environment import EnvironmentMissing
from whitecap.sim.replay.real.releases import INSTALLED, OLDER, Release, release_here

ROOT = Path(__file__).parents[2]


def _with_packages(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    installed = {name.replace("_", "-"): version for name, version in versions.items()}

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", version)


def test_the_project_installs_the_release_that_it_was_checked_against() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = [f"pyspark=={INSTALLED.spark}", f"delta-spark=={INSTALLED.delta}"]
    assert project["optional-dependencies"]["spark"] == pinned


@pytest.mark.parametrize("release", OLDER, ids=str)
def test_make_gives_an_older_release_an_environment_and_plays_its_cases(release: Release) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"'pyspark=={release.spark}' 'delta-spark=={release.delta}'" in makefile
    assert any(case.dialect == release.dialect for case in SEEN)


@pytest.mark.parametrize("release", [INSTALLED, *OLDER], ids=str)
def test_the_rules_of_a_release_are_of_its_dialect(release: Release) -> None:
    names = f"Apache-Spark/{release.spark} Delta-Lake/{release.delta}"
    assert dialect_named(release.dialect).engine_info == names


@pytest.mark.parametrize("release", [INSTALLED, *OLDER], ids=str)
def test_the_release_here_is_that_of_the_installed_spark(
    monkeypatch: pytest.MonkeyPatch, release: Release
) -> None:
    _with_packages(monkeypatch, pyspark=release.spark, delta_spark=release.delta)
    assert release_here() is release
    environment.require_delta()


def test_without_a_spark_that_can_be_played_the_projects_own_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _with_packages(monkeypatch)
    assert release_here() is INSTALLED
    _with_packages(monkeypatch, pyspark="3.5.1", delta_spark="3.3.2")
    with pytest.raises(EnvironmentMissing, match=f"pyspark 3.5.1 .* {INSTALLED.spark} is needed"):
        environment.require_delta()


def test_an_older_spark_makes_no_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    (older,) = OLDER
    _with_packages(monkeypatch, pyspark=older.spark)
    with pytest.raises(EnvironmentMissing, match=f"{INSTALLED.spark} is needed"):
        environment.require_spark()

"""The locked versions: what Whitecap runs with, and besides that what its developers need."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

LOCKS = Path(__file__).parents[2] / ".ci"
BUILDS = "setuptools"
OLDEST = "3.11.0"
"""Python that Whitecap promises to run on; Debian 12 has 3.11.2."""


def _locked(name: str) -> dict[str, str]:
    lines = (LOCKS / name).read_text(encoding="utf-8").split()
    pairs = (line.partition("==") for line in lines if "==" in line)
    return {canonicalize_name(package): version for package, _, version in pairs}


def _needed(package: str, extras: frozenset[str], seen: set[str]) -> Iterator[str]:
    """What an installed package needs, with all that this needs."""
    asked = {"", *extras}
    for line in distribution(package).requires or []:
        wanted = Requirement(line)
        name = canonicalize_name(wanted.name)
        applies = wanted.marker is None or any(wanted.marker.evaluate({"extra": e}) for e in asked)
        if applies and name not in seen:
            seen.add(name)
            yield name
            yield from _needed(name, frozenset(wanted.extras), seen)


def test_the_demo_is_set_up_with_what_whitecap_and_spark_need_and_no_tools() -> None:
    needed = {BUILDS, *_needed("whitecap", frozenset({"spark"}), set())}
    tools = set(_needed("whitecap", frozenset({"dev", "docs", "notebooks"}), set())) - needed
    locked = set(_locked("run.lock"))
    assert needed <= locked
    assert not locked & tools


def test_nothing_is_locked_twice_and_all_of_it_is_installed() -> None:
    run, others = _locked("run.lock"), _locked("requirements.lock")
    assert not set(run) & set(others)
    assert "-r run.lock" in (LOCKS / "requirements.lock").read_text(encoding="utf-8")
    installed = {name: distribution(name).version for name in {**run, **others}}
    assert installed == {**run, **others}


def test_what_is_locked_can_be_installed_on_the_oldest_python() -> None:
    locked = {**_locked("run.lock"), **_locked("requirements.lock")}
    needed = {name: distribution(name).metadata["Requires-Python"] or "" for name in locked}
    assert OLDEST in SpecifierSet(distribution("whitecap").metadata["Requires-Python"])
    assert not {name: asked for name, asked in needed.items() if OLDEST not in SpecifierSet(asked)}

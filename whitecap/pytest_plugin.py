"""Scenarios as tests of pytest: collected where their name or the configuration says so.

Files called `*.whitecap.yaml` are tests; others are left alone, unless they state an `expect:` and
lie below one of the `whitecap_paths` of the configuration. pytest loads this module in every
session of an environment that has Whitecap, so everything else is imported when a test is run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem

ENDING = ".whitecap.yaml"

PATHS = "whitecap_paths"

REPLICATIONS = "--whitecap-replications"


class NotAsExpected(Exception):
    """What a scenario missed, in words."""


class _AsTheyAre(MetaPathFinder):
    """Finds Whitecap's modules before pytest does.

    pytest compiles every module of whoever has a plugin anew, with its assertions rewritten, which
    takes longer than a small scenario in a fresh environment (_pytest/config/__init__.py:
    _mark_plugins_for_rewrite).
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module lies; others than ours are left to the finders after this one."""
        if not fullname.startswith("whitecap."):
            return None
        return PathFinder.find_spec(fullname, path, target)


sys.meta_path.insert(0, _AsTheyAre())


def pytest_addoption(parser: pytest.Parser) -> None:
    """The configuration and options of scenarios."""
    parser.addini(PATHS, "folders whose scenarios with an `expect:` are tests", "paths", [])
    group = parser.getgroup("whitecap", "scenarios of Whitecap")
    group.addoption(
        "--whitecap-baseline", type=Path, metavar="FILE",
        help="compare scenarios with this baseline, which `whitecap check` writes",
    )  # fmt: skip
    group.addoption(
        REPLICATIONS, type=int, metavar="N",
        help="runs of each cell, instead of the sweep's or 5",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Raises `pytest.UsageError` with all that would leave scenarios untested, or do nothing."""
    count: int | None = config.getoption(REPLICATIONS)
    missing = [folder for folder in config.getini(PATHS) if not folder.is_dir()]
    if count is not None or missing:
        _require(count, missing)


def _require(count: int | None, missing: Sequence[Path]) -> None:
    from whitecap.engine.errors import InvalidInput, gathered, noted
    from whitecap.sim.quantities.bounds import MAX_REPLICATIONS
    from whitecap.sim.quantities.whole_numbers import whole_or_none

    try:
        with gathered() as problems:
            with noted(problems):
                whole_or_none(REPLICATIONS, count, 1, MAX_REPLICATIONS)
            problems += [_no_folder(folder) for folder in missing]
    except InvalidInput as error:
        raise pytest.UsageError(str(error)) from None


def _no_folder(path: Path) -> Problem:
    from whitecap.engine.errors import Problem, nearest

    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    names = [each.name for each in beside if each.is_dir()]
    return Problem(PATHS, f"{path} is no folder", nearest(path.name, names))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """A scenario, if this file is meant to be one."""
    if file_path.name.endswith(ENDING) or _is_below_configured(file_path, parent.config):
        made: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
        return made
    return None


def _is_below_configured(path: Path, config: pytest.Config) -> bool:
    if path.suffix not in (".yaml", ".yml"):
        return False
    folders = [folder.resolve() for folder in config.getini(PATHS)]
    if not any(folder in path.resolve().parents for folder in folders):
        return False
    return any(line.startswith(b"expect:") for line in path.read_bytes().splitlines())


class ScenarioFile(pytest.File):
    """A scenario's file: one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """The test, which runs the scenario."""
        yield ScenarioTest.from_parent(self, name="check")


class ScenarioTest(pytest.Item):
    """Runs every cell of a scenario and holds it to what it expects, and to the baseline."""

    def runtest(self) -> None:
        """Raises `NotAsExpected` with everything that is not as it should be."""
        from whitecap.checking import check_scenarios
        from whitecap.checking.against import against
        from whitecap.checking.scenarios import compared_with
        from whitecap.reports.checks.findings import Severity, check_findings
        from whitecap.sim.sweeps.regression import RunEffort

        baseline: Path | None = self.config.getoption("--whitecap-baseline")
        count: int | None = self.config.getoption(REPLICATIONS)
        compared = None
        if baseline is not None:
            compared = against(baseline, update=False, replications=count)
        (result,) = check_scenarios(
            [self.path],
            RunEffort(replications=count),
            accept=None if compared is None else compared.accept,
        )
        if compared is not None:
            result = compared_with(result, compared.changes)
        findings = check_findings(result.checked)
        wrong = [str(each) for each in findings if each.severity is Severity.ERROR]
        if wrong:
            raise NotAsExpected("\n".join(wrong))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was missed, or wrong with the file, without a traceback through Whitecap."""
        from whitecap.engine.errors import InvalidInput

        if isinstance(excinfo.value, NotAsExpected | InvalidInput):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """What it is called above its failure."""
        return self.path, None, f"scenario {self.path.name}"

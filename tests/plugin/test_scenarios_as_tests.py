"""The pytest plugin: which files are tests, what a failure says, and that others are left alone."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from tests.expectations.test_check import MET, MISSED
from whitecap.checking.against import against
from whitecap.checking.scenarios import check_scenarios
from whitecap.sim.sweeps.regression import RunEffort

pytest_plugins = ["pytester"]

QUICK = ("-p", "whitecap.pytest_plugin", "-p", "no:cacheprovider", "--whitecap-replications", "2")
FEW = MET.replace("at_least: 1", "at_least: 1, exactly: true")
FEWER = FEW.replace("rate: 4 per min", "rate: 1 per min")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a test of its own, a scenario that is a test, and YAML of other kinds."""
    pytester.makepyfile(test_own="def test_own(): pass")
    (pytester.path / "tiny.whitecap.yaml").write_text(FEW)
    (pytester.path / "deployment.yaml").write_text("kind: Deployment\nexpect: nothing\n")
    (pytester.path / "plain.yaml").write_text(FEW)
    return pytester


def _run(project: pytest.Pytester, *words: str) -> pytest.RunResult:
    """In this process, where the plugin is loaded by its name or by its entry point."""
    loaded = any(each.name == "whitecap" for each in entry_points(group="pytest11"))
    quick = QUICK[2:] if loaded else QUICK
    return project.runpytest_inprocess(*quick, *words)


def test_scenarios_by_their_ending_are_tests_and_other_yaml_is_not(
    project: pytest.Pytester,
) -> None:
    result = _run(project, "-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*tiny.whitecap.yaml::check PASSED*"])
    result.stdout.no_fnmatch_line("*plain.yaml*")
    result.stdout.no_fnmatch_line("*deployment.yaml*")


def test_configured_folders_give_all_their_scenarios_with_expectations(
    project: pytest.Pytester,
) -> None:
    project.makeini("[pytest]\nwhitecap_paths = scenarios")
    folder = project.mkdir("scenarios")
    (folder / "deep").mkdir()
    (folder / "deep" / "a.yaml").write_text(FEW)
    (folder / "b.yaml").write_text(MET.partition("expect:")[0])
    (folder / "latin.yaml").write_bytes("kind: gr\u00fcn\n".encode("latin-1"))
    result = _run(project, "-v", "--collect-only")
    result.stdout.fnmatch_lines(["*a.yaml*"])
    result.stdout.no_fnmatch_line("*b.yaml*")
    result.stdout.no_fnmatch_line("*<ScenarioFile plain.yaml>*")


def test_a_failure_says_what_was_missed_and_no_more(project: pytest.Pytester) -> None:
    (project.path / "tiny.whitecap.yaml").write_text(MISSED)
    result = _run(project)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*missed: conflict_rate is *expected at most 0.1 %*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*def runtest*")


def test_what_is_wrong_with_a_file_fails_its_test_alone(project: pytest.Pytester) -> None:
    (project.path / "tiny.whitecap.yaml").write_text(FEW.replace("store: instant", "store: instnt"))
    (project.path / "empty.whitecap.yaml").write_text("")
    result = _run(project)
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*did you mean 'instant'*"])
    result.stdout.fnmatch_lines(["*empty.whitecap.yaml*is not a scenario*"])


def test_what_cannot_be_meant_is_told_before_any_test(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nwhitecap_paths = scenario missing")
    project.mkdir("scenarios")
    result = _run(project, "--whitecap-replications", "0")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*--whitecap-replications: 0 is not between 1 and 1,000",
            "*whitecap_paths: *scenario is no folder (did you mean 'scenarios'?)",
            "*whitecap_paths: *missing is no folder",
        ]
    )


def test_with_a_baseline_what_got_worse_fails(project: pytest.Pytester) -> None:
    scenario = project.path / "tiny.whitecap.yaml"
    compared = against(project.path / "b.json", update=True)
    results = list(check_scenarios([scenario], RunEffort(replications=5), accept=compared.accept))
    compared.path.write_text(compared.updated(results).text)
    words = ("--whitecap-baseline", "b.json", "--whitecap-replications", "5")
    _run(project, *words).assert_outcomes(passed=2)
    scenario.write_text(FEWER)
    result = _run(project, *words)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["worse: goodput *"])


def test_loading_the_plugin_loads_nothing_else_of_whitecap() -> None:
    code = (
        "import sys, whitecap.pytest_plugin as _;"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('whitecap', 'pandas', 'yaml')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['whitecap', 'whitecap.pytest_plugin']"


def test_pytest_compiles_no_module_of_ours_anew_but_the_plugin() -> None:
    """It rewrites assertions in all modules of whoever has a plugin, hundreds of them here."""
    ours = {name: each for name, each in sys.modules.items() if name.startswith("whitecap.")}
    rewritten = [
        n for n, each in ours.items() if isinstance(each.__loader__, AssertionRewritingHook)
    ]
    assert "whitecap.checking.scenarios" in ours
    assert rewritten == ["whitecap.pytest_plugin"]

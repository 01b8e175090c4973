"""A check as others show it: pull-request comments, annotations; and one that ran out of time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.command_line import invoked
from tests.expectations.test_check import MET, MISSED
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.reports.checks.annotations import annotation
from whitecap.reports.checks.findings import CheckFinding, Severity
from whitecap.reports.checks.markdown import MARKER, ScenarioCheck, check_markdown
from whitecap.reports.expectations.checked import CheckResult
from whitecap.sim.machine.processes import Processes
from whitecap.sim.sweeps.regression import RunEffort, run_expecting

AT_ONCE = 1e-9
"""Minutes that are over before anything is run."""


check = partial(invoked, "check", "--jobs", 1)


@pytest.fixture
def missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "scenarios" / "strict.yaml"
    path.parent.mkdir()
    path.write_text(MISSED)
    return path


def test_a_comment_has_a_table_and_what_was_missed(missed: Path) -> None:
    (missed.parent / "tiny.yaml").write_text(MET)
    check("scenarios", "--markdown", "out/comment.md")
    lines = Path("out", "comment.md").read_text().splitlines()
    assert lines[0] == MARKER
    assert lines[1] == "### Whitecap: 1 ok, 1 missed, 0 undecided, 0 broken"
    assert "| `tiny` | ok | 1 met |" in lines
    assert "| `strict` | **missed** | 1 met, 1 missed |" in lines
    assert any(line.startswith("- **missed**: conflict\\_rate is ") for line in lines)


def test_what_markdown_would_take_for_its_own_is_escaped() -> None:
    broken = CheckResult((), error="a <b> | c\nd *e*")
    text = check_markdown([ScenarioCheck("x", "a_b.yaml", broken)], "1 broken")
    assert "- **broken**: a \\<b\\> \\| c<br>d \\*e\\*" in text
    assert "(a\\_b.yaml)" in text


def test_an_annotation_stands_at_the_line_of_its_expectation(missed: Path) -> None:
    result = check("scenarios", "--annotations")
    line = 1 + missed.read_text().splitlines().index(
        "  - {measure: conflict_rate, at_most: 0.001, because: nobody likes conflicts}"
    )
    (said,) = [each for each in result.stdout.splitlines() if each.startswith("::")]
    where = f"::error file=scenarios/strict.yaml,line={line},title=strict%3A missed::"
    assert said.startswith(f"{where}conflict_rate is ")
    assert "0.1 %25" in said


def test_a_bundled_scenario_has_no_file_to_be_shown_at() -> None:
    assert annotation(CheckFinding(Severity.NOTICE, "better", "x"), "a,b", None) == (
        "::notice title=a%2Cb%3A better::x"
    )
    assert annotation(CheckFinding(Severity.ERROR, "broken", "x\ny: 3 %"), "a", "b.yaml", 3) == (
        "::error file=b.yaml,line=3,title=a%3A broken::x%0Ay: 3 %25"
    )


def test_json_names_a_cell_as_a_comparison_does(missed: Path) -> None:
    axes = "sweep:\n  axes: {rest: {short: {}, long: {warm_up: 1 min}}}\n"
    missed.write_text(MISSED + axes)
    expected = json.loads(check("scenarios", "--json").stdout)["scenarios"][0]["expectations"]
    assert {each["cell"] for each in expected} == {"rest = short", "rest = long"}


@pytest.mark.usefixtures("missed")
def test_out_of_time_is_no_success_and_says_what_was_not_judged() -> None:
    arguments = ["--minutes", AT_ONCE, "--junit", "j.xml", "--markdown", "c.md", "--annotations"]
    result = check("scenarios", *arguments)
    assert result.exit_code == ExitCode.OUT_OF_TIME, result.output
    assert "unjudged  scenarios/strict.yaml  (the time was up before" in result.stdout
    assert "::error file=scenarios/strict.yaml,line=1,title=strict%3A not judged::" in result.stdout
    assert result.stdout.splitlines()[-1].endswith("1 unjudged")
    assert ET.parse("j.xml").getroot().get("errors") == "1"
    assert "**not judged**: the time was up" in Path("c.md").read_text()
    document = json.loads(check("scenarios", "--minutes", AT_ONCE, "--json").stdout)
    assert document["counts"]["unjudged"] == 1
    assert document["scenarios"][0]["unjudged"].startswith("the time was up")


@pytest.mark.usefixtures("missed")
def test_time_enough_changes_nothing() -> None:
    result = check("scenarios", "--minutes", 60, "--replications", 2)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output


def test_what_was_judged_before_the_time_was_up_is_told(
    missed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second scenario's first run ends the time."""
    (missed.parent / "a-tiny.yaml").write_text(MET)
    made = []

    def stopping(
        self: Processes, function: Callable[[object], object], items: list[object]
    ) -> Iterator[object]:
        for item in items:
            self._refuse_if_stopped()
            yield function(item)
            made.append(item)
            if len(made) == 2 + 2 + 1:  # both files loaded, two runs of the first, one more
                end_now[0]()

    end_now: list[Callable[[], object]] = []

    class Timer:
        def __init__(self, _: float, end: Callable[[], object]) -> None:
            end_now.append(end)

        daemon = True

        def start(self) -> None: ...

        def cancel(self) -> None: ...

    monkeypatch.setattr(Processes, "map", stopping)
    monkeypatch.setattr("threading.Timer", Timer)
    result = check("scenarios", "--minutes", 9, "--replications", 2)
    verdicts = [line.split()[0] for line in result.stdout.splitlines() if ".yaml" in line]
    assert verdicts == ["ok", "unjudged"], result.output
    assert result.exit_code == ExitCode.OUT_OF_TIME


def test_bad_input_is_told_although_the_time_is_up(missed: Path) -> None:
    missed.write_text(MISSED.replace("store: instant", "store: instnt"))
    with pytest.raises(InvalidInput, match="instnt"):
        list(run_expecting([missed], lambda *_: None, RunEffort(seconds=0.0)))

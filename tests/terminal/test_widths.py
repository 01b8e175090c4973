"""What commands print is readable at 60, 80 and 200 columns: nothing wider, nothing cut."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.command_line import invoked
from tests.matrix.matrices import published_matrix
from tests.reports.synthetic_recordings import made_up_subject
from tests.sim.sim_worlds import INSERT, document
from whitecap.engine.races.matrix.document import matrix_document
from whitecap.engine.rules import ConflictException
from whitecap.reports.answers.of_runs import answer_of_subject
from whitecap.reports.measures import Unit, written
from whitecap.sim.replay.agreement import Agreement, ComparedTransaction, Comparison
from whitecap.sim.replay.playing.script import End, TransactionResult
from whitecap.terminal.agreement import show_agreement, show_compared
from whitecap.terminal.console import new_console
from whitecap.terminal.matrix import show as show_matrix
from whitecap.terminal.sweep_result import show_sweep

ROOT = Path(__file__).parents[2]

WIDTHS = [60, 80, 200]
EXCEPTIONS = [exception.value for exception in ConflictException]


STEMS = {name.removesuffix("Exception") for name in EXCEPTIONS}


def _printed(width: int, *arguments: object) -> str:
    return invoked(*arguments, columns=width).stdout


def _is_readable(text: str, width: int) -> None:
    """No line is too wide, no value ends in three dots, no name of an exception in its middle."""
    lines = text.splitlines()
    assert lines
    assert max(map(len, lines)) <= width, max(lines, key=len)
    assert "…" not in text
    for word in re.findall(r"\bConcurrent\w+", text):
        assert word.removesuffix("Exception") in STEMS


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_is_readable_and_says_how_many_were_submitted_and_aborted(
    width: int, tmp_path: Path
) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(warm_up="1 min")))
    text = _printed(width, "run", path)
    _is_readable(text, width)
    shown = json.loads(_printed(width, "run", path, "--json"))
    for line in shown["writers"]:
        assert f"{line['submitted']:,}" in text
        assert f"{line['aborted']:,}" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_an_explanation_is_readable(width: int) -> None:
    for name in ("merge-and-optimize", "update-and-delete-unpartitioned"):
        table = ROOT / "scenarios" / "explain" / f"{name}.yaml"
        _is_readable(_printed(width, "explain", "--table", table), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_dialects_is_readable(width: int) -> None:
    _is_readable(_printed(width, "dialects"), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_sweep_is_readable_and_names_every_cell(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    axes = {"partitioning": ["by date and region"], "mergers": ["2", "12"]}
    subject = made_up_subject(tmp_path / "sweep", axes)
    monkeypatch.setenv("COLUMNS", str(width))
    show_sweep(subject, answer_of_subject(subject))
    text = capsys.readouterr().out
    _is_readable(text, width)
    for cell in subject.layout.cells:
        assert subject.layout.title(cell.name) in " ".join(text.split())


@pytest.mark.parametrize(("width", "costs_fit"), [(80, True), (100, False), (200, True)])
def test_a_sweep_with_a_price_is_readable_and_says_what_its_answer_costs(
    width: int,
    costs_fit: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Costs as columns where they fit, or where rows are stacked; what the answer names costs is
    told in any case."""
    axes = {"partitioning": ["by date", "none"], "mergers": ["2", "12"]}
    price = {"per_slot_hour": 0.5, "currency": "EUR"}
    subject = made_up_subject(tmp_path / "sweep", axes, price=price)
    answer = answer_of_subject(subject)
    monkeypatch.setenv("COLUMNS", str(width))
    show_sweep(subject, answer)
    text = capsys.readouterr().out
    _is_readable(text, width)
    words = " ".join(text.split())
    assert f"{subject.layout.title(answer.cell)}: At 0.5 EUR per slot-hour: " in words
    assert "Costs in EUR." in words
    table, _, below = words.partition("Over all replications")
    costs = subject.tables.of("cost_per_month")
    for cell in subject.layout.cells:
        assert (written(costs[cell.name].point, Unit.MONEY) in table) is costs_fit
    assert ("cost a month" in below) is not costs_fit


@pytest.mark.parametrize("with_witnesses", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_matrix_is_readable(
    width: int,
    with_witnesses: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    show_matrix(matrix_document(published_matrix("delta-oss-4.4")), with_witnesses)
    _is_readable(capsys.readouterr().out, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_case_that_does_not_hold_is_readable(width: int, tmp_path: Path) -> None:
    cases = json.loads((ROOT / "tests/conformance/cases/transactions.json").read_text())
    case = next(c for c in cases if c["expect"]["result"] == "ConcurrentAppendException")
    case["expect"] |= {"result": "ConcurrentWriteException", "error_class": "some words " * 20}
    (tmp_path / "cases.json").write_text(json.dumps([case]))
    text = _printed(width, "conformance", tmp_path / "cases.json")
    assert f"FAILED {case['id']}" in text
    _is_readable(text, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_replay_is_readable_and_says_which_version_was_committed(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    aborted = TransactionResult(End.ABORTED, exception="ConcurrentDeleteReadException")
    compared = ComparedTransaction(
        "transaction 1234", "MERGE", 5, Comparison.MISMATCH, "another exception", aborted,
        TransactionResult(End.COMMITTED, version=123_456),
    )  # fmt: skip
    monkeypatch.setenv("COLUMNS", str(width))
    show_compared(new_console(), compared)
    show_agreement(Agreement({}, (compared,)))
    text = capsys.readouterr().out
    _is_readable(text, width)
    assert "version 123456" in " ".join(text.split())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_check_that_is_missed_is_readable_and_says_why_it_matters(
    width: int, tmp_path: Path
) -> None:
    path = tmp_path / "small.yaml"
    because = "the corrector and the loaders write different partitions and never meet"
    expect = [
        {"measure": "aborted", "exception": EXCEPTIONS[0], "at_least": 9_999, "because": because}
    ]
    path.write_text(yaml.safe_dump(document(expect=expect)))
    text = _printed(width, "check", path, "--jobs", 1)
    missed = [line for line in text.splitlines() if line.startswith("        ")]
    assert missed
    assert max(map(len, missed)) <= width
    assert because in " ".join(text.split())


def test_the_terminal_lists_groups_from_1_to_12(tmp_path: Path) -> None:
    groups = {f"region-{number}": INSERT for number in range(1, 13)}
    path = tmp_path / "many.yaml"
    path.write_text(yaml.safe_dump(document(writers=groups)))
    text = invoked("run", path).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("region-")]
    listed = [row[0] for row in rows if row[1] == "INSERT"]
    assert listed == list(groups)

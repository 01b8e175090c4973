"""What users hit: every scenario under scenarios/field shows it, and every situation is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whitecap.checking import check_scenarios
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario

FIELD = sorted((SCENARIOS / "field").glob("*.yaml"))
DOCUMENT = (Path(__file__).parents[2] / "docs" / "field.md").read_text(encoding="utf-8")
ROWS = {
    cells[0]: cells
    for line in DOCUMENT.splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split("|")])[0].startswith("C")
}
IDS = [f"C{number:02}" for number in range(1, 53)]
LINK = re.compile(r"\[c\d\d\]\(\.\./scenarios/field/(c\d\d-[\w-]+\.yaml)\)")
HEAD = ("# thread ", "# reported ", "# workaround ", "# shows ", "# simplified ")
OTHER_ENGINES = ("delta-rs", "RisingWave")


@pytest.mark.parametrize("path", FIELD, ids=lambda path: path.stem)
def test_a_field_scenario_shows_what_was_reported_and_what_helped(path: Path) -> None:
    (result,) = check_scenarios([path])
    assert result.checked.error is None
    assert result.checked.judged
    assert [f"{where}{each}" for where, each in result.checked.judged if not each.is_met] == []


@pytest.mark.parametrize("path", FIELD, ids=lambda path: path.stem)
def test_its_variants_are_told_apart(path: Path) -> None:
    scenario = load_scenario(path)
    assert scenario.sweep is not None
    cells = scenario.sweep.cells()
    for cell in cells:
        assert any(e.when and e.when.items() <= cell.items() for e in scenario.expect), cell
    assert len(cells) > 1


@pytest.mark.parametrize("path", FIELD, ids=lambda path: path.stem)
def test_its_head_names_thread_report_workaround_and_simplifications(path: Path) -> None:
    head = path.read_text(encoding="utf-8").partition("\nname: ")[0]
    assert all(line.startswith("#") for line in head.splitlines())
    for part in HEAD:
        assert f"\n{part}" in f"\n{head}", part
    assert "https://" in head


@pytest.mark.parametrize("path", FIELD, ids=lambda path: path.stem)
def test_it_is_named_after_its_file(path: Path) -> None:
    assert load_scenario(path).name == path.stem


def test_all_situations_are_listed_once_and_in_order() -> None:
    assert list(ROWS) == IDS
    assert DOCUMENT.count("\n| C") == len(IDS)


@pytest.mark.parametrize("identifier", IDS)
def test_each_situation_has_a_file_or_a_reason(identifier: str) -> None:
    _, situation, file_or_reason, shows = ROWS[identifier]
    assert situation
    linked = LINK.fullmatch(file_or_reason)
    if linked is not None:
        assert (SCENARIOS / "field" / linked[1]) in FIELD
        assert linked[1].startswith(identifier.lower())
        assert shows
    else:
        assert file_or_reason.startswith("left out: ")
        assert any(engine in file_or_reason for engine in OTHER_ENGINES)


def test_every_file_is_listed() -> None:
    assert sorted(LINK.findall(DOCUMENT)) == [path.name for path in FIELD]

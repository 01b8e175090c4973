"""The named failures: each scenario under scenarios/failures shows its damage and its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.checking import check_scenarios
from whitecap.reports.expectations.checked import CheckVerdict
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario

FAILURES = sorted((SCENARIOS / "failures").glob("*.yaml"))
PAGE = Path(__file__).parents[2] / "docs" / "failures.md"


@pytest.mark.parametrize("path", FAILURES, ids=lambda path: path.stem)
def test_a_failure_shows_its_damage_and_its_remedy(path: Path) -> None:
    (result,) = check_scenarios([path])
    assert result.checked.error is None
    assert [str(each) for _, each in result.checked.judged if not each.is_met] == []
    assert result.checked.verdict is CheckVerdict.OK


@pytest.mark.parametrize("path", FAILURES, ids=lambda path: path.stem)
def test_some_cell_is_without_what_another_expects(path: Path) -> None:
    """Damage beside its remedy: two cells of which something different is expected."""
    expected = load_scenario(path, cells=False).expect
    said: dict[tuple[str, str | None], set[str]] = {}
    for each in expected:
        about = (each.measure.value, each.writer)
        said.setdefault(about, set()).add(f"{each.at_least} {each.at_most} {each.equals}")
    assert any(len(several) > 1 for several in said.values())


def test_the_page_names_every_scenario_and_every_failure() -> None:
    text = PAGE.read_text()
    assert all(f"../scenarios/failures/{path.name}" in text for path in FAILURES)
    assert all(f"| F{number} |" in text for number in range(1, 16))

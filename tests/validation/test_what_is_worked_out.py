"""What `make validate` holds the simulator to, in short."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.validation import laws
from benchmarks.validation.backoff import ALGORITHMS
from benchmarks.validation.backoff_table import PUBLISHED, contests, estimates
from benchmarks.validation.closed_forms import ClosedForm, closed_forms
from benchmarks.validation.free_run import HEADING, KEPT, read_result
from benchmarks.validation.lost_commits import searches
from benchmarks.validation.metamorphic import changes
from tests.validation.backoff_reference import reference
from whitecap.reports.statistics import mean

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"

REPLICATIONS, LENGTH, CONFIDENCE = 6, 0.25, 0.999


def _of_each_law() -> list[ClosedForm]:
    """The first scenario of each law."""
    first: dict[str, ClosedForm] = {}
    for form in closed_forms():
        first.setdefault(form.law, form)
    return list(first.values())


@pytest.mark.parametrize("form", _of_each_law(), ids=lambda form: form.name)
def test_a_scenario_comes_to_what_is_worked_out(form: ClosedForm) -> None:
    simulated = form.simulated(REPLICATIONS, CONFIDENCE, LENGTH)
    assert form.holds(simulated), (form.expected, simulated)


def test_a_law_that_is_off_by_an_eighth_does_not_hold() -> None:
    form = next(form for form in closed_forms() if form.law == "1 - 1/Q(N), Ramanujan's Q")
    wrong = replace(form, expected=form.expected * 9 / 8)
    assert not wrong.holds(wrong.simulated(REPLICATIONS, CONFIDENCE, LENGTH))


def test_laws_have_the_values_that_others_worked_out() -> None:
    assert laws.ramanujan_q(10) == pytest.approx(3.6602, abs=5e-5)
    assert laws.ramanujan_q(100) == pytest.approx(12.21, abs=5e-5)
    aborts = [laws.exponential_windows(load) for load in (0.1, 0.5, 1, 2, 5, 10)]
    assert aborts == pytest.approx([0.0871, 0.2911, 0.4180, 0.5443, 0.6864, 0.7692], abs=5e-5)
    assert laws.distinct_partitions(20, 8) == pytest.approx(7.446, abs=5e-4)
    assert laws.time_in_system(0.8) == pytest.approx(3.0)
    assert laws.given_up(1.0, 1) == pytest.approx(0.3996, abs=5e-5)


@pytest.mark.parametrize("clients", [3, 10, 50])
def test_contests_come_out_as_in_the_published_simulator(clients: int) -> None:
    held = list(contests([clients], 100))
    assert {each.algorithm for each in held} == set(ALGORITHMS)
    for each in held:
        assert each.holds, (each.algorithm, each.calls, each.time_ms, each.published)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_contests_of_other_sizes_come_out_as_in_a_simulator_of_its_own(algorithm: str) -> None:
    ended = [reference(23, algorithm, seed) for seed in range(150)]
    calls, times_ms = estimates(23, algorithm, 150)
    others = mean([float(count) for count, _ in ended], exposure=1, confidence=0.99)
    others_ms = mean([ms for _, ms in ended], confidence=0.99)
    assert calls.point == pytest.approx(others.point, rel=0.03)
    assert calls.low <= others.high
    assert others.low <= calls.high
    assert times_ms.low <= others_ms.high
    assert others_ms.low <= times_ms.high


def test_the_simulator_of_its_own_comes_to_the_published_figures_too() -> None:
    calls = mean([float(reference(50, "full jitter", seed)[0]) for seed in range(100)])
    assert calls.point == pytest.approx(PUBLISHED[50]["full jitter"][0], rel=0.02)


def test_what_must_follow_from_a_change_follows() -> None:
    failed = [change for change in changes(5, 0.2) if not change.holds]
    assert not failed


def test_a_commit_is_lost_without_put_if_absent_and_never_with_it() -> None:
    for search in searches():
        assert search.is_as_it_must_be, search
    assert any(search.finds_a_lost_commit for search in searches(writers=2))


def test_the_committed_page_is_of_the_checks_that_there_are_and_all_that_is_computed_holds() -> (
    None
):
    text, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    assert all(f"| {form.name} | `{form.law}` |" in text for form in closed_forms())
    assert all(
        f"| {clients} | {algorithm} |" in text for clients in PUBLISHED for algorithm in ALGORITHMS
    )
    assert "**no**" not in text
    assert (PAGE.parent / "images" / "validation.svg").is_file()


def test_the_committed_page_names_every_share_of_the_free_run_that_is_outside_its_range() -> None:
    _, _, free_run = PAGE.read_text(encoding="utf-8").partition(HEADING)
    result = read_result(KEPT)
    assert free_run.count("**no**") == len(result.missed)
    assert all(
        f"{phase.title}, {compared.predicted.quantity}" in free_run
        for phase, compared in result.missed
    )

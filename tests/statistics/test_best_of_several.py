"""The best against all others: how often equals are told apart, and how often the better found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.statistics.simulation import THOROUGH, noise, short_of, slack
from whitecap.reports.statistics import Estimate, compare_with_best, greatest_of, mean, share
from whitecap.reports.statistics.moderation import UNKNOWN, Prior, prior_of

Numbers = np.ndarray[Any, np.dtype[np.float64]]

pytestmark = pytest.mark.simulated


def named(values: Numbers) -> dict[str, Estimate]:
    """One candidate per row."""
    return {str(place): mean(row, least=-math.inf) for place, row in enumerate(values)}


def called_worse(values: Numbers) -> int:
    """How many are said to be distinguishable from the best-looking one."""
    comparison = compare_with_best(named(values), higher_is_better=True)
    assert comparison is not None
    return len(comparison.worse)


def sets_for(candidates: int) -> int:
    """Fewer of many, which take longer."""
    whole = 600 if candidates <= 6 else 150
    return whole if candidates == 2 else short_of(whole)


@pytest.mark.parametrize("replications", [5, 10, 30])
@pytest.mark.parametrize("candidates", [2, 3, 6, 18])
def test_of_equals_few_are_told_apart_although_the_best_was_chosen_by_looking(
    candidates: int, replications: int
) -> None:
    """In one half of the cases all vary alike, in the other the last four times the first."""
    random = np.random.default_rng([12, candidates, replications])
    sets = sets_for(candidates)
    deviations = np.linspace(1, 4, candidates)[:, None]
    false = 0
    for which in range(sets):
        own = random.standard_normal((candidates, replications))
        common = random.standard_normal(replications)
        false += called_worse(common + own * (deviations if which % 2 else 1.0)) > 0
    assert false / sets <= 0.05 + noise(sets)


@pytest.mark.parametrize(
    ("candidates", "replications", "better_by", "least"),
    [
        (2, 5, 3, 0.9), (6, 5, 2, 0.35), (6, 5, 3, 0.8), (6, 10, 2, 0.85), (18, 5, 3, 0.65),
        (18, 10, 2, 0.65), (18, 30, 1, 0.45),
    ],
)  # fmt: skip
def test_the_one_that_is_better_is_told_from_the_others(
    candidates: int, replications: int, better_by: float, least: float
) -> None:
    """By so many standard deviations of a replication: the share of the others that are found."""
    random = np.random.default_rng([13, candidates, replications, int(better_by)])
    detected = 0.0
    for _ in range(60):
        values = random.standard_normal((candidates, replications))
        values[0] += better_by
        detected += called_worse(values) / (candidates - 1)
    assert detected / 60 >= least


@pytest.mark.parametrize("replications", [5, 10])
@pytest.mark.parametrize(("candidates", "whole"), [(3, 300), (6, 150)])
def test_equal_shares_are_seldom_told_apart_either(
    candidates: int, whole: int, replications: int
) -> None:
    random = np.random.default_rng([14, candidates, replications])
    sets, false = short_of(whole), 0
    for which in range(sets):
        shares = random.beta(2.5, 47.5, (candidates, replications)) if which % 2 else 0.05
        events = random.binomial(200, shares, (candidates, replications))
        estimates = {str(i): share(row, [200] * replications) for i, row in enumerate(events)}
        comparison = compare_with_best(estimates, higher_is_better=False)
        assert comparison is not None
        false += bool(comparison.worse)
    assert false / sets <= 0.07 + slack(whole)


def test_every_pair_has_one_verdict_and_the_interval_says_the_same() -> None:
    values = np.random.default_rng(15).standard_normal((6, 8)) + np.arange(6)[:, None]
    comparison = compare_with_best(named(values), higher_is_better=True)
    assert comparison is not None
    assert comparison.best == "5"
    assert set(comparison.alike) | set(comparison.worse) == {"0", "1", "2", "3", "4"}
    for name, gap in comparison.differences.items():
        assert (name in comparison.worse) == (gap.low > 0 or gap.high < 0)


def test_the_level_is_that_of_all_pairs_because_any_might_have_looked_best() -> None:
    values = np.random.default_rng(16).standard_normal((6, 8))
    comparison = compare_with_best(named(values), higher_is_better=True)
    assert comparison is not None
    assert comparison.pairs == 15
    levels = {round(gap.confidence, 6) for gap in comparison.differences.values()}
    assert levels == {round(1 - 0.05 / 15, 6)}


def test_the_nearest_come_first_and_lower_may_be_better() -> None:
    values = {"a": mean([3.0, 4, 5, 3, 4]), "b": mean([1.0, 2, 1, 2, 1]), "c": mean([2.0] * 5)}
    comparison = compare_with_best(values, higher_is_better=False)
    assert comparison is not None
    assert (comparison.best, list(comparison.differences)) == ("b", ["c", "a"])


def test_what_has_no_value_is_not_compared() -> None:
    values = {"a": mean([3.0, 4.0]), "b": mean([None, None]), "c": mean([1.0, 2.0])}
    comparison = compare_with_best(values, higher_is_better=True)
    assert comparison is not None
    assert list(comparison.differences) == ["c"]
    assert compare_with_best({"a": values["a"], "b": values["b"]}, higher_is_better=True) is None


def test_with_one_replication_all_are_alike() -> None:
    comparison = compare_with_best({"a": mean([9.0]), "b": mean([1.0])}, higher_is_better=True)
    assert comparison is not None
    assert comparison.alike == ("b",)


def test_variances_that_differ_by_chance_alone_are_taken_for_one() -> None:
    random = np.random.default_rng(17)
    chance = list(4.0 * random.chisquare(4, 15) / 4)
    assert prior_of(chance, 4, 16).freedom > 8
    assert prior_of([v * 10**i for i, v in enumerate(chance)], 4, 16).freedom < 1
    assert prior_of([1.0, 1.0, 1.0], 4, 4) == Prior(4, 1.0)
    assert prior_of([1.0], 4, 0) == UNKNOWN


@pytest.mark.parametrize("common", [0.0, 2.0])
@pytest.mark.parametrize("replications", [5, 10])
@pytest.mark.parametrize("candidates", [2, 3, 6, 18])
def test_it_is_told_by_how_much_the_best_of_equals_looks_better_than_it_is(
    candidates: int, replications: int, common: float
) -> None:
    """The truth is 0. Numbers that all share move every candidate alike and flatter none. In one
    set of twenty equals are told apart, and nothing is said then."""
    random = np.random.default_rng([18, candidates, replications, int(common)])
    own = random.standard_normal((20_000, candidates, replications)).mean(axis=2)
    flattered = []
    for _ in range(sets_for(candidates) // 2):
        shared = common * random.standard_normal(replications)
        values = shared + random.standard_normal((candidates, replications))
        comparison = compare_with_best(named(values), higher_is_better=True)
        assert comparison is not None
        flattered.append(comparison.flattered_by)
    rel = 0.1 if THOROUGH else 0.2
    assert np.mean(flattered) == pytest.approx(own.max(axis=1).mean(), rel=rel)


def test_what_stands_apart_is_flattered_by_nothing() -> None:
    values = np.random.default_rng(19).standard_normal((4, 10))
    values[0] += 20
    comparison = compare_with_best(named(values), higher_is_better=True)
    assert comparison is not None
    assert comparison.flattered_by == 0.0
    values[1] += 20
    comparison = compare_with_best(named(values), higher_is_better=True)
    assert comparison is not None
    assert 0 < comparison.flattered_by < 0.5


def test_of_shares_too_it_is_about_what_is_seen() -> None:
    random = np.random.default_rng(20)
    flattered, real = [], []
    for _ in range(200):
        events = random.binomial(200, 0.05, (4, 6))
        estimates = {str(i): share(row, [200] * 6) for i, row in enumerate(events)}
        comparison = compare_with_best(estimates, higher_is_better=False)
        assert comparison is not None
        flattered.append(comparison.flattered_by)
        real.append(0.05 - estimates[comparison.best].point)
    assert np.mean(flattered) == pytest.approx(np.mean(real), rel=0.2)


@pytest.mark.parametrize(
    ("of", "mean_of_greatest"), [(1, 0.0), (2, 0.5642), (3, 0.8463), (18, 1.8200)]
)
def test_the_greatest_of_several_normal_numbers(of: int, mean_of_greatest: float) -> None:
    """Two and three: 1 and 1.5 over the root of pi; 18: Tippett's table (1925)."""
    assert greatest_of(of) == pytest.approx(mean_of_greatest, abs=1e-3)

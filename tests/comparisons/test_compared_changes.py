"""What is called worse, what is not, and how often that is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.comparisons.two_sides import ETL, side
from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.changes import (
    ChangeVerdict,
    MeasureChange,
    MeasureChanges,
    changes_between,
)
from whitecap.reports.comparisons.sides import Side
from whitecap.reports.comparisons.wording import change_text, counts_text, notes_of
from whitecap.reports.measures.stored import WHOLE
from whitecap.reports.measures.tally import Count
from whitecap.reports.precision.asked import asked_for

QUIET, BUSY = [10, 12, 11, 9, 10], [30, 33, 29, 31, 34]


def between(then: Side, now: Side, *tolerate: str, paired: bool = True) -> MeasureChanges:
    """Both as scenarios without a sweep."""
    tolerated = asked_for(tolerate, option="tolerate")
    return changes_between({"": then}, {"": now}, paired=paired, tolerated=tolerated)


def of(changes: MeasureChanges, measure: Measure = Measure.CONFLICT_RATE) -> MeasureChange:
    (change,) = (each for each in changes.each if each.measure is measure)
    return change


def test_what_is_the_same_in_every_replication_is_neither_worse_nor_unsure() -> None:
    changes = between(side(QUIET, [50] * 5), side(QUIET, [50] * 5))
    assert counts_text(changes) == "3 comparisons the same"
    assert changes.compared == 0
    assert not changes.is_worse


def test_latencies_that_differ_by_the_rounding_of_instants_are_the_same() -> None:
    """They are differences of instants, which are rounded otherwise at another hour."""
    then, now = (side(QUIET, latencies=[[16_700.0 + by]] * 5) for by in (0.0, 2.1e-10))
    assert of(between(then, now), Measure.LATENCY_P95_MS).verdict is ChangeVerdict.SAME
    later = side(QUIET, latencies=[[16_700.001]] * 5)
    assert of(between(then, later), Measure.LATENCY_P95_MS).verdict is not ChangeVerdict.SAME


@pytest.mark.parametrize("paired", [True, False])
def test_where_nothing_is_measured_on_either_side_there_is_nothing_to_compare(paired: bool) -> None:
    idle = side([0] * 5, latencies=[[]] * 5)
    changes = between(idle, idle, paired=paired)
    assert of(changes, Measure.LATENCY_P95_MS).verdict is ChangeVerdict.SAME


def test_commits_that_are_lost_where_none_were_are_told_however_few() -> None:
    then, now = side(QUIET), side(QUIET)
    lost = {r: Count(count) for r, count in enumerate([0, 0, 1, 0, 0])}
    broken = Side({WHOLE: {**now.groups[WHOLE], Measure.LOST_COMMITS: lost}}, now.digest)
    changes = between(then, broken)
    assert not changes.is_worse
    assert "lost commits where there were none before" in notes_of(changes)
    assert "lost commits where there were none before" not in notes_of(between(broken, broken))


@pytest.mark.parametrize("paired", [True, False])
def test_more_conflicts_are_worse_and_fewer_are_better(paired: bool) -> None:
    worse = of(between(side(QUIET), side(BUSY), paired=paired))
    better = of(between(side(BUSY), side(QUIET), paired=paired))
    assert (worse.verdict, better.verdict) == (ChangeVerdict.WORSE, ChangeVerdict.BETTER)
    assert worse.difference.point == pytest.approx(0.21)


def test_less_goodput_is_worse_although_the_number_fell() -> None:
    changes = between(side(QUIET, [50, 52, 49, 51, 50]), side(QUIET, [30, 31, 29, 30, 32]))
    assert of(changes, Measure.GOODPUT_PER_MINUTE).verdict is ChangeVerdict.WORSE


def test_a_little_by_chance_is_not_told_apart() -> None:
    change = of(between(side(QUIET), side([12, 10, 9, 12, 11])))
    assert change.verdict is ChangeVerdict.ALIKE


def test_pairs_show_what_whole_numbers_of_replications_hide() -> None:
    """Replications that scatter widely, each a little slower than before."""
    then = side(QUIET, [100, 300, 500, 200, 400])
    now = side(QUIET, [91, 290, 492, 189, 390])
    paired, apart = between(then, now), between(then, now, paired=False)
    assert of(paired, Measure.GOODPUT_PER_MINUTE).verdict is ChangeVerdict.WORSE
    assert of(apart, Measure.GOODPUT_PER_MINUTE).verdict is ChangeVerdict.ALIKE


def test_what_is_tolerated_is_told_and_is_not_worse() -> None:
    assert of(between(side(QUIET), side(BUSY), "conflict_rate +- 10 points")).verdict is (
        ChangeVerdict.WORSE
    )
    changes = between(side(QUIET), side(BUSY), "conflict_rate +- 25 points")
    assert of(changes).verdict is ChangeVerdict.TOLERATED
    assert not changes.is_worse
    relative = between(side(QUIET, [50, 52, 49, 51, 50]), side(QUIET, [30, 31, 29, 30, 32]),
                       "goodput +- 60 %")  # fmt: skip
    assert of(relative, Measure.GOODPUT_PER_MINUTE).verdict is ChangeVerdict.TOLERATED


def test_lost_commits_are_worse_from_the_first_on() -> None:
    now = side(QUIET)
    (group,) = now.groups
    lost = {r: Count(1) for r in range(5)}
    damaged = Side({group: {**now.groups[group], Measure.LOST_COMMITS: lost}}, "a")
    assert of(between(side(QUIET), damaged), Measure.LOST_COMMITS).verdict is ChangeVerdict.WORSE


def test_one_replication_says_nothing() -> None:
    changes = between(side([10]), side([90]))
    assert of(changes).verdict is ChangeVerdict.UNKNOWN
    assert "one replication" in " ".join(notes_of(changes))


def test_only_replications_of_both_are_paired() -> None:
    changes = between(side(QUIET), side([*BUSY, 12, 13, 14]))
    assert changes.replications == 5
    assert of(changes).now.replications == 5


def test_cells_and_writers_of_one_side_are_told_and_not_compared() -> None:
    changes = changes_between(
        {"a": side(QUIET), "b": side(QUIET, of=ETL)},
        {"b": side(QUIET), "c": side(QUIET)},
        paired=True,
    )
    assert changes.each == ()
    assert changes.only_then == ("a", "writers etl · MERGE")
    assert notes_of(changes)[0].startswith("no longer there, and not compared: a; writers etl")


def test_another_scenario_is_told() -> None:
    changes = between(side(QUIET, digest="a"), side(QUIET, digest="b"))
    assert notes_of(changes) == ["the scenario is another one than before"]


def test_a_change_is_a_sentence_with_both_values_and_the_interval() -> None:
    change = of(between(side(QUIET, of=ETL), side(BUSY, of=ETL)))
    text = change_text(change)
    assert text.startswith("conflict rate of etl · MERGE 10.4 % → 31.4 %, +21.0 points (+")
    assert text.endswith(" points)")


def test_each_interval_has_the_level_of_all_that_differ() -> None:
    alone = between(side(QUIET), side(BUSY))
    several = between(side(QUIET, [5] * 5), side(BUSY, [5, 5, 6, 5, 5]))
    assert (alone.compared, several.compared) == (1, 2)
    widths = [of(each).difference.high - of(each).difference.low for each in (alone, several)]
    assert widths[0] < widths[1]


def test_without_a_change_a_false_alarm_is_rare_however_much_is_compared() -> None:
    """Four cells with conflicts and goodput, drawn anew on both sides from the same truth."""
    random = np.random.default_rng(8)
    sets, alarms = 300, 0
    for _ in range(sets):
        then, now = (
            {
                str(cell): side(
                    random.binomial(100, 0.2, 6).tolist(), random.poisson(60, 6).tolist()
                )
                for cell in range(4)
            }
            for _ in range(2)
        )
        alarms += changes_between(then, now, paired=True).is_worse
    assert alarms / sets <= 0.05 + 0.025, alarms


def test_a_verdict_follows_from_the_interval_alone() -> None:
    change = of(between(side(QUIET), side(BUSY)))
    wider = replace(change, difference=replace(
        change.difference, low=-0.1))  # fmt: skip
    assert wider.verdict is ChangeVerdict.ALIKE

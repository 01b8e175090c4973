"""Adding a measure: its name in the contract, and a definition that says all there is to say."""

from __future__ import annotations

import pytest

from tests.reports.synthetic_recordings import tables_of
from whitecap.engine.recorded import OF_ABORTS, Measure, Unit
from whitecap.reports.measures import MEASURES, PRICED, REPORTED
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.sample import MeasureSample, TransactionColumns
from whitecap.reports.measures.tally import (
    Count,
    CountedShare,
    Latencies,
    PerJob,
    PerMinute,
    PerMonth,
    WeightedShare,
)
from whitecap.reports.measures.writing import tick, written


def test_every_measure_has_one_definition_and_no_other_has() -> None:
    assert list(MEASURES) == [definition.measure.value for definition in MEASURES.values()]
    assert set(MEASURES) == {measure.value for measure in Measure}


@pytest.mark.parametrize("measure", Measure)
def test_it_has_a_title_a_meaning_and_words_for_its_axis(measure: Measure) -> None:
    definition = MEASURES[measure]
    assert isinstance(definition.unit, Unit)
    assert definition.title[0].isupper()
    assert not definition.meaning[0].islower()
    assert definition.meaning.endswith(".")
    assert definition.axis
    assert definition.axis == definition.axis.lower()


def test_titles_and_meanings_tell_measures_apart() -> None:
    for words in ("title", "meaning"):
        said = [getattr(definition, words) for definition in MEASURES.values()]
        assert len(set(said)) == len(said)


@pytest.mark.parametrize("unit", Unit)
def test_values_of_every_unit_can_be_written(unit: Unit) -> None:
    assert written(0.5, unit)
    assert tick(1.0, unit)
    assert written(float("nan"), unit) == "n/a"


def test_latencies_are_percentiles_and_nothing_else_is() -> None:
    milliseconds = {measure for measure in Measure if measure.unit is Unit.MILLISECONDS}
    assert set(PERCENTILES) == milliseconds


@pytest.mark.parametrize("measure", Measure)
def test_it_is_counted_as_its_unit_says(measure: Measure) -> None:
    sample = MeasureSample.of(TransactionColumns.of(tables_of([])["transactions"]), 0.0, 60_000.0)
    kinds: dict[Unit, set[type]] = {
        Unit.COUNT: {Count},
        Unit.ROWS: {Count},
        Unit.SHARE: {CountedShare, WeightedShare},
        Unit.PER_MINUTE: {PerMinute},
        Unit.SLOT_HOURS: {PerMonth},
        Unit.MONEY: {PerMonth, PerJob},
        Unit.MILLISECONDS: {Latencies},
    }
    assert type(MEASURES[measure].tally(sample)) is MEASURES[measure].kind
    assert MEASURES[measure].kind in kinds[measure.unit]


def test_counts_of_aborts_are_counts_or_shares() -> None:
    assert {measure.unit for measure in OF_ABORTS} == {Unit.COUNT, Unit.SHARE}


def test_a_report_shows_rates_and_latencies_not_counts() -> None:
    shown = {measure for measure in Measure if not measure.unit.is_counted}
    assert {*REPORTED, *PRICED} == shown

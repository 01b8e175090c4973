"""A duration that we write can be read again, as what it was."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whitecap.sim.quantities.units import (
    MAX_DURATION_MS,
    MS_PER,
    about,
    parse_duration,
    show_duration,
)


@given(st.integers(0, int(MAX_DURATION_MS)))
@example(int(1.5152e9))
def test_whole_milliseconds_are_written_as_they_are(duration_ms: int) -> None:
    assert parse_duration(show_duration(duration_ms)) == pytest.approx(duration_ms, rel=1e-12)


@given(st.floats(0, MAX_DURATION_MS))
@example(1234567.8)
def test_others_are_written_to_six_digits(duration_ms: float) -> None:
    assert parse_duration(show_duration(duration_ms)) == pytest.approx(duration_ms, rel=1e-5)


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [
        (300_000, "5 min"),
        (43_536 * MS_PER["s"], "725.6 min"),
        (1.5152e9, "1515200 s"),
        (1_234_567, "1234.567 s"),
        (0.25, "0.25 ms"),
        (0, "0 ms"),
    ],
)
def test_the_largest_unit_with_at_most_three_decimals_is_taken(
    duration_ms: float, text: str
) -> None:
    assert show_duration(duration_ms) == text


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [
        (49_603_271, "13.8 h"),
        (90_061, "1.5 min"),
        (12_345, "12.3 s"),
        (999.6, "1000 ms"),
        (0.123_4, "0.123 ms"),
        (0, "0 ms"),
    ],
)
def test_how_far_something_is_takes_three_digits_of_its_largest_unit(
    duration_ms: float, text: str
) -> None:
    assert about(duration_ms) == text

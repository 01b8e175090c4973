"""Many quantiles of the normal distribution at once are those that each would be alone."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whitecap.sim.quantities.normal import standard_normal

QUANTILE = NormalDist().inv_cdf


@given(st.lists(st.floats(min_value=2.0**-53, max_value=1 - 2.0**-53), min_size=1, max_size=50))
def test_each_has_the_very_bits_that_it_has_alone(ranks: list[float]) -> None:
    assert standard_normal(np.array(ranks)).tolist() == [QUANTILE(rank) for rank in ranks]


def test_so_it_is_over_the_whole_range_and_in_any_shape() -> None:
    ranks = (np.arange(200_000) + 0.5) / 200_000
    quantiles = standard_normal(ranks.reshape(400, 500))
    assert quantiles.shape == (400, 500)
    assert quantiles.ravel().tolist() == [QUANTILE(rank) for rank in ranks.tolist()]


def test_the_bounds_of_the_middle_belong_to_it() -> None:
    ranks = [0.075, np.nextafter(0.075, 0), 0.925, np.nextafter(0.925, 1), 0.5]
    assert standard_normal(np.array(ranks)).tolist() == [QUANTILE(float(rank)) for rank in ranks]

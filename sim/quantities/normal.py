"""Quantiles of the standard normal distribution, many at a time.

Its middle, where 17 of 20 ranks lie, is Wichura's rational approximation (algorithm AS 241, Applied
Statistics 37, 1988) in the order of operations of `statistics.NormalDist.inv_cdf`, and its tails
are that: each quantile has the very bits that it would have by itself.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MIDDLE: Final = 0.425
"""So far from the median the first of AS 241's three approximations reaches."""

_NUMERATOR: Final = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608,
)  # fmt: skip
_DENOMINATOR: Final = (
    5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0,
)  # fmt: skip
"""Of `.180625 - q * q`, where `q` is a rank less a half; the highest power first."""

_quantile_of_one = NormalDist().inv_cdf


def standard_normal(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """The quantiles with these ranks, which lie in (0, 1); an array of the same shape."""
    from_median = ranks - 0.5
    power = 0.180625 - from_median * from_median
    quantiles: NDArray[np.float64] = (
        np.polyval(_NUMERATOR, power) * from_median / np.polyval(_DENOMINATOR, power)
    )
    tails = np.abs(from_median) > _MIDDLE
    quantiles[tails] = [_quantile_of_one(rank) for rank in ranks[tails].tolist()]
    return quantiles

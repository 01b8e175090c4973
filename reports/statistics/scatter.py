"""How likely a design effect makes the scatter of replications: log likelihoods, over that of 1.

Replications are along the last axis of `events` and `units`; what is possible (a share of units
that are `alike`, a design effect) along the last axis of the result, in the place of replications.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from whitecap.reports.arrays import FloatArray


def beta_binomial(
    events: FloatArray, units: FloatArray, share: FloatArray, alike: FloatArray
) -> FloatArray:
    """Of shares that differ between replications by a beta distribution (Williams 1975).

    `alike` is the correlation of two units of a replication. Knows that few events scatter
    unevenly. Counts need not be whole.
    """
    size = (1 - alike) / alike
    some, others = share[..., None] * size, (1 - share)[..., None] * size
    apart = betaln(
        events[..., None] + some[..., None, :], (units - events)[..., None] + others[..., None, :]
    )
    together = events * np.log(share)[..., None] + (units - events) * np.log1p(-share)[..., None]
    likelihood: FloatArray = (apart - betaln(some, others)[..., None, :] - together[..., None]).sum(
        -2
    )
    return likelihood


def normal_clusters(squares: FloatArray, units: FloatArray, alike: FloatArray) -> FloatArray:
    """Of normal deviations, whose variance grows with a replication's size: `squares` over it."""
    variance = 1 + np.maximum(units - 1, 0)[..., None] * alike[..., None, :]
    seen = np.where(units > 0, 1.0, 0.0)[..., None]
    likelihood: FloatArray = (
        -seen * np.log(variance) / 2 - squares[..., None] / 2 * (1 / variance - 1)
    ).sum(-2)
    return likelihood


def normal_alike(squares: FloatArray, freedom: FloatArray, effects: FloatArray) -> FloatArray:
    """Of a sum of squared normal deviations of which `freedom` are free."""
    likelihood: FloatArray = (
        -freedom[..., None] * np.log(effects) - squares[..., None] * (1 / effects - 1)
    ) / 2
    return likelihood


def squared_deviations(events: FloatArray, units: FloatArray, share: FloatArray) -> FloatArray:
    """Of each replication from the common share, over the variance of independent units."""
    deviations = events - share[..., None] * units
    expected = np.maximum(units, 1e-9) * (share * (1 - share))[..., None]
    squares: FloatArray = np.square(deviations) / expected
    return squares

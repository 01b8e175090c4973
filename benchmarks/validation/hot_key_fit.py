"""Fits the queue at a key on the conditional writes of 1, 2 and 4 clients.

`python -m benchmarks.validation.hot_key_fit` searches from afar, some minutes a store, and prints
what it finds beside what the profiles have, which a longer search found (differential evolution).
The model: a way out, a queue at the key whose server takes one time for a write that succeeds and
another for one that loses, a way back. The way out is what one client alone measured less what is
not the way out. Others see a success after a share of its service, as a read that follows it does.

What was tried besides: effects at the end of the service alone (S3 is the same, S3 Express gets
28 % too fast with 16 clients), no exclusion but a fixed delay for writes that overlap (latencies
come closer, but the rate of 16 clients is 36 % too high), two modes of S3 Express' losses (closer
with 2 and 4 clients, attempts of 16 clients 12 % too many), one mode of S3's (the second is lost).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct
from scipy.optimize import minimize

from benchmarks.validation.hot_key import FITTED, Writes, alone, measured, simulated

SUCCESSES = 600
"""Of each run of the fit; the same draws every time, so that parameters are compared by them."""

COUNTS, SUCCESS_MS, LOSS_MS = 0.02, 0.04, 0.08
"""Relative errors that weigh the same: of attempts and rates, and of percentiles of latencies."""

SPREADS, MOST = (0.3, 0.1), 60
"""How far the corners of each search are apart, relatively, and how many runs it may take."""

SHARES = {"effect_share": 1.0, "soon": 0.99}
"""Parameters that are shares, and the most that each can be."""


class _ModelForm(Struct, frozen=True):
    """The parameters of one store's model and what they make of it.

    The search begins at `start`; the profile has what is `shipped`.
    """

    names: tuple[str, ...]
    start: tuple[float, ...]
    shipped: tuple[float, ...]
    made: Callable[[dict[str, float]], dict[str, Any]]

    def put_if_absent(self, profile: str, values: Sequence[float]) -> dict[str, Any]:
        """The section of the store's profile."""
        named = {name: float(value) for name, value in zip(self.names, values, strict=True)}
        back_ms = named.get("success_back", 0.0)
        shortest_ms = named["success"] + back_ms
        out = {rank: _ms(max(0.0, ms - shortest_ms)) for rank, ms in alone(profile).items()}
        at_key = {
            "success": _ms(named["success"]),
            "loss": _ms(named.get("loss", 0.0)),
            "effect_share": named["effect_share"],
            "source": "this search",
        }
        return {
            "out": {"quantiles": out},
            "at_key": at_key,
            "success": {"back": _ms(back_ms)},
            "loss": {"back": self.made(named)},
        }

    def allows(self, values: Sequence[float]) -> bool:
        """Whether no time is negative, and every share one."""
        named = zip(self.names, values, strict=True)
        return all(0 <= value <= SHARES.get(name, np.inf) for name, value in named)


def _two_modes(named: dict[str, float]) -> dict[str, Any]:
    last, first = f"p{100 * named['soon']:.2f}", f"p{100 * named['soon'] + 0.01:.2f}"
    soon, late = _ms(named["loss_back"]), _ms(named["loss_back"] + named["late_by"])
    return {"quantiles": {"p0": soon, last: soon, first: late, "p100": late}}


def _one_mode(named: dict[str, float]) -> dict[str, Any]:
    return {"lognormal": {"mean": _ms(named["loss_back"]), "cv": named["cv"]}}


def _ms(value: float) -> str:
    return f"{value:.4f} ms"


FORMS = {
    "s3": _ModelForm(
        ("success", "effect_share", "loss", "loss_back", "late_by", "soon"),
        (25.0, 0.9, 1.5, 8.0, 45.0, 0.6),
        (20.8, 0.99, 1.2, 4.9, 47.9, 0.656),
        _two_modes,
    ),
    "s3-express": _ModelForm(
        ("success", "effect_share", "success_back", "loss_back", "cv"),
        (12.5, 0.3, 0.6, 6.0, 0.5),
        (12.86, 0.22, 0.69, 4.88, 0.67),
        _one_mode,
    ),
}


def fitted(profile: str) -> list[float]:
    """The parameters of a store's model that come closest to 1, 2 and 4 clients."""
    form = FORMS[profile]
    best = np.array(form.start)
    for spread in SPREADS:
        corners = np.vstack([best, *(best * (1 + spread * axis) for axis in np.eye(len(best)))])
        options = {"maxfev": MOST, "initial_simplex": corners}
        fit = minimize(partial(distance, profile), best, method="Nelder-Mead", options=options)
        best = fit.x
    return [float(value) for value in best]


def distance(profile: str, values: Sequence[float]) -> float:
    """How far a store's model is from what was measured of 1, 2 and 4 clients."""
    form = FORMS[profile]
    if not form.allows(values):
        return 1e6
    put = form.put_if_absent(profile, values)
    return sum(
        _distance(simulated(profile, clients, SUCCESSES, put_if_absent=put), profile, clients)
        for clients in FITTED
    )


def _distance(writes: Writes, profile: str, clients: int) -> float:
    was = measured(profile, clients)
    counts = [
        (writes.successes_per_s, was.successes_per_s),
        (writes.attempts_per_success, was.attempts_per_success),
    ]
    squares = sum((np.log(is_ / target) / COUNTS) ** 2 for is_, target in counts)
    for latencies, targets, scale in (
        (writes.success_ms, was.success_ms, SUCCESS_MS),
        (writes.loss_ms, was.loss_ms, LOSS_MS),
    ):
        if targets:
            squares += float(np.mean((np.log(np.divide(latencies, targets)) / scale) ** 2))
    return float(squares)


if __name__ == "__main__":
    for store, form in FORMS.items():
        for what, values in (("found", fitted(store)), ("shipped", form.shipped)):
            named = dict(zip(form.names, (round(value, 3) for value in values), strict=True))
            print(store, what, named, f"distance {distance(store, values):.2f}", flush=True)

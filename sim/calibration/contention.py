"""How long a commit holds the log's newest key: fitted on clients that competed for it.

The simulator's own writers run on the measured profile with one time at the key after the other;
that which comes closest to what was measured, with every number of clients, is the profile's. What
is told is how often each must try, and how long it takes to win and to lose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from whitecap.engine.log.properties import CHECKPOINT_INTERVAL
from whitecap.sim.calibration.fitting import FEWEST, written
from whitecap.sim.calibration.profile import Calibration
from whitecap.sim.calibration.samples import ALREADY_EXISTS, StoreOperation
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Document

SHARES = tuple(n / 10 for n in range(10))
"""Times at the key that are tried, as shares of what a put without rivals takes at its median."""

COMMITS = 300
"""Commits of each run that is compared, if its clients were in each other's way entirely; more
where they are not. Attempts are then known to some percent."""

WEIGHTS = (0.05, 0.05, 0.1)
"""Relative errors that count the same: of attempts per success, medians of successes, of losses."""

LISTING = 1e-3
"""How long listing the log takes, as a share of a put: not nothing, so that time passes."""

FREE: Document = {
    **{name: {"latency": "0 ms", "per_mib": "0 ms"} for name in ("get", "put")},
    **{name: {"latency": "0 ms"} for name in ("head", "delete")},
    "log_store": {
        "before_put": [],
        "after_put": [],
        "read": ["get"],
        "checksum": ["put"],
        "pointer": ["put"],
        "delete": ["delete"],
        "commit_lock": False,
    },
    "spark": {"job": "0 ms"},
    "limits": {"writes_per_s": None, "reads_per_s": None},
    "client": {"throttle_retries": 0},
}
"""Nothing but the put of a commit takes time, as between the clients that were measured."""


class Contest(Struct, frozen=True):
    """What this many clients achieved; latencies are medians in milliseconds."""

    clients: int
    attempts_per_success: float
    success_ms: float
    loss_ms: float

    def distance(self, other: Contest) -> float:
        """How far another one is off, in relative errors."""
        pairs = (
            (self.attempts_per_success, other.attempts_per_success),
            (self.success_ms, other.success_ms),
            (self.loss_ms, other.loss_ms),
        )
        return sum(
            (math.log(max(a, 1e-9) / max(b, 1e-9)) / weight) ** 2
            for (a, b), weight in zip(pairs, WEIGHTS, strict=True)
        )


def fitted_at_key(calibration: Calibration, profile: Document) -> Document | None:
    """The queue at the key by which `profile` comes closest to what competing clients met.

    `None` where too few competed.
    """
    measured = list(_measured(calibration))
    if not measured:
        return None
    alone_ms = float(np.median([sample.latency_ms for sample in calibration.wins(1)]))
    tried = {
        share * alone_ms: [
            simulated(profile, share * alone_ms, contest.clients, alone_ms) for contest in measured
        ]
        for share in SHARES
    }
    best_ms = min(tried, key=lambda ms: _distance(measured, tried[ms]))
    return {
        "success": written(best_ms),
        "loss": "0 ms",
        "basis": "fitted",
        "date": calibration.date,
        "assumption": {
            "loss": "a put that finds its key taken holds nobody up",
            "effect_share": "others see a commit when its time at the key is over",
        },
        "source": f"whitecap calibrate: {_compared(measured, tried[best_ms])}",
    }


def _measured(calibration: Calibration) -> Iterator[Contest]:
    for clients in sorted({sample.clients for sample in calibration.samples} - {1}):
        wins = [sample.latency_ms for sample in calibration.wins(clients)]
        losses = [
            sample.latency_ms
            for sample in calibration.of(StoreOperation.PUT_IF_ABSENT, ALREADY_EXISTS, clients)
        ]
        if min(len(wins), len(losses)) >= FEWEST:
            yield _contest(clients, wins, losses)


def _contest(clients: int, wins: Sequence[float], losses: Sequence[float]) -> Contest:
    tries = 1 + len(losses) / len(wins)
    lost_ms = float(np.median(losses)) if losses else 0.0
    return Contest(clients, tries, float(np.median(wins)), lost_ms)


def simulated(profile: Document, held_ms: float, clients: int, alone_ms: float) -> Contest:
    """A contest of writers that do nothing but commit, on a profile with this time at the key.

    `alone_ms` is what a commit takes there without rivals. It says how long the contest lasts, not
    what commits took when they were measured: clients that wait for a processor take much longer.
    """
    scenario = scenario_of(_contest_document(profile, held_ms, clients, alone_ms))
    attempts = run_scenario(scenario).recording.attempts.to_pylist()
    took: dict[str, list[float]] = {"created": [], "already_exists": []}
    for attempt in attempts:
        if attempt["result"] in took and attempt["reply_at_ms"] is not None:
            took[attempt["result"]].append(attempt["reply_at_ms"] - attempt["sent_at_ms"])
    return _contest(clients, took["created"] or [0.0], took["already_exists"])


def _contest_document(profile: Document, held_ms: float, clients: int, alone_ms: float) -> Document:
    """The scenario of a contest: its length suits a store that takes `alone_ms` for a commit."""
    queue = {"at_key": {"success": written(held_ms), "loss": "0 ms", "source": "tried"}}
    listing = {"latency": f"{LISTING * alone_ms:.9f} ms", "per_1000_keys": "0 ms"}
    tried = {"profile": {**profile, "profile": "tried"}, "put_if_absent": queue}
    store = {**tried, **FREE, "list": listing}
    return {
        "name": "contest",
        "duration": f"{max(COMMITS * alone_ms, 0.001):.6f} ms",
        "store": store,
        "table": {
            "schema": "event_id BIGINT, amount DOUBLE",
            "initial": {"rows": 1},
            "properties": {CHECKPOINT_INTERVAL.key: 1_000_000},
        },
        "writers": {
            "client": {
                "count": clients,
                "statement": "INSERT INTO events VALUES (2, 1.0)",
                "arrival": "closed",
                "compute": "0 ms",
            }
        },
    }


def _distance(measured: Sequence[Contest], modelled: Sequence[Contest]) -> float:
    return sum(was.distance(is_) for was, is_ in zip(measured, modelled, strict=True))


def _compared(measured: Sequence[Contest], modelled: Sequence[Contest]) -> str:
    return "; ".join(
        f"of {was.clients} clients each success took {was.attempts_per_success:.2f} attempts and"
        f" {was.success_ms:.4g} ms, {is_.attempts_per_success:.2f} and {is_.success_ms:.4g} as"
        " simulated"
        for was, is_ in zip(measured, modelled, strict=True)
    )

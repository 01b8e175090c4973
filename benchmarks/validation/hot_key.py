"""Conditional writes of one key: what was measured of 1 to 16 clients, and what the simulator says.

Measured: `hot_key.csv`, conditional overwrites of one object in a closed loop (YCSB, June 2025,
milliseconds, client side; github.com/cdouglas/endive, analysis/distributions.json, `cas`). Each
client writes on what it knows to be newest, and after a failure at once on what is newest then.
Simulated: writers that do nothing but commit, whose other requests take no time. What is fitted
(`benchmarks/validation/hot_key_fit.py`) rests on 1, 2 and 4 clients; 8 and 16 are for checking.

`python -m benchmarks.validation.hot_key` prints the residuals.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario

PROFILES = ("s3", "s3-express")
FITTED, CHECKED = (1, 2, 4), (8, 16)
"""Numbers of clients."""

CLOSE = 0.1
"""How far attempts and rates may be off."""

RANKS = (5, 10, 25, 50, 75, 90, 95)
"""Percentiles that are compared: beyond them 1, 2 and 4 clients say little of the model."""

ALONE = ("p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9")
"""Measured quantiles of one client alone."""

SUCCESSES = 1_500
"""Of a run, roughly: attempts per success are then good to a percent."""

_FREE = {
    "list": {"latency": "0.02 ms", "per_1000_keys": "0 ms"},
    "get": {"latency": "0 ms", "per_mib": "0 ms"},
    "put": {"latency": "0 ms", "per_mib": "0 ms"},
    "head": {"latency": "0 ms"},
    "copy": {"latency": "0 ms", "source": "by definition"},
    "delete": {"latency": "0 ms"},
    "spark": {"job": "0 ms"},
    "limits": {"writes_per_s": None, "reads_per_s": None},
}
"""Everything but conditional writes; a listing takes a fiftieth, so that time passes."""

_TABLE = {
    "schema": "event_id BIGINT, amount DOUBLE",
    "initial": {"rows": 1},
    "properties": {"delta.checkpointInterval": 1_000_000},
}


class Writes(Struct, frozen=True):
    """What so many clients came to: latencies in milliseconds by percentile, in order of `RANKS`.

    Without losses (one client) `loss_ms` is empty.
    """

    attempts_per_success: float
    successes_per_s: float
    success_ms: tuple[float, ...]
    loss_ms: tuple[float, ...] = ()


class HotKeyComparison(Struct, frozen=True):
    """One store and one number of clients, measured and simulated."""

    profile: str
    clients: int
    measured: Writes
    simulated: Writes

    @property
    def is_close(self) -> bool:
        """Whether attempts per success and the rate of successes are within `CLOSE`."""
        return max(abs(self.attempts_error), abs(self.rate_error)) < CLOSE

    @property
    def attempts_error(self) -> float:
        """Relative error of the attempts per success."""
        return self.simulated.attempts_per_success / self.measured.attempts_per_success - 1

    @property
    def rate_error(self) -> float:
        """Relative error of the rate of successes."""
        return self.simulated.successes_per_s / self.measured.successes_per_s - 1

    @property
    def success_errors(self) -> tuple[float, ...]:
        """Relative errors of the latencies of successes, by percentile."""
        return _errors(self.simulated.success_ms, self.measured.success_ms)

    @property
    def loss_errors(self) -> tuple[float, ...]:
        """Relative errors of the latencies of losses, by percentile."""
        return _errors(self.simulated.loss_ms, self.measured.loss_ms)


def rows(
    profiles: Iterable[str] = PROFILES,
    clients: Sequence[int] = (*FITTED, *CHECKED),
    successes: int = SUCCESSES,
    seed: int = 1,
) -> list[HotKeyComparison]:
    """Each store with each number of clients, simulated by its profile as it is shipped."""
    return [
        HotKeyComparison(
            profile, number, measured(profile, number), simulated(profile, number, successes, seed)
        )
        for profile in profiles
        for number in clients
    ]


def farthest(rows: Iterable[HotKeyComparison], ranks: Iterable[int]) -> float:
    """The largest relative error of latencies at some of `RANKS`, of successes and losses."""
    places = [RANKS.index(rank) for rank in ranks]
    of_all = [errors for row in rows for errors in (row.success_errors, row.loss_errors) if errors]
    return max(abs(errors[place]) for errors in of_all for place in places)


def measured(profile: str, clients: int) -> Writes:
    """What was measured; raises `KeyError` for a number of clients that was not."""
    success = _MEASURED[profile, clients, "success"]
    loss = _MEASURED.get((profile, clients, "failure"))
    losses = 0.0 if loss is None else float(loss["count"])
    return Writes(
        1 + losses / float(success["count"]),
        float(success["success_per_s"]),
        _percentiles(success),
        () if loss is None else _percentiles(loss),
    )


def alone(profile: str) -> dict[str, float]:
    """The quantiles of a success without rivals, milliseconds."""
    success = _MEASURED[profile, 1, "success"]
    return {name: float(success[name]) for name in ALONE}


def simulated(
    profile: str,
    clients: int,
    successes: int = SUCCESSES,
    seed: int = 1,
    put_if_absent: Mapping[str, Any] | None = None,
) -> Writes:
    """Run so many clients; `put_if_absent` stands in the place of the profile's."""
    per_s = measured(profile, 1).successes_per_s
    duration_s = max(1, round(successes / per_s))
    store: dict[str, Any] = {"profile": profile, **_FREE}
    if put_if_absent is not None:
        store |= {"profile": "instant", "put_if_absent": put_if_absent}
    document = {
        "name": "hot-key",
        "seed": seed,
        "duration": f"{duration_s} s",
        "store": store,
        "table": _TABLE,
        "writers": {"client": {**_COMMITS, "count": clients}},
    }
    attempts = run_scenario(scenario_of(document)).recording.tables["attempts"]
    took = pc.subtract(attempts["reply_at_ms"], attempts["sent_at_ms"])
    wins = _where(took, attempts["result"], PutResult.CREATED)
    losses = _where(took, attempts["result"], PutResult.ALREADY_EXISTS)
    return Writes(
        1 + len(losses) / len(wins),
        len(wins) / duration_s,
        tuple(np.percentile(wins, RANKS).tolist()),
        tuple(np.percentile(losses, RANKS).tolist()) if len(losses) else (),
    )


_COMMITS = {
    "statement": "INSERT INTO events VALUES (2, 1.0)",
    "arrival": "closed",
    "compute": "0 ms",
}
"""A writer that commits, and again as soon as it knows what came of it; nothing conflicts."""


def _where(took: Any, result: Any, is_: PutResult) -> NDArray[np.float64]:
    latencies: NDArray[np.float64] = took.filter(pc.equal(result, is_.value)).to_numpy()
    return latencies


def _percentiles(line: Mapping[str, str]) -> tuple[float, ...]:
    return tuple(float(line[f"p{rank}"]) for rank in RANKS)


def _errors(simulated: Sequence[float], measured: Sequence[float]) -> tuple[float, ...]:
    return tuple(s / m - 1 for s, m in zip(simulated, measured, strict=True))


def _read() -> dict[tuple[str, int, str], dict[str, str]]:
    with Path(__file__).with_name("hot_key.csv").open(encoding="utf-8") as lines:
        return {
            (line["profile"], int(line["clients"]), line["outcome"]): line
            for line in csv.DictReader(lines)
        }


_MEASURED = _read()


def table(rows: Iterable[HotKeyComparison]) -> Table:
    """Measured, simulated, and the error of each; of latencies the median, and all errors."""
    shown = Table(
        "store", "clients", "attempts per success", "successes per s", "latencies (p5..p95)"
    )
    for row in rows:
        was, is_ = row.measured, row.simulated
        shown.add_row(
            row.profile,
            str(row.clients),
            _compared(was.attempts_per_success, is_.attempts_per_success, row.attempts_error),
            _compared(was.successes_per_s, is_.successes_per_s, row.rate_error),
            f"success {_percent(row.success_errors)}\nloss    {_percent(row.loss_errors)}",
        )
    return shown


def _compared(was: float, is_: float, error: float) -> str:
    return f"{was:.2f} {is_:.2f} ({error:+.1%})"


def _percent(errors: Sequence[float]) -> str:
    return " ".join(f"{100 * error:+.0f}" for error in errors)


if __name__ == "__main__":
    Console(width=140).print(table(rows()))

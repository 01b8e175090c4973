"""A store profile from samples; what nobody measured is another profile's, and says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.calibration.fitting import FEWEST, distribution_of, ms_per_unit, written
from whitecap.sim.calibration.samples import ALREADY_EXISTS, CREATED, DONE, Sample, StoreOperation
from whitecap.sim.loading.profiles import STORES
from whitecap.sim.quantities.units import about
from whitecap.sim.scenario.origin import ORIGIN
from whitecap.sim.scenario.yaml.text import read_yaml
from whitecap.sim.store.requests.latency import MIB

_Document = dict[str, Any]

KEYS_FOR_A_LINE = 100
"""Listings that differ by fewer keys say nothing of how long a thousand take."""

OTHERS = ("copy", "delete", "head", "rename")
"""Requests of which nothing but a latency is said."""


class Calibration(Struct, frozen=True):
    """Samples with what a profile says of them: their `place`, the `date`, and the profile `like`
    which the store is where nothing was measured."""

    samples: Sequence[Sample]
    place: str
    date: str
    like: str

    def of(
        self, operation: StoreOperation, outcome: str = DONE, clients: int | None = 1
    ) -> list[Sample]:
        """Samples of one kind, with any number of clients or with so many."""
        return [
            sample
            for sample in self.samples
            if (sample.operation, sample.outcome) == (operation, outcome)
            and clients in (None, sample.clients)
        ]

    def origin(self, samples: Sequence[Sample]) -> _Document:
        """Where a measured part is from."""
        said = f"whitecap calibrate, {self.place}, {len(samples):,} samples"
        return {"basis": "measured", "date": self.date, "source": said}

    def wins(self, clients: int) -> list[Sample]:
        """Puts that created the next key of a log, or any other where nobody else asked."""
        return self.of(StoreOperation.PUT_IF_ABSENT, CREATED, clients)

    def losses(self) -> list[Sample]:
        """Puts that found their key, of as few clients as there are enough samples of."""
        for clients in sorted({sample.clients for sample in self.samples}):
            lost = self.of(StoreOperation.PUT_IF_ABSENT, ALREADY_EXISTS, clients)
            if len(lost) >= FEWEST:
                return lost
        return []


def profile_document(calibration: Calibration) -> _Document:
    """The profile, but for how commits compete (`sim/calibration/contention.py`).

    Raises `InvalidInput`: there are too few puts that created their key.
    """
    wins = calibration.wins(1)
    if len(wins) < FEWEST:
        said = f"{len(wins)} put_if_absent by one client that created its key: needs {FEWEST}"
        raise InvalidInput([Problem(calibration.place, said)])
    base = _assumed(read_yaml(STORES / f"{calibration.like}.yaml").content, calibration)
    described = {"description": f"{calibration.place}, as whitecap calibrate measured it."}
    return {
        **described,
        "put_if_absent": _conditional(calibration, wins),
        **_with_bytes(calibration, base, "put"),
        **_with_bytes(calibration, base, "get"),
        **_others(calibration, base),
        "list": _listing(calibration, base),
        **{part: base[part] for part in ("effect", "log_store", "spark", "limits", "client")},
    }


def _assumed(value: Any, calibration: Calibration) -> Any:
    """The parts of another profile, each of which is now an assumption."""
    if not isinstance(value, dict):
        return value
    if "source" not in value:
        return {key: _assumed(part, calibration) for key, part in value.items()}
    figures = {key: part for key, part in value.items() if key not in ORIGIN}
    return {**figures, **_taken_over(calibration)}


def _taken_over(calibration: Calibration) -> _Document:
    return {
        "basis": "assumed",
        "date": calibration.date,
        "assumption": f"as {calibration.like}: nothing was measured here",
        "source": f"the profile {calibration.like}, which has its own sources",
    }


def _conditional(calibration: Calibration, wins: Sequence[Sample]) -> _Document:
    losses = calibration.losses()
    if losses:
        loss = {"latency": _latency(losses), **calibration.origin(losses)}
    else:
        loss = {
            "latency": _latency(wins),
            **_taken_over(calibration),
            "assumption": "as success: no put that found its key was measured",
        }
    success = {"latency": _latency(wins), **calibration.origin(wins)}
    success["source"] += _by_clients(calibration)
    return {"at_key": _no_queue(calibration), "success": success, "loss": loss}


def _no_queue(calibration: Calibration) -> _Document:
    return {
        "success": "0 ms",
        "loss": "0 ms",
        "basis": "assumed",
        "date": calibration.date,
        "assumption": "commits of one log do not wait for each other: nothing was fitted",
        "source": "whitecap calibrate",
    }


def _by_clients(calibration: Calibration) -> str:
    """Medians of those that created the next key of a log, by how many competed."""
    numbers = sorted({sample.clients for sample in calibration.samples})
    medians = {n: _median(calibration.wins(n)) for n in numbers if calibration.wins(n)}
    if len(medians) < 2:
        return ""
    return f"; medians {', '.join(f'{about(ms)} of {n}' for n, ms in medians.items())} clients"


def _median(samples: Iterable[Sample]) -> float:
    return float(np.median([sample.latency_ms for sample in samples]))


def _latency(samples: Iterable[Sample]) -> _Document:
    return distribution_of([sample.latency_ms for sample in samples])


def _with_bytes(calibration: Calibration, base: _Document, name: str) -> _Document:
    """`put` or `get`: what an object takes at all, and what a MiB of it takes."""
    samples = calibration.of(StoreOperation(name))
    if len(samples) < FEWEST:
        return {name: base[name]}
    per_byte_ms = ms_per_unit([s.bytes for s in samples], [s.latency_ms for s in samples])
    without = _at_base(samples, per_byte_ms)
    part = {"latency": distribution_of(without), "per_mib": written(per_byte_ms * MIB)}
    if len({sample.bytes for sample in samples}) > 1:
        return {name: {**part, **calibration.origin(samples)}}
    part["per_mib"] = base[name].get("per_mib", "0 ms")
    said = {"per_mib": f"as {calibration.like}: objects of one size were measured"}
    return {name: {**part, **calibration.origin(samples), "assumption": said}}


def _at_base(samples: Sequence[Sample], per_byte_ms: float) -> list[float]:
    """Latencies of the smallest objects, without what is in proportion to bytes."""
    smallest = min(sample.bytes for sample in samples)
    small = [s for s in samples if s.bytes == smallest]
    chosen = small if len(small) >= FEWEST else samples
    return [sample.latency_ms - per_byte_ms * sample.bytes for sample in chosen]


def _others(calibration: Calibration, base: _Document) -> _Document:
    parts = {}
    for name in OTHERS:
        samples = calibration.of(StoreOperation(name))
        if len(samples) >= FEWEST:
            parts[name] = {"latency": _latency(samples), **calibration.origin(samples)}
        elif name in base:
            parts[name] = base[name]
    return parts


def _listing(calibration: Calibration, base: _Document) -> _Document:
    samples, listing = calibration.of(StoreOperation.LIST), dict(base["list"])
    if len(samples) < FEWEST:
        return listing
    keys, taken = [s.bytes for s in samples], [s.latency_ms for s in samples]
    page = {"page_size": listing["page_size"]}
    said = {"page_size": f"as {calibration.like}"}
    if max(keys) - min(keys) < KEYS_FOR_A_LINE:
        page["per_1000_keys"] = listing.get("per_1000_keys", "0 ms")
        said["per_1000_keys"] = f"as {calibration.like}: no long listing was measured"
        return {"latency": distribution_of(taken), **page, **_said(calibration, samples, said)}
    per_key_ms = max(0.0, float(np.polyfit(keys, taken, 1)[0]))
    page["per_1000_keys"] = written(1000 * per_key_ms)
    without = [ms - per_key_ms * n for ms, n in zip(taken, keys, strict=True)]
    return {"latency": distribution_of(without), **page, **_said(calibration, samples, said)}


def _said(calibration: Calibration, samples: Sequence[Sample], said: dict[str, str]) -> _Document:
    return {**calibration.origin(samples), "assumption": said}

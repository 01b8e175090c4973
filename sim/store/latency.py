"""How long a request is under way: the way out to the store, and the way back from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whitecap.sim.random_streams import Uniforms
from whitecap.sim.scenario.store import ConditionalPut, Measured, Store
from whitecap.sim.store.kinds import Kind

Legs = NDArray[Any]
"""Milliseconds: per request its way out, its way back, and of a put-if-absent its way back where
the key was taken; request by request in one line."""

MIB = 1024.0**2


@dataclass(frozen=True, slots=True)
class Latency:
    """One kind of request: `ranks` uniform numbers make the `legs` legs of one request.

    Bytes of the request take `per_byte_out` on the way out, those of the answer `per_byte_back`.
    """

    ranks: int
    legs: int
    drawn: Callable[[Uniforms], Legs]
    per_byte_out: float = 0.0
    per_byte_back: float = 0.0


def latencies_of(store: Store) -> list[Latency]:
    """The latency of each kind of request of a profile, in the order of `Kind`."""
    share = store.effect.share
    put_per_byte = store.put.per_mib / MIB
    latencies = {
        Kind.LIST: _plain(store.list, share),
        Kind.GET: _plain(store.get, share, back=store.get.per_mib / MIB),
        Kind.PUT: _plain(store.put, share, out=put_per_byte),
        Kind.PUT_IF_ABSENT: _conditional(store.put_if_absent, share, put_per_byte),
    }
    return [latencies[kind] for kind in Kind]


def _plain(measured: Measured, share: float, out: float = 0.0, back: float = 0.0) -> Latency:
    def drawn(ranks: Uniforms) -> Legs:
        total = measured.latency.quantile(ranks)
        return _in_turn(share * total, (1 - share) * total)

    return Latency(1, 2, drawn, out, back)


def _conditional(put: ConditionalPut, share: float, per_byte: float) -> Latency:
    def drawn(ranks: Uniforms) -> Legs:
        success = put.success.latency.quantile(ranks[:, 0::2])
        loss = put.loss.latency.quantile(ranks[:, 1::2])
        out = share * np.minimum(success, loss)
        return _in_turn(out, success - out, loss - out)

    return Latency(2, 3, drawn, per_byte)


def _in_turn(*legs: Legs) -> Legs:
    """The legs of the first request, then those of the second, and so on, line by line."""
    stacked = np.stack(legs, axis=2)
    return stacked.reshape(len(stacked), -1)

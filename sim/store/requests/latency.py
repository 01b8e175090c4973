"""How long a request takes: the way to the store, and the way back from it.

What a request comes to is decided between the two, and no draw may decide it. The way out of a
put-if-absent is drawn before anybody knows its answer; how long each possible answer takes in all
is drawn by itself. So successes and losses have the latencies of the profile, however many writers
compete. If the two were related, puts with a short way out would win and never be seen among the
losses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.scenario.store import ConditionalPut, Measured, StoreSection
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.random_streams import Uniforms

Legs = NDArray[Any]
"""Milliseconds, for each request in one row: its way out, its way back and, of a put-if-absent, its
way back where the key was taken."""

Ways = Callable[[Uniforms], NDArray[Any]]
"""Milliseconds by rank."""

MIB = 1024.0**2

SHORTEST = 0.001
"""The rank that stands for the shortest latency of a distribution that begins at nothing."""


class Latency(Struct, frozen=True):
    """One kind of request: `ranks` uniform numbers make the `legs` legs of one request.

    The request's bytes take `per_byte_out` on the way out, what is answered `per_unit_back`: bytes,
    or the keys of a listing.
    """

    ranks: int
    legs: int
    drawn: Callable[[Uniforms], Legs]
    per_byte_out: float = 0.0
    per_unit_back: float = 0.0

    def arrival(self, sent_ms: float, out_ms: float, size_bytes: int) -> float:
        """The instant of the effect."""
        return sent_ms + out_ms + size_bytes * self.per_byte_out

    def reply(self, effect_ms: float, back_ms: float, size: int) -> float:
        """The instant of the reply."""
        return effect_ms + back_ms + size * self.per_unit_back


NO_LATENCY = Latency(1, 2, lambda ranks: np.zeros((len(ranks), 2 * ranks.shape[1])))
"""For a kind of request that a profile does not have and nobody sends."""


def latencies_of(store: StoreSection) -> list[Latency]:
    """The latency of each kind of request of a profile, in the order of `RequestKind`."""
    share = store.effect.share
    put_per_byte = store.put.per_mib / MIB
    latencies = {
        RequestKind.LIST: _plain(store.list, share, back=store.list.per_1000_keys / 1000),
        RequestKind.GET: _plain(store.get, share, back=store.get.per_mib / MIB),
        RequestKind.HEAD: _plain(store.head, share),
        RequestKind.PUT: _plain(store.put, share, out=put_per_byte),
        RequestKind.PUT_IF_ABSENT: _conditional(store.put_if_absent, share, put_per_byte),
        RequestKind.COPY: _plain(store.copy_object or store.put, share),
        RequestKind.DELETE: _plain(store.delete, share),
        RequestKind.RENAME: _plain(store.rename or store.put, share),
        **{kind: _plain(measured, share) for kind, measured in services_of(store).items()},
    }
    return [latencies.get(kind, NO_LATENCY) for kind in RequestKind]


def services_of(store: StoreSection) -> dict[RequestKind, Measured]:
    """What a profile says of requests to services beside the store."""
    measured: dict[RequestKind, Measured] = {}
    if (dynamodb := store.dynamodb) is not None:
        measured[RequestKind.GET_ITEM] = dynamodb.get_item
        measured[RequestKind.QUERY], measured[RequestKind.PUT_ITEM] = (
            dynamodb.query,
            dynamodb.put_item,
        )
    if (catalog := store.catalog) is not None:
        measured[RequestKind.GET_COMMITS], measured[RequestKind.RATIFY] = (
            catalog.get_commits,
            catalog.ratify,
        )
    return measured


def _plain(measured: Measured, share: float, out: float = 0.0, back: float = 0.0) -> Latency:
    """A request whose latency does not depend on its answer: it is one draw, cut in two."""
    total, legs = measured.latency, (measured.out, measured.back)

    def cut(ranks: Uniforms) -> Legs:
        assert total is not None
        latency = total.quantile(ranks)
        return _in_turn(share * latency, (1 - share) * latency)

    def apart(ranks: Uniforms) -> Legs:
        assert legs[0] is not None
        assert legs[1] is not None
        return _in_turn(legs[0].quantile(ranks[:, 0::2]), legs[1].quantile(ranks[:, 1::2]))

    if total is not None:
        return Latency(1, 2, cut, out, back)
    return Latency(2, 2, apart, out, back)


def _conditional(put: ConditionalPut, share: float, per_byte: float) -> Latency:
    if put.out is not None:
        return Latency(2, 3, _both_backs(put), per_byte)
    success, loss = put.success.latency, put.loss.latency
    assert success is not None
    assert loss is not None
    answers = [_besides(success, put.served_ms(False)), _besides(loss, put.served_ms(True))]
    way_out = _way_out(answers, share)

    def drawn(ranks: Uniforms) -> Legs:
        out, rank = way_out(ranks[:, 0::2]), ranks[:, 1::2]
        backs = (np.maximum(0.0, ways(rank) - out) for ways in answers)
        return _in_turn(out, *backs)

    return Latency(2, 3, drawn, per_byte)


def _besides(latency: Distribution, served_ms: float) -> Ways:
    """Both ways by rank, without the time for which a request is served at its key."""
    return lambda ranks: np.maximum(0.0, latency.quantile(ranks) - served_ms)


def _both_backs(put: ConditionalPut) -> Callable[[Uniforms], Legs]:
    out, success, loss = put.out, put.success.back, put.loss.back
    assert out is not None
    assert success is not None
    assert loss is not None

    def drawn(ranks: Uniforms) -> Legs:
        rank = ranks[:, 1::2]
        return _in_turn(out.quantile(ranks[:, 0::2]), success.quantile(rank), loss.quantile(rank))

    return drawn


def _way_out(answers: Sequence[Ways], share: float) -> Ways:
    """The way out by rank: `share` of the faster answer's ways, up to the shortest there are.

    Beyond that it could take longer than the answer that is drawn for it; so only the ranks below
    are drawn from.
    """

    def faster(ranks: Uniforms) -> NDArray[Any]:
        shortest: NDArray[Any] = np.minimum(*(ways(ranks) for ways in answers))
        return shortest

    shortest_ms = float(faster(np.array([SHORTEST]))[0])
    ranks = np.linspace(SHORTEST, 1 - SHORTEST, 999)
    short_enough = ranks[share * faster(ranks) <= shortest_ms]
    highest = float(short_enough[-1]) if len(short_enough) else SHORTEST
    return lambda rank: np.minimum(share * faster(highest * rank), shortest_ms)


def _in_turn(*legs: Legs) -> Legs:
    """The legs of the first request, then those of the second, and so on, line by line."""
    stacked = np.stack(legs, axis=2)
    return stacked.reshape(len(stacked), -1)

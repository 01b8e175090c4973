"""The queue at the log's newest key: where conditional writes of one key wait for each other.

Measured on overwrites of one key: however many clients compete, no more of them succeed per second
than of one alone, and each takes longer (github.com/cdouglas/endive, analysis/distributions.json).
The order of arrival decides who is served first, and nothing that is drawn. What comes of a put
follows from what arrived before it, so that it is known when it arrives.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from whitecap.sim.scenario.store import AtKey


class Turn(Struct, frozen=True):
    """One put's turn at its key. Instants are simulated milliseconds.

    `taken`: it finds its key taken, and its effect is to find that out. At `ends_ms` its server is
    free again.
    """

    taken: bool
    effect_ms: float
    ends_ms: float


Rank = Callable[[], float]
"""Draws the rank of a service time, where that is not the same for all."""

InLine = Callable[[float, Rank], Turn]
"""Joins the queue: takes the instant of arrival and the rank of the service time."""


class KeyQueue(Struct):
    """Serves one put after the other.

    All versions of one log share a queue, as all values of an overwritten key do. `promised` are
    the keys that will exist when the puts that are queued now have been served.
    """

    free_ms: float = 0.0
    promised: set[str] = field(default_factory=set)

    def joins(self, at_key: AtKey, taken: bool, now_ms: float, rank: Rank) -> Turn:
        """The turn of a put that arrives now, after all that have arrived."""
        begins_ms = max(now_ms, self.free_ms)
        service = at_key.loss if taken else at_key.success
        service_ms = service.constant
        if service_ms is None:
            service_ms = service.at(rank())
        self.free_ms = begins_ms + service_ms
        effect_ms = begins_ms if taken else begins_ms + at_key.effect_share * service_ms
        return Turn(taken, effect_ms, self.free_ms)

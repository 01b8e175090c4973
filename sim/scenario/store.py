"""The `store:` of a scenario: an object store's latencies, limits and client, each with its source.

Profiles live in `scenarios/stores/`; a scenario names one and may override any part of it.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.quantities.bounds import MAX_THROTTLE_RETRIES
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import Duration, Number, Whole


class Measured(Section):
    """How long one kind of request takes, and where the figure is from.

    Either its `latency` from sent to reply, as a client measures it, of which `effect.share` is the
    way out; or both ways apart, `out` and `back`, each drawn by itself.
    """

    latency: Distribution | None = None
    out: Distribution | None = None
    back: Distribution | None = None
    per_mib: Duration = 0.0
    source: str

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        legs = (self.out is not None, self.back is not None)
        if legs != ((False, False) if self.latency is not None else (True, True)):
            raise ValueError("give either latency, or out and back")
        return self

    def mean_ms(self) -> float:
        """From sent to reply, on average, without what is in proportion to bytes."""
        parts = (self.latency, self.out, self.back)
        return sum(part.mean_ms() for part in parts if part is not None)

    @property
    def takes_time(self) -> bool:
        """Whether such a request can take any time."""
        return self.mean_ms() > 0


class Answer(Section):
    """How long a put-if-absent takes that ends in one way: its `latency`, or its way `back`."""

    latency: Distribution | None = None
    back: Distribution | None = None
    source: str

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.latency is None) == (self.back is None):
            raise ValueError("give either latency or back")
        return self


class ConditionalPut(Section):
    """Put-if-absent: how long it takes when it creates the object, and when it finds one there.

    Either both answers have their `latency`, of which `effect.share` is the way out; or there is a
    way `out`, which is the same for both, and each answer's way `back`.

    With `exclusive: false` the store has none: the client looks whether the object is there when it
    sends, and whoever writes last wins (S3 before 2024, with Delta's S3SingleDriverLogStore).
    """

    exclusive: bool = True
    out: Distribution | None = None
    success: Answer
    loss: Answer

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        apart = {self.out is not None, *(a.back is not None for a in (self.success, self.loss))}
        if len(apart) > 1:
            raise ValueError("give out and the back of success and of loss, or the latency of both")
        return self


class EffectPoint(Section):
    """When a request takes effect, as a share of its latency.

    That of a put-if-absent, whose latency depends on what comes of it, is the share of the latency
    of its faster answer, but never longer than the shortest of both.
    """

    share: Number = Field(ge=0, le=1)
    source: str


class Limits(Section):
    """Requests per second that the log's prefix takes before it throttles (503 or 429)."""

    writes_per_s: Number | None = Field(default=None, gt=0)
    reads_per_s: Number | None = Field(default=None, gt=0)
    source: str


class Client(Section):
    """The store's client: what it does when throttled, and when a reply does not come.

    A throttled request is sent again up to `throttle_retries` times after a wait that doubles from
    `backoff_base` up to `backoff_cap`, with full jitter; then its transaction fails. When no reply
    comes within `timeout`, a read or list is sent again; what becomes of a commit's put, the policy
    `on_lost_reply` says (`engine/transaction/lost_reply.py`).
    """

    timeout: Duration = Field(gt=0)
    on_lost_reply: LostReply = LostReply.SURFACE
    throttle_retries: Whole = Field(ge=0, le=MAX_THROTTLE_RETRIES)
    backoff_base: Duration = Field(gt=0)
    backoff_cap: Duration = Field(gt=0)
    source: str


class Store(Section):
    """One object store, as seen by one client in the same region."""

    profile: str
    description: str
    put_if_absent: ConditionalPut
    put: Measured
    get: Measured
    list: Measured
    effect: EffectPoint
    limits: Limits
    client: Client

    @property
    def takes_time(self) -> bool:
        """Whether a transaction spends any time on requests: each one lists the log."""
        return self.list.takes_time

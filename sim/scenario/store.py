"""The `store:` of a scenario: an object store's latencies, limits and client, each with its source.

Profiles live in `scenarios/stores/`; a scenario names one and may override any part of it.
"""

from __future__ import annotations

from pydantic import Field

from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.bounds import MAX_THROTTLE_RETRIES
from whitecap.sim.distributions import Distribution
from whitecap.sim.section import Section
from whitecap.sim.units import Duration, Number, Whole


class Measured(Section):
    """The latency of one kind of request, from sent to reply, and where the figure is from."""

    latency: Distribution
    per_mib: Duration = 0.0
    source: str


class ConditionalPut(Section):
    """Put-if-absent: its latency when it creates the object and when it finds one there.

    With `exclusive: false` the store has none: the client looks whether the object is there when it
    sends, and whoever writes last wins (S3 before 2024, with Delta's S3SingleDriverLogStore).
    """

    exclusive: bool = True
    success: Measured
    loss: Measured


class EffectPoint(Section):
    """When a request takes effect, as a share of its (shorter possible) latency."""

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
        return self.list.latency.mean_ms() > 0

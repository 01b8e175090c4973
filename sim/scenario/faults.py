"""The `faults:` of a scenario: what goes wrong, how often, for whom and when."""

from __future__ import annotations

from typing import ClassVar, get_args

from pydantic import Field, field_validator

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Duration, Number, Rate
from whitecap.sim.scenario.store import RequestKind

WRITES: list[RequestKind] = ["put_if_absent", "put"]
"""Requests with an effect that can come late."""

EVERY_KIND: list[RequestKind] = list(get_args(RequestKind))


class LostReply(Section):
    """The request takes effect, its reply never arrives."""

    probability: Number = Field(gt=0, le=1)
    requests: list[RequestKind] = Field(default=["put_if_absent"], min_length=1)


class LateEffect(Section):
    """A write takes effect `delay` after the client has given up waiting for its reply."""

    probability: Number = Field(gt=0, le=1)
    delay: Distribution
    requests: list[RequestKind] = Field(default=["put_if_absent"], min_length=1)

    @field_validator("requests")
    @classmethod
    def _writes(cls, requests: list[RequestKind]) -> list[RequestKind]:
        if not set(requests) <= set(WRITES):
            raise ValueError("only put_if_absent and put have an effect that can be late")
        return requests


class Throttling(Section):
    """The store answers 503 or 429 instead of serving the request."""

    probability: Number = Field(gt=0, le=1)
    requests: list[RequestKind] = Field(default=EVERY_KIND, min_length=1)


class WriterCrash(Section):
    """A writer's driver dies, at `rate` while it works, and is back after `restart`."""

    rate: Rate
    restart: Distribution


class Fault(OneOf):
    """One fault; `writers` (groups) and `between` (two instants) say whom and when it strikes."""

    shared: ClassVar[frozenset[str]] = frozenset({"writers", "between", "description", "source"})

    lost_reply: LostReply | None = None
    late_effect: LateEffect | None = None
    throttling: Throttling | None = None
    writer_crash: WriterCrash | None = None
    writers: list[str] | None = Field(default=None, min_length=1)
    between: tuple[Duration, Duration] | None = None
    description: str = ""
    source: str = ""

    @field_validator("between")
    @classmethod
    def _ordered(cls, between: tuple[float, float] | None) -> tuple[float, float] | None:
        if between is not None and between[0] >= between[1]:
            raise ValueError("ends before it begins")
        return between

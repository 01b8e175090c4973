"""The `faults:` of a scenario: what goes wrong, how often, for whom and when."""

from __future__ import annotations

from typing import ClassVar, get_args

from pydantic import Field, field_validator

from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Duration, Number, Rate
from whitecap.sim.scenario.store import RequestKind, ServiceRequestKind

Kind = RequestKind | ServiceRequestKind
"""What a fault can strike; `put_if_absent` is what decides a commit, whatever the protocol."""

WRITES: list[Kind] = ["put_if_absent", "put", "rename", "put_item", "ratify"]
"""Requests with an effect that can come late."""

EVERY_KIND: list[Kind] = [*get_args(RequestKind), *get_args(ServiceRequestKind)]


class LostReply(Section):
    """The request takes effect, its reply never arrives."""

    probability: Number = Field(gt=0, le=1)
    requests: list[Kind] = Field(default=["put_if_absent"], min_length=1)


class LateEffect(Section):
    """A write takes effect `delay` after the client has given up waiting for its reply."""

    probability: Number = Field(gt=0, le=1)
    delay: Distribution
    requests: list[Kind] = Field(default=["put_if_absent"], min_length=1)

    @field_validator("requests")
    @classmethod
    def _writes(cls, requests: list[Kind]) -> list[Kind]:
        if not set(requests) <= set(WRITES):
            raise ValueError(f"only {', '.join(WRITES)} have an effect that can be late")
        return requests


class Throttling(Section):
    """The store answers 503 or 429 instead of serving the request."""

    probability: Number = Field(gt=0, le=1)
    requests: list[Kind] = Field(default=EVERY_KIND, min_length=1)


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

"""The `faults:` of a scenario: what goes wrong, on which request of which writer, and when.

A fault that strikes requests does so by chance (`probability`), each by a number at the request's
own address, or by a plan (`nth`), which counts the requests that the fault is about.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BeforeValidator, Field, field_validator, model_validator

from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Duration, Number, Rate, Whole
from whitecap.sim.scenario.store import RequestName, ServiceRequestName

AnyRequestName = RequestName | ServiceRequestName
"""What a fault can strike; `put_if_absent` is what decides a commit, whatever the protocol."""

DECIDES: AnyRequestName = "put_if_absent"

WRITES: list[AnyRequestName] = [DECIDES, "put", "rename", "put_item", "ratify"]
"""Requests with an effect that can come late."""

EVERY_KIND: list[AnyRequestName] = [*get_args(RequestName), *get_args(ServiceRequestName)]

LogFile = Literal["commit", "temporary", "staged", "checksum", "checkpoint", "pointer"]
"""What a request for a file of the log can be about; the pointer is `_last_checkpoint`."""


def _a_list(given: Any) -> Any:
    """A bare number is a list of one."""
    return given if isinstance(given, list) else [given]


Ordinals = Annotated[
    list[Annotated[Whole, Field(ge=1, le=MAX_COUNT)]],
    BeforeValidator(_a_list),
    Field(min_length=1),
]
"""Which of several: the first is 1."""


class Strike(Section):
    """Which of the requests of some kinds, for some files of the log, a fault strikes.

    Either each with a `probability`, or the `nth` of those that a writer sends. They are counted
    for each writer by itself, in the order in which they are sent, those sent again included;
    `of_jobs` are its first job, its third, ...: then only requests of these are counted.
    """

    probability: Number | None = Field(default=None, gt=0, le=1)
    nth: Ordinals | None = None
    of_jobs: Ordinals | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.probability is None) == (self.nth is None):
            raise ValueError("give either probability or nth")
        return self

    @property
    def kinds(self) -> list[AnyRequestName]:
        """Which kinds of requests it is about."""
        return [DECIDES]

    @property
    def log_files(self) -> list[LogFile] | None:
        """Which files of the log it is about; `None`: whatever the request is for."""
        return None


class StrikeAmong(Strike):
    """A strike that says which `requests`, and which `files` of the log."""

    requests: list[AnyRequestName] = Field(default=[DECIDES], min_length=1)
    files: list[LogFile] | None = Field(default=None, min_length=1)

    @property
    def kinds(self) -> list[AnyRequestName]:
        return self.requests

    @property
    def log_files(self) -> list[LogFile] | None:
        return self.files


def _only_writes(requests: list[AnyRequestName], what: str) -> list[AnyRequestName]:
    if not set(requests) <= set(WRITES):
        raise ValueError(f"only {', '.join(WRITES)} {what}")
    return requests


class LostReplySection(StrikeAmong):
    """The request takes effect, its reply never arrives."""


class LateEffect(StrikeAmong):
    """A write takes effect `delay` after the client has given up waiting for its reply."""

    delay: Distribution

    @field_validator("requests")
    @classmethod
    def _writes(cls, requests: list[AnyRequestName]) -> list[AnyRequestName]:
        return _only_writes(requests, "have an effect that can be late")


class DuplicateDelivery(Strike):
    """What decides a commit is delivered twice: its effect happens again, `delay` later.

    Nobody waits for the second reply. A proxy or a client's library that sends again does so. What
    was refused (409, 503) had no effect that could happen again.
    """

    delay: Distribution


class Conflict409(Strike):
    """A put-if-absent is answered 409 instead of 412 or 200: it has no effect, and says nothing.

    What a client makes of that is its `on_409`. Source: Amazon S3 user guide, conditional writes:
    "on a 409 failure you should retry the upload".
    """


class Throttling(StrikeAmong):
    """The store answers 503 or 429 instead of serving the request."""

    requests: list[AnyRequestName] = Field(default=EVERY_KIND, min_length=1)


class Pause(StrikeAmong):
    """The writer's process stands still for `lasts` before it sends a request (GC, a laptop)."""

    lasts: Distribution


class CrashAtRequest(StrikeAmong):
    """A writer's driver dies `when` it sends a request: `before`, `during` or `after`.

    Before: it is never sent. During: it is on its way, and arrives. After: it has taken effect, and
    the reply finds nobody. The driver is back after `restart`.
    """

    when: Literal["before", "during", "after"] = "during"
    restart: Distribution

    @field_validator("requests")
    @classmethod
    def _writes(cls, requests: list[AnyRequestName]) -> list[AnyRequestName]:
        return _only_writes(requests, "are requests that a driver can die at")


class StaleListing(Strike):
    """A listing of the log misses its `misses` newest versions, as before S3 was consistent.

    One listing counts once, however many pages it has.
    """

    misses: Whole = Field(default=1, ge=1, le=MAX_COUNT)

    @property
    def kinds(self) -> list[AnyRequestName]:
        return ["list"]


class WriterCrash(Section):
    """A writer's driver dies, at `rate` while it is up, and is back after `restart`."""

    rate: Rate
    restart: Distribution


class Fault(OneOf):
    """One fault; `writers` and `between` (two instants) say whom and when it strikes.

    Of `writers` each is a group (`etl`) or one of its members (`etl-2`).
    """

    shared: ClassVar[frozenset[str]] = frozenset({"writers", "between", "description", "source"})

    lost_reply: LostReplySection | None = None
    late_effect: LateEffect | None = None
    throttling: Throttling | None = None
    writer_crash: WriterCrash | None = None
    crash_at_request: CrashAtRequest | None = None
    duplicate_delivery: DuplicateDelivery | None = None
    conflict_409: Conflict409 | None = None
    pause: Pause | None = None
    stale_listing: StaleListing | None = None
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

    @property
    def strike(self) -> Strike | None:
        """What it does to requests, if that is what it is about."""
        return self.chosen if isinstance(self.chosen, Strike) else None

    @property
    def is_counted(self) -> bool:
        """Whether it depends on the order in which a writer sends its requests."""
        return self.strike is not None and self.strike.nth is not None

"""The `store:` of a scenario: an object store's latencies, limits and client, each with its source.

Profiles live in `scenarios/stores/`; a scenario names one and may override any part of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.quantities.bounds import MAX_COUNT, MAX_PARALLEL_READS, MAX_THROTTLE_RETRIES
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import DAY_MS, Duration, Number, Whole
from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.scenario.origin import Sourced

RequestName = Literal["list", "get", "head", "put", "put_if_absent", "copy", "delete", "rename"]
"""What a store can be asked."""

ServiceRequestName = Literal["get_item", "query", "put_item", "get_commits", "ratify"]
"""What the services beside it can be asked: DynamoDB and a catalog."""


class Measured(Sourced):
    """How long one kind of request takes, and where the figure is from.

    Either its `latency` from sent to reply, as a client measures it, of which `effect.share` is the
    way out; or both ways apart, `out` and `back`, each drawn by itself.
    """

    latency: Distribution | None = None
    out: Distribution | None = None
    back: Distribution | None = None

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


class Transfer(Measured):
    """How long an object takes, to or from the store; `per_mib` of its bytes comes on top."""

    per_mib: Duration = 0.0


class ListingSection(Measured):
    """How long one page of a listing takes: `page_size` keys at most, one page after the other."""

    page_size: Whole = Field(default=1000, ge=1, le=MAX_COUNT)
    per_1000_keys: Duration = 0.0


class AnswerSection(Sourced):
    """How long a put-if-absent takes that ends in one way: its `latency`, or its way `back`."""

    latency: Distribution | None = None
    back: Distribution | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.latency is None) == (self.back is None):
            raise ValueError("give either latency or back")
        return self


class AtKey(Sourced):
    """The queue at the log's newest key: one put-if-absent is served at a time, as they arrive.

    One that creates its object is served for `success`, and seen by others after `effect_share` of
    that; one that finds its key taken is served for `loss`. Who comes meanwhile waits. Between a
    way out and a way back these times come on top; of a latency, which was measured without
    rivals, they are a part, and so constants.
    """

    success: Distribution
    loss: Distribution
    effect_share: Number = Field(default=1.0, ge=0, le=1)

    @property
    def is_constant(self) -> bool:
        """Whether nothing is drawn."""
        return self.success.constant is not None and self.loss.constant is not None


class ConditionalPut(Section):
    """Put-if-absent: how long it takes when it creates the object, and when it finds one there.

    Either both answers have their `latency`, of which `effect.share` is the way out; or there is a
    way `out`, which is the same for both, and each answer's way `back`. A put may wait `at_key` and
    be served there.

    With `exclusive: false` the store has none: the client looks whether the object is there when it
    sends, and whoever writes last wins (S3 before 2024, with Delta's S3SingleDriverLogStore).
    """

    exclusive: bool = True
    out: Distribution | None = None
    at_key: AtKey | None = None
    success: AnswerSection
    loss: AnswerSection

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        apart = {self.out is not None, *(a.back is not None for a in (self.success, self.loss))}
        if len(apart) > 1:
            raise ValueError("give out and the back of success and of loss, or the latency of both")
        if self.at_key is not None and self.out is None and not self.at_key.is_constant:
            raise ValueError("at_key is part of the latency here: give constants, or out and back")
        return self

    def served_ms(self, taken: bool) -> float:
        """How much of an answer's `latency` is service at the key."""
        if self.at_key is None or self.out is not None:
            return 0.0
        return (self.at_key.loss if taken else self.at_key.success).mean_ms()


class EffectPoint(Sourced):
    """When a request takes effect, as a share of its latency.

    That of a put-if-absent, whose latency depends on what comes of it, is the share of the latency
    of its faster answer, but never longer than the shortest of both.
    """

    share: Number = Field(ge=0, le=1)


class LogStore(Sourced):
    """The requests that Delta's log store makes of the object store, in their order.

    A version is taken by its `protocol`. `before_put` and `after_put` surround that, `probe` looks
    whether a file is there (the first request tells; only where it is not, the others follow) and
    is made before a file is created, `read` reads one file of the log, `checksum` writes the one of
    a version (readable when its copy or rename, else its put, takes effect), `pointer` writes
    `_last_checkpoint`, `delete` removes an expired file. Where it takes the `commit_lock`, the
    commits of one JVM exclude each other, and whoever lists.
    """

    protocol: CommitProtocol = CommitProtocol.CONDITIONAL_PUT
    probe: list[RequestName] = Field(default_factory=list)
    before_put: list[RequestName] = Field(default_factory=list)
    after_put: list[RequestName] = Field(default_factory=list)
    read: list[RequestName] = Field(min_length=1)
    checksum: list[RequestName] = Field(min_length=1)
    pointer: list[RequestName] = Field(min_length=1)
    delete: list[RequestName] = Field(min_length=1)
    commit_lock: bool = False

    @property
    def requests(self) -> tuple[list[RequestName], ...]:
        """Everything that it asks for."""
        writes = self.checksum, self.pointer, self.delete
        return self.before_put, self.after_put, self.read, *writes, self.probe


class DynamoDB(Sourced):
    """The table of commits that Delta's S3DynamoDBLogStore keeps, and how long its requests take.

    The item of a complete commit goes `ttl` later, by the clock of whoever completed it.
    """

    get_item: Measured
    query: Measured
    put_item: Measured
    ttl: Duration = DAY_MS


class Catalog(Sourced):
    """The catalog that ratifies a table's commits, and how long its requests take."""

    get_commits: Measured
    ratify: Measured


class SparkClient(Sourced):
    """How Spark reads a table's state from its log: a job of its own, whatever it reads.

    A job takes `job`, or `metadata_job` where it reads protocol and metadata alone (as long unless
    it is said); then its files are read one after the other in `parallel_reads` tasks.
    With `fast_listing` a listing is one page (`delta.enableFastS3AListFrom`).
    """

    job: Duration
    metadata_job: Duration | None = None
    parallel_reads: Whole = Field(ge=1, le=MAX_PARALLEL_READS)
    fast_listing: bool = False

    def job_ms(self, whole_state: bool) -> float:
        """How long a job takes before it reads its files."""
        if whole_state or self.metadata_job is None:
            return self.job
        return self.metadata_job


class DataFilesSection(Sourced):
    """The requests that a job makes for each data file that it reads, and for each that it writes.

    They count against the limits, evenly over the job's compute time, which they are part of; what
    is refused is sent again as any request is, and the job takes longer by that.
    """

    read: list[RequestName] = Field(default_factory=list)
    write: list[RequestName] = Field(default_factory=list)


class Limits(Sourced):
    """Requests per second that are served before the store throttles (503 or 429).

    Reads and writes apart, or all together (`requests_per_s`). They hold for each `prefix`, that
    is for the log and for each partition's directory of data files by itself, or for the `account`,
    of which other tables take `others_per_s` all the time, from each limit.
    """

    writes_per_s: Number | None = Field(default=None, gt=0)
    reads_per_s: Number | None = Field(default=None, gt=0)
    requests_per_s: Number | None = Field(default=None, gt=0)
    others_per_s: Number = Field(default=0.0, ge=0)
    of_each: Literal["prefix", "account"] = "prefix"

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        apart = [limit for limit in (self.writes_per_s, self.reads_per_s) if limit is not None]
        if self.requests_per_s is not None and apart:
            raise ValueError("give requests_per_s, or writes_per_s and reads_per_s")
        limits = apart if self.requests_per_s is None else [self.requests_per_s]
        if self.others_per_s and self.others_per_s >= min(limits, default=0.0):
            raise ValueError("others_per_s leaves nothing: it is not below each limit")
        return self


class Sdk(Sourced):
    """The retries of the vendor's library below the file system client: `attempts` in all.

    It waits from nothing to `backoff_base`, doubled with each attempt, up to `backoff_cap`.
    """

    attempts: Whole = Field(ge=1, le=MAX_THROTTLE_RETRIES)
    backoff_base: Duration = Field(gt=0)
    backoff_cap: Duration = Field(gt=0)


class On409(StrEnum):
    """What a client makes of the answer 409 to a put-if-absent.

    The S3 user guide asks it to send again. object_store took it for "already exists" (pull request
    852 of arrow-rs-object-store); a client that does not know it fails.
    """

    RESEND = "resend"
    TAKEN = "taken"
    FAIL = "fail"


class ClientSection(Sourced):
    """The store's client: what it does when throttled, and when a reply does not come.

    A throttled request is sent again up to `throttle_retries` times after a wait that doubles from
    `backoff_base` up to `backoff_cap`, with full jitter; then its transaction fails. Where there is
    an `sdk`, each of these sendings is made of its attempts. When no reply comes within `timeout`,
    a read or list is sent again; what becomes of a commit's put, the policy `on_lost_reply` says
    (`engine/transaction/lost_reply.py`). A put-if-absent that is answered 409 is sent again as a
    throttled one, taken for lost or failed, as `on_409` says.
    """

    timeout: Duration = Field(gt=0)
    on_lost_reply: LostReply = LostReply.SURFACE
    on_409: On409 = On409.RESEND
    throttle_retries: Whole = Field(ge=0, le=MAX_THROTTLE_RETRIES)
    backoff_base: Duration = Field(gt=0)
    backoff_cap: Duration = Field(gt=0)
    sdk: Sdk | None = None


class StoreSection(Section):
    """One object store, as seen by one client in the same region."""

    profile: str
    description: str
    put_if_absent: ConditionalPut
    put: Transfer
    get: Transfer
    head: Measured
    copy_object: Measured | None = Field(default=None, alias="copy")
    delete: Measured
    rename: Measured | None = None
    list: ListingSection
    dynamodb: DynamoDB | None = None
    catalog: Catalog | None = None
    effect: EffectPoint
    log_store: LogStore
    spark: SparkClient
    data_files: DataFilesSection | None = None
    limits: Limits
    client: ClientSection

    @model_validator(mode="after")
    def _knows_what_the_log_store_asks(self) -> Self:
        asked = {kind for kinds in self.log_store.requests for kind in kinds}
        for kind, measured in (("copy", self.copy_object), ("rename", self.rename)):
            if kind in asked and measured is None:
                raise ValueError(f"log_store asks for {kind}, but how long that takes is not given")
        return self

    @model_validator(mode="after")
    def _has_what_the_protocol_needs(self) -> Self:
        match self.log_store.protocol:
            case CommitProtocol.DYNAMODB if self.dynamodb is None:
                needs = "dynamodb, the service that decides (as in the profile s3-dynamodb)"
            case CommitProtocol.CATALOG if self.catalog is None:
                needs = "catalog, the service that decides (as in the profile catalog-managed)"
            case CommitProtocol.RENAME if self.rename is None:
                needs = "rename: on this store a rename is a copy, which excludes nobody"
            case CommitProtocol.SINGLE_DRIVER if not self.log_store.probe:
                needs = "log_store.probe: who does not look never loses"
            case _:
                return self
        raise ValueError(f"log_store.protocol {self.log_store.protocol} needs {needs}")

    @property
    def is_exclusive(self) -> bool:
        """Whether no commit file can be written over another one."""
        protocol = self.log_store.protocol
        if protocol is CommitProtocol.CONDITIONAL_PUT:
            return self.put_if_absent.exclusive
        return protocol is not CommitProtocol.SINGLE_DRIVER

    def with_log_store(self, log_store: LogStore | None) -> StoreSection:
        """As a driver uses it that is set to another log store. Raises `ValidationError`."""
        if log_store is None:
            return self
        return StoreSection.model_validate(
            self.model_copy(update={"log_store": log_store}).model_dump()
        )

    @property
    def asked_kinds(self) -> set[str]:
        """The kinds of requests that a writer may send; `put_if_absent` is what decides."""
        of_log_store = {kind for kinds in self.log_store.requests for kind in kinds}
        always = {"list", "get", "head", "put", "put_if_absent"}
        return always | of_log_store | _OF_PROTOCOLS.get(self.log_store.protocol, set())

    @property
    def takes_time(self) -> bool:
        """Whether every transaction spends time on requests: it lists the log, at least."""
        return self.list.takes_time


_OF_PROTOCOLS = {
    CommitProtocol.DYNAMODB: {"get_item", "query", "put_item"},
    CommitProtocol.RENAME: {"rename", "delete"},
    CommitProtocol.CATALOG: {"get_commits", "ratify"},
}
"""What only some protocols ask for."""

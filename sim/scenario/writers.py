"""The `writers:` of a scenario: who writes what, how often, and what it does when refused."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from whitecap.engine.dialects import DIALECTS, unknown_dialect
from whitecap.engine.errors import Problem, said_unknown
from whitecap.scenarios import SCENARIOS
from whitecap.sim.quantities.bounds import MAX_COUNT, MAX_WRITERS
from whitecap.sim.quantities.distributions import Distribution
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Duration, Whole
from whitecap.sim.scenario.arrivals import ZERO, Arrival, Open, Trace
from whitecap.sim.scenario.parameters import Nothing, Parameter, RowsSection
from whitecap.sim.scenario.store import LogStore
from whitecap.sim.scenario.yaml.text import read_yaml


class FixedRerun(Section):
    """Run again after `wait`, at most `budget` times per job."""

    wait: Duration
    budget: Whole = Field(default=10, ge=0, le=MAX_COUNT)
    after_unknown: bool = False


class ExponentialRerun(Section):
    """Run again after a wait that doubles from `base` up to `cap`, at most `budget` times per job.

    `jitter` spreads the wait w: `full` over [0, w], `equal` over [w/2, w]; `decorrelated` instead
    draws from [base, 3 * previous wait], up to `cap`.
    """

    base: Duration = Field(gt=0)
    cap: Duration = Field(gt=0)
    jitter: Literal["none", "full", "equal", "decorrelated"] = "full"
    budget: Whole = Field(default=10, ge=0, le=MAX_COUNT)
    after_unknown: bool = False

    @field_validator("cap")
    @classmethod
    def _ordered(cls, cap: float, others: ValidationInfo) -> float:
        if cap < others.data.get("base", cap):
            raise ValueError("cap is smaller than base")
        return cap


class Rerun(OneOf):
    """What the application does with an aborted job. `after_unknown`: also with an unknown one."""

    none: Nothing | None = None
    fixed: FixedRerun | None = None
    exponential: ExponentialRerun | None = None


@lru_cache(maxsize=1)
def restart_presets() -> dict[str, dict[str, Any]]:
    """What products do when a task fails, by name."""
    presets: dict[str, dict[str, Any]] = read_yaml(SCENARIOS / "restarts.yaml").content
    return presets


def _over(preset: Any, value: Any) -> Any:
    """An option of a preset, with what is said besides in its place."""
    both = isinstance(preset, dict) and isinstance(value, dict)
    return preset | value if both else value


class Restart(OneOf):
    """What starts an application again whose statement failed, its reruns included.

    That an orchestrator does: it waits by its own policy, then starting `takes` its time, and a
    driver that serves nobody else has forgotten what it knew of the log.
    """

    shared: ClassVar[frozenset[str]] = frozenset({"takes", "preset", "description", "source"})

    fixed: FixedRerun | None = None
    exponential: ExponentialRerun | None = None
    takes: Duration = 0.0
    preset: str = ""
    description: str = ""
    source: str = ""

    @model_validator(mode="before")
    @classmethod
    def _of_a_preset(cls, given: Any) -> Any:
        options = {"preset": given} if isinstance(given, str) else given
        if not isinstance(options, dict) or not isinstance(options.get("preset", ""), str):
            return options
        if not options.get("preset"):
            return options
        presets = restart_presets()
        if options["preset"] not in presets:
            raise ValueError(said_unknown("preset", options["preset"], presets))
        preset = presets[options["preset"]]
        return preset | {key: _over(preset.get(key), value) for key, value in options.items()}

    @property
    def policy(self) -> FixedRerun | ExponentialRerun:
        """When it does so."""
        chosen: FixedRerun | ExponentialRerun = self.chosen
        return chosen


class ComputeSection(Section):
    """How long the Spark job between snapshot and commit takes, data files included.

    `time` is drawn once per transaction; to it comes time in proportion to the rows read, the bytes
    read and written, and the files that have to be opened. An auto compaction after its commit
    takes no `time` again, but what it reads and writes in proportion.
    """

    time: Distribution = ZERO
    per_million_rows: Duration = 0.0
    per_gib: Duration = 0.0
    per_file: Duration = 0.0

    @property
    def takes_time(self) -> bool:
        """Whether any transaction can take time by it."""
        return bool(self.time.mean_ms() or self.per_million_rows or self.per_gib or self.per_file)

    @model_validator(mode="before")
    @classmethod
    def _bare_distribution(cls, given: Any) -> Any:
        spelled_out = isinstance(given, dict) and not given.keys() - cls.model_fields.keys()
        return given if spelled_out or isinstance(given, ComputeSection) else {"time": given}


class Streaming(Section):
    """A streaming query that appends a batch of rows per job.

    Queries that name the same `checkpoint` share an application id and process the same batches:
    each takes the next batch id that the checkpoint does not hold. With `reads_table` the query
    also reads the table that it writes, as one that joins with it does. Of several tables it writes
    the one that is named.
    """

    checkpoint: str
    table: str | None = None
    reads_table: bool = False
    rows: RowsSection = RowsSection(count=100)


class ForeachBatch(Section):
    """A streaming query whose function runs the writer's statements on each of its batches.

    Structured Streaming takes a batch as done when its function has come to its end: until then
    the next trigger, or a restart, runs all its statements once more with the same values. With
    `idempotent` each of them bears the query's id and the batch's number (txnAppId, txnVersion), by
    which a table that has it knows it again. Queries that name the same `checkpoint` process the
    same batches.
    """

    checkpoint: str = Field(min_length=1)
    idempotent: bool = False


class ClockSkew(OneOf):
    """By how much a driver's clock is wrong, throughout: `ahead`, `behind`, or `either_way`.

    Drawn once for each cluster. A bare duration is ahead.
    """

    ahead: Distribution | None = None
    behind: Distribution | None = None
    either_way: Distribution | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_distribution_is_ahead(cls, given: Any) -> Any:
        is_choice = isinstance(given, dict) and bool(given.keys() & set(cls.model_fields))
        return given if is_choice or isinstance(given, ClockSkew) else {"ahead": given}

    def ms(self, rank: float, side: float) -> float:
        """What is added to the right time, by two uniform numbers: how much, and which way."""
        size_ms: float = self.chosen.at(rank)
        is_behind = self.behind is not None or (self.either_way is not None and side < 0.5)
        return -size_ms if is_behind else size_ms


class JobPart(Section):
    """One of the statements that a job runs one after the other, each in transactions of its own.

    It has parameters of its own; without `compute` its time is that of its writer.
    """

    statement: str
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    compute: ComputeSection | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_statement(cls, given: Any) -> Any:
        return {"statement": given} if isinstance(given, str) else given


def _known_dialect(name: str) -> str:
    if name not in DIALECTS:
        raise ValueError(str(Problem("", *unknown_dialect(name))))
    return name


DialectName = Annotated[str, AfterValidator(_known_dialect)]


class WriterGroup(Section):
    """`count` equal writers, named `group-1`, `group-2`, ...

    Each is a cluster of its own, unless `cluster` names one: all writers of groups that name it are
    threads of its driver. They share what it knows of the log, its locks, its clock, which may be
    wrong by a `clock_skew`, and its crashes. They work by a `dialect` of their own, or by the
    scenario's. Whose driver is set to another `log_store` than the store's names a profile that
    has it.

    A job runs one `statement`, or several `statements` in their order. Delta has no transaction
    over them: what is committed stays when a later one is given up. Of a query with `foreach_batch`
    each job is a batch.

    A job that has not succeeded when its `deadline` has passed, counted from the instant at which
    it fell due, is given up, whatever it is doing then.
    """

    count: Whole = Field(default=1, ge=1, le=MAX_WRITERS)
    cluster: str | None = Field(default=None, min_length=1)
    clock_skew: ClockSkew | None = None
    log_store: LogStore | None = None
    dialect: DialectName | None = None
    statement: str | None = None
    statements: list[JobPart] | None = Field(default=None, min_length=1)
    streaming: Streaming | None = None
    foreach_batch: ForeachBatch | None = None
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    arrival: Arrival
    starts: Duration = 0.0
    stops: Duration | None = None
    compute: ComputeSection = ComputeSection()
    rerun: Rerun = Rerun(none=Nothing())
    restart: Restart | None = None
    deadline: Duration | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = (self.statement, self.statements, self.streaming)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give one of statement, statements and streaming")
        if self.statements is not None and self.parameters:
            raise ValueError("each of several statements has parameters of its own")
        return self

    @model_validator(mode="after")
    def _one_batch_at_a_time(self) -> Self:
        if self.streaming is not None and self.foreach_batch is not None:
            raise ValueError("streaming appends by itself: foreach_batch goes with statements")
        if self.is_triggered and self.overlaps_itself:
            raise ValueError("a query runs one batch at a time: its arrival needs concurrency: 1")
        return self

    @property
    def overlaps_itself(self) -> bool:
        """Whether its arrival lets several jobs of one writer run at a time."""
        chosen = self.arrival.chosen
        return isinstance(chosen, Open | Trace) and chosen.concurrency != 1

    @property
    def is_triggered(self) -> bool:
        """Whether its jobs are batches of a streaming query, whose arrival is its trigger."""
        return self.streaming is not None or self.foreach_batch is not None

    @property
    def skips_what_it_missed(self) -> bool:
        """Whether its schedule is a query's trigger interval, of which nothing piles up."""
        schedule = self.arrival.schedule
        return self.is_triggered and schedule is not None and schedule.every is not None

    @property
    def parts(self) -> list[JobPart]:
        """The statements of a job; none of a streaming query."""
        if self.statements is not None:
            return self.statements
        if self.statement is None:
            return []
        return [JobPart.model_construct(statement=self.statement, parameters=self.parameters)]

    @property
    def all_parameters(self) -> list[Parameter]:
        """Those of all its statements."""
        own = [self.parameters, *(part.parameters for part in self.statements or ())]
        return [parameter for parameters in own for parameter in parameters.values()]

    def compute_of(self, part: JobPart) -> ComputeSection:
        """How long the jobs of Spark take that one of its statements makes."""
        return part.compute or self.compute

    @property
    def _computes(self) -> list[ComputeSection]:
        """Those of a job's transactions."""
        return [self.compute_of(part) for part in self.parts] or [self.compute]

    @property
    def takes_time(self) -> bool:
        """Whether any job can take time by what it computes."""
        return any(compute.takes_time for compute in self._computes)

    @property
    def computes_constantly(self) -> bool:
        """Whether no draw decides how long its Spark jobs take."""
        return all(compute.time.constant is not None for compute in self._computes)

    @model_validator(mode="after")
    def _takes_one_time(self) -> Self:
        trace = self.arrival.trace
        if trace is not None and trace.has_durations and self.compute.time != ZERO:
            raise ValueError("compute.time is not used: the trace says how long its jobs take")
        if trace is not None and trace.has_durations and len(self.parts) > 1:
            raise ValueError("a trace says how long a job takes, not each of several statements")
        return self

    @field_validator("stops")
    @classmethod
    def _after_it_starts(cls, stops: float | None, others: ValidationInfo) -> float | None:
        if stops is not None and stops <= others.data.get("starts", 0.0):
            raise ValueError("stops before it starts")
        return stops

    def members(self, name: str) -> list[str]:
        """The names of its writers, where it is called `name`."""
        return [f"{name}-{number}" for number in range(1, self.count + 1)]

    def jobs(self, duration_ms: float, requests_ms: float) -> float:
        """About how many jobs each of its writers starts, with `requests_ms` for those of one."""
        own_ms = sum(compute.time.mean_ms() for compute in self._computes)
        return self.arrival.jobs(duration_ms, own_ms + requests_ms)


def tells_statements_apart(writers: Iterable[WriterGroup], tables: int) -> bool:
    """Whether transactions are of several tables, or of several statements of one job."""
    return tables > 1 or any(len(group.parts) > 1 for group in writers)

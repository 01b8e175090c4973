"""A whole scenario, checked: what `load_scenario` returns and everything else works from."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from typing import Any, Final, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator

from whitecap.engine.dialects import DEFAULT_DIALECT, Dialect, dialect_named
from whitecap.engine.log.properties import IN_COMMIT_TIMESTAMPS
from whitecap.engine.recorded import AxisRole, Measure, Objective
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import session_of
from whitecap.engine.values.types import Session
from whitecap.sim.quantities.bounds import MAX_JOBS, MAX_SEED, MAX_WRITERS
from whitecap.sim.quantities.names import FILE_NAME, too_long
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.start import DEFAULT_START, StartInstant, epoch_ms
from whitecap.sim.quantities.units import Duration, WarmUp, Whole, show_duration
from whitecap.sim.scenario.cells import Labels
from whitecap.sim.scenario.clusters import ClusterOptions, Load, Price
from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.hashing import hash_of
from whitecap.sim.scenario.objective import Objectives
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.sweep import (
    DEFAULT_REPLICATIONS,
    Axes,
    Changes,
    SweepSection,
)
from whitecap.sim.scenario.table import TableSection, is_set, property_text, tables_by_name
from whitecap.sim.scenario.writers import (
    ClockSkew,
    DialectName,
    WriterGroup,
    tells_statements_apart,
)
from whitecap.sim.scenario.yaml.text import show_document

Document = dict[str, Any]
"""A scenario as its file says it, before defaults."""

SCENARIO_FORMAT: Final = 1
"""Rises when what an older file says would mean something else now."""


class Scenario(Section):
    """One experiment: a table or several, a store, writers, faults, and for how long.

    `tables` are by name, which is what statements call them; a scenario has them or one `table`.
    `start` is the wall clock (UTC) at simulated instant 0; it decides which day is the newest. A
    `load` is on all clusters, one of its own on top of it. With a `price` runs have costs.
    """

    format_version: Whole = Field(default=SCENARIO_FORMAT, ge=SCENARIO_FORMAT, le=SCENARIO_FORMAT)
    name: str = Field(pattern=FILE_NAME)
    description: str = ""
    dialect: DialectName = DEFAULT_DIALECT.name
    seed: Whole = Field(default=1, ge=0, le=MAX_SEED)
    start: StartInstant = DEFAULT_START
    duration: Duration = Field(gt=0)
    warm_up: WarmUp = 0.0
    settings: dict[str, str] = Field(default_factory=dict)
    table: TableSection | None = None
    tables: dict[str, TableSection] = Field(default_factory=dict, validate_default=True)
    store: StoreSection
    faults: list[Fault] = Field(default_factory=list)
    load: Load | None = None
    clusters: dict[str, ClusterOptions] = Field(default_factory=dict)
    price: Price | None = None
    writers: dict[str, WriterGroup] = Field(min_length=1)
    expect: list[Expectation] = Field(default_factory=list)
    objective: Objectives = Field(default_factory=list)
    may_change: list[str] = Field(default_factory=list)
    sweep: SweepSection | None = None

    _document: Document = PrivateAttr(default_factory=dict)
    _source: str = PrivateAttr(default="")
    _labels: dict[str, str] = PrivateAttr(default_factory=dict)
    _changes: dict[str, Any] = PrivateAttr(default_factory=dict)
    _texts: dict[int, str] = PrivateAttr(default_factory=dict)

    @field_validator("name")
    @classmethod
    def _short_enough(cls, name: str) -> str:
        if said := too_long(name):
            raise ValueError(said)
        return name

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_text(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: property_text(value) for key, value in given.items()}

    @field_validator("warm_up")
    @classmethod
    def _ends_before_the_run(cls, warm_up: float | None, others: ValidationInfo) -> float | None:
        duration = others.data.get("duration", math.inf)
        if warm_up is not None and warm_up >= duration:
            took, lasts = show_duration(warm_up), show_duration(duration)
            raise ValueError(f"{took} are not shorter than the duration, which is {lasts}")
        return warm_up

    @field_validator("tables", mode="before")
    @classmethod
    def _named_by_their_keys(cls, tables: Any) -> Any:
        return tables_by_name(tables) if isinstance(tables, dict) else tables

    @field_validator("tables")
    @classmethod
    def _or_one_table(
        cls, tables: dict[str, TableSection], others: ValidationInfo
    ) -> dict[str, TableSection]:
        if others.data.get("table") is not None and tables:
            raise ValueError("goes not with table: give one of both")
        if "table" in others.data and others.data["table"] is None and not tables:
            raise ValueError("'table' is missing, or tables by their names")
        return tables

    @field_validator("store")
    @classmethod
    def _fits_the_tables(cls, store: StoreSection, others: ValidationInfo) -> StoreSection:
        if store.log_store.protocol is not CommitProtocol.CATALOG:
            return store
        placed = {f"tables.{name}": each for name, each in others.data.get("tables", {}).items()}
        for place, table in {"table": others.data.get("table"), **placed}.items():
            if table is None or is_set(table.properties.get(IN_COMMIT_TIMESTAMPS.key)):
                continue
            needed = f"{place}.properties: {{{IN_COMMIT_TIMESTAMPS.key}: true}}"
            raise ValueError(f"a catalog-managed table has in-commit timestamps: set {needed}")
        return store

    @field_validator("writers")
    @classmethod
    def _not_too_many(cls, writers: dict[str, WriterGroup]) -> dict[str, WriterGroup]:
        total = sum(group.count for group in writers.values())
        if total > MAX_WRITERS:
            raise ValueError(f"{total:,} writers are more than {MAX_WRITERS:,}")
        return writers

    @field_validator("writers")
    @classmethod
    def _one_clock_each(cls, writers: dict[str, WriterGroup]) -> dict[str, WriterGroup]:
        skews: dict[str, ClockSkew] = {}
        for name, group in writers.items():
            if group.cluster is None or group.clock_skew is None:
                continue
            if skews.setdefault(group.cluster, group.clock_skew) != group.clock_skew:
                said = f"cluster {group.cluster!r} has one clock, and one clock_skew"
                raise ValueError(f"writer {name!r}: {said}")
        return writers

    @field_validator("writers")
    @classmethod
    def _one_dialect_each(cls, writers: dict[str, WriterGroup]) -> dict[str, WriterGroup]:
        """Writers of one cluster are threads of one program."""
        dialects: dict[str, str | None] = {}
        for name, group in writers.items():
            if group.cluster is None:
                continue
            if dialects.setdefault(group.cluster, group.dialect) != group.dialect:
                said = f"cluster {group.cluster!r} is one program, of one dialect"
                raise ValueError(f"writer {name!r}: {said}")
        return writers

    @field_validator("writers")
    @classmethod
    def _time_passes(
        cls, writers: dict[str, WriterGroup], others: ValidationInfo
    ) -> dict[str, WriterGroup]:
        store: StoreSection | None = others.data.get("store")
        for name, group in writers.items():
            closed = group.arrival.closed
            waits = closed is None or closed.think.mean_ms() or group.takes_time
            if not (waits or store is None or store.takes_time):
                raise ValueError(f"writer {name!r} never waits: no time would pass")
        return writers

    @field_validator("writers")
    @classmethod
    def _come_to_an_end(
        cls, writers: dict[str, WriterGroup], others: ValidationInfo
    ) -> dict[str, WriterGroup]:
        store, duration = others.data.get("store"), others.data.get("duration")
        if store is None or duration is None:
            return writers
        listing = store.list.mean_ms()
        jobs = sum(group.count * group.jobs(duration, listing) for group in writers.values())
        if jobs > MAX_JOBS:
            raise ValueError(f"some {jobs:.0e} jobs are more than {MAX_JOBS:,}")
        crashes = sum(
            fault.writer_crash.rate * duration * group.count
            for fault in others.data.get("faults", ())
            if fault.writer_crash
            for group in writers.values()
        )
        if crashes > MAX_JOBS:
            raise ValueError(f"some {crashes:.0e} crashes are more than {MAX_JOBS:,}")
        return writers

    @property
    def all_tables(self) -> list[TableSection]:
        """Its tables, in their order."""
        return list(self.tables.values()) if self.table is None else [self.table]

    @property
    def axes(self) -> Axes:
        """The axes of its sweep; none without one."""
        return {} if self.sweep is None else self.sweep.axes

    @property
    def axis_roles(self) -> Mapping[str, AxisRole]:
        """The roles that are stated of them."""
        return {} if self.sweep is None else self.sweep.roles

    @property
    def replications(self) -> int:
        """How often each cell is run, where nobody says otherwise."""
        return DEFAULT_REPLICATIONS if self.sweep is None else self.sweep.replications

    @property
    def asks_oracles(self) -> bool:
        """Whether anything is expected of what the oracles find in its runs."""
        asked = {each.measure for each in self.expect} | {each.measure for each in self.objective}
        return Measure.FINDINGS in asked

    @property
    def tells_statements_apart(self) -> bool:
        """Whether transactions are of several tables, or of several statements of one job."""
        return tells_statements_apart(self.writers.values(), len(self.tables))

    @property
    def document(self) -> Document:
        """The scenario as written, with all changes applied; loading it gives an equal scenario."""
        return self._document

    def text(self, seed: int) -> str:
        """The document with this seed as YAML, written once for all runs of a sweep's cell."""
        if seed not in self._texts:
            self._texts[seed] = show_document({**self._document, "seed": seed})
        return self._texts[seed]

    @property
    def source(self) -> str:
        """The file that it was read from, for messages."""
        return self._source or f"{self.name}.yaml"

    @property
    def labels(self) -> Labels:
        """The cell of its file's sweep that it is, if it is one."""
        return self._labels

    @property
    def command(self) -> str:
        """What runs it again: `whitecap run` with its file, cell and changes."""
        chosen = [f"--cell={axis}={label}" for axis, label in self._labels.items()]
        chosen += [f"--set={path}={_flow(value)}" for path, value in self._changes.items()]
        return shlex.join(["whitecap", "run", self.source, *chosen])

    def command_of(self, seed: int, replication: int) -> str:
        """What makes one run of it again."""
        chosen = f"--seed {seed}" + (f" --replication {replication}" if replication else "")
        return f"{self.command} {chosen}"

    def comes_from(self, document: Document, source: str, labels: Labels, changes: Changes) -> Self:
        """Remember what it was made of. Returns itself."""
        self._document, self._source = document, source
        self._labels, self._changes, self._texts = dict(labels), dict(changes), {}
        return self

    def is_of(self, source: str) -> Self:
        """Remember the file behind it. Returns itself."""
        self._source = source
        return self

    @property
    def objectives(self) -> list[Objective]:
        """What it is chosen by, as recordings hold it."""
        return [stated.recorded for stated in self.objective]

    def dialect_of(self, group: WriterGroup) -> Dialect:
        """Whose rules the writers of a group follow."""
        return dialect_named(group.dialect or self.dialect)

    def settings_of(self, group: WriterGroup) -> Settings:
        """The settings of a group: of the scenario's, those that its own dialect has."""
        dialect = self.dialect_of(group)
        supported = dialect.settings_known(self.settings) if group.dialect else self.settings
        return dialect.settings_of(supported)

    @property
    def session(self) -> Session:
        """What its tables' own expressions depend on at the start."""
        dialect = dialect_named(self.dialect)
        return session_of(dialect.adjusted(dialect.settings_of(self.settings)))

    @property
    def dialects(self) -> str:
        """The scenario's dialect, with those of groups that have their own."""
        own = (f"{name} {g.dialect}" for name, g in self.writers.items() if g.dialect)
        return ", ".join((self.dialect, *own))

    @property
    def is_exclusive(self) -> bool:
        """Whether no commit can be written over another one: none by drivers that disagree."""
        groups = self.writers.values()
        return self.store.is_exclusive and all(group.log_store is None for group in groups)

    @property
    def start_ms(self) -> int:
        """Epoch milliseconds at simulated instant 0."""
        return epoch_ms(self.start)

    @property
    def hash(self) -> str:
        """Names what is simulated: equal for equal scenarios, however they are written, and where
        a store's figures are from."""
        return hash_of(self)


def _flow(value: Any) -> str:
    """A value as `--set` reads it: YAML on one line."""
    return json.dumps(value, default=str, ensure_ascii=False)

"""A whole scenario, checked: what `load_scenario` returns and everything else works from."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.store import Store
from whitecap.sim.scenario.sweep import Sweep
from whitecap.sim.scenario.table import Table, property_text
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.section import Section
from whitecap.sim.units import Duration

Document = dict[str, Any]
"""A scenario as its file says it, before defaults."""

DEFAULT_START = datetime(2026, 1, 14, 8, 0)
DEFAULT_START_MS = int(DEFAULT_START.replace(tzinfo=UTC).timestamp() * 1000)
"""The wall clock at simulated instant 0 where a scenario does not say."""

MAX_WRITERS = 4096
"""Writers of a run; new keys have room for as many (`sim/workload.py`)."""

NOT_PART_OF_THE_HASH = {"name", "description", "seed", "expect", "sweep"}
"""What may differ between two scenarios that simulate the same thing."""


class Scenario(Section):
    """One experiment: a table, a store, writers, faults, and for how long.

    `start` is the wall clock (UTC) at simulated instant 0; it decides which day is the newest.
    """

    name: str = Field(pattern=r"^[\w.-]+$")
    description: str = ""
    dialect: str = DELTA_OSS_4_4.name
    seed: int = Field(default=1, ge=0)
    start: datetime = DEFAULT_START
    duration: Duration = Field(gt=0)
    warm_up: Duration = 0.0
    settings: dict[str, str] = Field(default_factory=dict)
    table: Table
    store: Store
    faults: list[Fault] = Field(default_factory=list)
    writers: dict[str, WriterGroup] = Field(min_length=1)
    expect: list[Expectation] = Field(default_factory=list)
    sweep: Sweep | None = None

    _document: Document = PrivateAttr(default_factory=dict)
    _source: str = PrivateAttr(default="")

    @field_validator("settings", mode="before")
    @classmethod
    def _settings_text(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {key: property_text(value) for key, value in given.items()}

    @field_validator("dialect")
    @classmethod
    def _known_dialect(cls, dialect: str) -> str:
        if dialect not in DIALECTS:
            raise ValueError(f"there is no dialect {dialect!r}: there are {', '.join(DIALECTS)}")
        return dialect

    @model_validator(mode="after")
    def _warm_up_ends_before_the_run(self) -> Self:
        if self.warm_up >= self.duration:
            raise ValueError("warm_up is not shorter than duration")
        return self

    @field_validator("writers")
    @classmethod
    def _not_too_many(cls, writers: dict[str, WriterGroup]) -> dict[str, WriterGroup]:
        total = sum(group.count for group in writers.values())
        if total > MAX_WRITERS:
            raise ValueError(f"{total} writers are more than {MAX_WRITERS}")
        return writers

    @model_validator(mode="after")
    def _time_passes(self) -> Self:
        for name, group in self.writers.items():
            closed = group.arrival.closed
            waits = closed is None or closed.think.mean_ms() or group.compute.takes_time
            if not (waits or self.store.takes_time):
                raise ValueError(f"writer {name!r} never waits: no time would pass")
        return self

    @property
    def document(self) -> Document:
        """The scenario as written, with all changes applied; loading it gives an equal scenario."""
        return self._document

    @property
    def source(self) -> str:
        """The file that it was read from, for messages."""
        return self._source or f"{self.name}.yaml"

    def comes_from(self, document: Document, source: str) -> Self:
        """Remember what it was made of. Returns itself."""
        self._document, self._source = document, source
        return self

    @property
    def start_ms(self) -> int:
        """Epoch milliseconds at simulated instant 0."""
        start = self.start if self.start.tzinfo else self.start.replace(tzinfo=UTC)
        return int(start.timestamp() * 1000)

    @property
    def hash(self) -> str:
        """Names what is simulated: equal for equal scenarios, however they are written."""
        meaning = self.model_dump(mode="json", exclude=NOT_PART_OF_THE_HASH)
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()[:16]

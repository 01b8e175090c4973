"""Races drawn at random: a small table, up to four statements on it, and how they interleave.

A drawn race stays in parts (files, properties, conjuncts), so that one that shows a difference
can be made smaller part by part.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.dialects import Vendor, newest
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log import properties
from whitecap.engine.races.conformance.case import StatementCase
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.settings import DELTA_PREFIX
from whitecap.sim.replay.drawing.layouts import LAYOUTS, DrawnLayout
from whitecap.sim.replay.drawing.statements import (
    WITH_VECTORS,
    DrawnStatement,
    draw_history,
    draw_statement,
    one_fewer,
)

DIALECT = newest(Vendor.DELTA).name
COMPACTED = properties.AUTO_COMPACT.key

PROPERTIES: tuple[dict[str, str], ...] = (
    {properties.CHANGE_DATA_FEED.key: "true"},
    {properties.ROW_TRACKING.key: "true"},
    {properties.COLUMN_MAPPING_MODE.key: "name"},
    {properties.TYPE_WIDENING.key: "true"},
    {properties.CHECKPOINT_INTERVAL.key: "3"},
    {properties.IN_COMMIT_TIMESTAMPS.key: "true"},
    {properties.INDEXED_COLUMNS.key: "1"},
    {COMPACTED: "true"},
)
"""What a table may have besides an isolation level and deletion vectors."""

SETTINGS: tuple[dict[str, str], ...] = (
    {"spark.sql.sources.partitionOverwriteMode": "dynamic"},
    {DELTA_PREFIX + "optimize.batchSize": "1"},
    {DELTA_PREFIX + "skipRecordingEmptyCommits": "false"},
)
"""What a session may be set to: overwriting by partition, an OPTIMIZE of several transactions."""

AUTO_COMPACTION = {DELTA_PREFIX + "autoCompact.minNumFiles": "2"}
"""Without this property, small tables have too few files to be compacted after a commit."""


class DrawnRace(Struct, frozen=True):
    """A race in parts. See `StatementCase` for `before` and all that follows the settings."""

    name: str
    layout: DrawnLayout
    files: tuple[DataFile, ...]
    properties: Mapping[str, str]
    winners: tuple[DrawnStatement, ...]
    current: DrawnStatement
    settings: Mapping[str, str]
    before: tuple[DrawnStatement, ...] = ()
    overlapping: bool = False
    waits_at: int = 1
    rerun: bool = False

    def case(self) -> StatementCase:
        """The race as a conformance case that expects nothing yet."""
        return StatementCase(
            id=self.name,
            dialect=DIALECT,
            tables={"target": self._target(), "source": self._source()},
            winner=[each.sql() for each in self.winners],
            current=self.current.sql(),
            before=[each.sql() for each in self.before],
            overlapping=self.overlapping,
            waits_at=self.waits_at,
            rerun=self.rerun,
            settings=dict(self.settings),
            expect={},
        )

    def smaller(self) -> Iterator[DrawnRace]:
        """The race with one part less, larger parts first."""
        if self.rerun:
            yield replace(self, rerun=False)
        if self.overlapping:
            yield replace(self, overlapping=False)
        if len(self.winners) > 1:
            for winners in one_fewer(self.winners):
                yield replace(self, winners=winners)
        for before in one_fewer(self.before):
            yield replace(self, before=before)
        for files in one_fewer(self.files):
            yield replace(self, files=files)
        for kept_properties in _one_less(self.properties):
            yield replace(self, properties=kept_properties)
        for settings in _one_less(self.settings):
            yield replace(self, settings=settings)
        yield from self._smaller_statements()

    def _smaller_statements(self) -> Iterator[DrawnRace]:
        for current in self.current.smaller():
            yield replace(self, current=current)
        for number, winner in enumerate(self.winners):
            for other in winner.smaller():
                changed = (*self.winners[:number], other, *self.winners[number + 1 :])
                yield replace(self, winners=changed)

    def _target(self) -> TableOf:
        return TableOf(
            schema=self.layout.schema,
            partition_columns=list(self.layout.partition_columns),
            properties=dict(self.properties),
            files=list(self.files),
            versions=1 + len(self.files) + (ISOLATION_PROPERTY in self.properties),
        )

    def _source(self) -> TableOf:
        return TableOf(
            schema=self.layout.schema,
            partition_columns=[],
            properties={},
            files=[DataFile(partition_values={}, rows=list(self.layout.source))],
            versions=2,
        )


def draw_race(seed: int, number: int) -> DrawnRace:
    """Race `number` of a seed; each is drawn on its own, whatever was drawn before."""
    draw = random.Random(f"{seed}-{number}")
    layout = draw.choice(LAYOUTS)
    count = draw.choices((1, 2, 3), weights=(5, 4, 1))[0]
    winners = tuple(draw_statement(draw, layout, n) for n in range(count))
    current = draw_statement(draw, layout, 9)
    table_properties = _properties(draw, layout)
    # Of what is staged, Delta's phase locks let nothing follow the commit; see docs/fidelity.md.
    stages = count > 1 and COMPACTED not in table_properties
    return DrawnRace(
        name=f"drawn-{seed}-{number:04d}",
        layout=layout,
        files=layout.files(),
        properties=table_properties,
        winners=winners,
        current=current,
        settings=AUTO_COMPACTION | (draw.choice(SETTINGS) if draw.random() < 0.15 else {}),
        before=draw_history(draw, layout) if draw.random() < 0.3 else (),
        overlapping=stages and draw.random() < 0.5,
        waits_at=draw.randint(1, current.commits),
        rerun=draw.random() < 0.25,
    )


def _properties(draw: random.Random, layout: DrawnLayout) -> dict[str, str]:
    drawn = dict(
        draw.choice(({}, {WITH_VECTORS: "true"}, {ISOLATION_PROPERTY: "WriteSerializable"}))
    )
    if draw.random() < 0.2:
        drawn[WITH_VECTORS] = "true"
    if layout.wider:
        drawn[properties.TYPE_WIDENING.key] = "true"
    if draw.random() < 0.25:
        drawn |= draw.choice(PROPERTIES)
    return drawn


def _one_less(mapping: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for left_out in mapping:
        yield {key: value for key, value in mapping.items() if key != left_out}

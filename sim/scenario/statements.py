"""Do a writer's statement and its parameters fit the table and each other?"""

from __future__ import annotations

from collections.abc import Iterator

from engine.log.schema import Schema
from sim.scenario.table import Table
from sim.scenario.writers import WriterGroup
from sim.scenario.yaml_text import Place

Finding = tuple[Place, str, str | None]


def statement_problems(group: WriterGroup, table: Table, schema: Schema) -> Iterator[Finding]:
    """Every problem of a writer's statement, at its place within the writer."""
    yield from ()

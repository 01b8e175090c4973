"""What a recording says of the real tables that its run began with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whitecap.engine.dialects import Dialect
from whitecap.sim.real_table.keys import left_out
from whitecap.sim.real_table.reading import table_at_version
from whitecap.sim.scenario.table import TableSection

REAL_TABLES = "real_tables"
"""Their key in a manifest."""


def origins_of_tables(tables: Iterable[TableSection], dialect: Dialect) -> dict[str, Any]:
    """By table: which version of which real table it is, and what of that a run leaves out."""
    origins = {table.name: _origin(table, dialect) for table in tables if table.real is not None}
    return {REAL_TABLES: origins} if origins else {}


def _origin(table: TableSection, dialect: Dialect) -> dict[str, Any]:
    assert table.real is not None
    assert table.version is not None
    real = table_at_version(table.real, table.version)
    metadata = real.snapshot.metadata
    return {
        "place": real.place,
        "table_id": None if metadata is None else metadata.id,
        "version": real.snapshot.version,
        "files": real.snapshot.num_files,
        "rows_each": table.rows_each,
        "left_out": list(left_out(real.snapshot, dialect)),
    }

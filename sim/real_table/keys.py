"""What the log of a real table says, as the keys of a scenario's `table`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

from whitecap.engine.commands.schema.property_checks import (
    RETENTIONS,
    check_each,
    check_retention,
)
from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.isolation import ISOLATION_PROPERTY, TABLE_LEVELS, stated_level
from whitecap.engine.log import column_keys, properties
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.features.protocols import feature_names
from whitecap.engine.log.features.table_features import FEATURES_WRITER_VERSION
from whitecap.engine.log.schema import Field, Schema, ddl
from whitecap.engine.log.snapshot import Snapshot, physical_partition_columns
from whitecap.engine.values.texts import from_text
from whitecap.sim.quantities.bounds import MAX_BYTES_PER_ROW
from whitecap.sim.real_table.counts import RowCounts
from whitecap.sim.real_table.reading import RealTable
from whitecap.sim.table.fillers import filler_of

_Keys = Mapping[str, Any]

NEWEST_BEHIND = 2
"""Days by which the newest date may lie before the last commit for days to arrive one by one."""

SHARE_OF_DAYS = 0.7
"""Share of the days up to the newest that must be there for dates to count as days without gaps."""

_OF_COLUMNS = {
    column_keys.GENERATION_EXPRESSION: "generated values",
    column_keys.INVARIANTS: "invariants",
    column_keys.IDENTITY_START: "identity values",
    column_keys.CURRENT_DEFAULT: "defaults",
}
"""What a column's metadata says of its values, which are not read here -> what that is called."""


_SAID_OTHERWISE = {
    ISOLATION_PROPERTY,
    properties.MAX_COLUMN_ID,
    properties.ICT_ENABLEMENT_VERSION,
    properties.ICT_ENABLEMENT_TIMESTAMP,
}
"""Properties that are a key of a scenario, or that Delta notes by itself."""


def keys_of(table: RealTable, given: _Keys, dialect: Dialect) -> dict[str, Any]:
    """The table as a scenario would write it; what is `given` for it goes before what it says."""
    snapshot = table.snapshot
    files = snapshot.all_files()
    counts = RowCounts.of(files)
    rows_each = given.get("rows_each") or counts.rows_each
    clustered = list(clustering_columns(snapshot))
    said = {
        "schema": ddl(simulated_schema(snapshot.schema)),
        "partition_by": list(snapshot.partition_columns),
        **({"cluster_by": clustered} if clustered and not snapshot.partition_columns else {}),
        "isolation": _isolation(snapshot),
        "log": _log(table),
        "rows_each": rows_each,
        "bytes_per_row": _bytes_per_row(counts, rows_each),
    }
    own = {
        "properties": properties_of(snapshot, dialect),
        "values": values_of(snapshot, files),
    }
    over = {key: value for key, value in given.items() if value is not None}
    return {**said, **own, **over} | {
        key: {**part, **over[key]} for key, part in own.items() if isinstance(over.get(key), dict)
    }


def simulated_schema(schema: Schema) -> Schema:
    """The columns by name and type; those that are always NULL here may be NULL."""
    return Schema(
        tuple(
            Field(c.name, c.type, c.nullable or filler_of(c) is None, {}, c.nested) for c in schema
        )
    )


def _isolation(snapshot: Snapshot) -> str | None:
    level = stated_level(snapshot.configuration)
    return level.value if level in TABLE_LEVELS else None


def _bytes_per_row(counts: RowCounts, rows_each: int) -> int:
    return min(max(round(counts.bytes_each * rows_each), 1), MAX_BYTES_PER_ROW)


def _log(table: RealTable) -> _Keys:
    """As many commits as are kept, and checkpoints as they came where no property says it."""
    commits = {"commits": len(table.commits)}
    if properties.CHECKPOINT_INTERVAL.key in table.snapshot.configuration:
        return commits
    gaps = Counter(later - earlier for earlier, later in pairwise(table.checkpoints))
    return {**commits, "checkpoint_interval": gaps.most_common(1)[0][0] if gaps else None}


def properties_of(snapshot: Snapshot, dialect: Dialect) -> dict[str, str]:
    """The table's properties that this dialect has, and its features as properties ask for them."""
    stated = {key: v for key, v in snapshot.configuration.items() if _is_taken(key, v, dialect)}
    return {**_with_legal_retention(stated, dialect), **_protocol(snapshot)}


def _is_taken(key: str, value: str, dialect: Dialect) -> bool:
    if key == ISOLATION_PROPERTY or key.startswith(properties.CONSTRAINT_PREFIX):
        return False
    try:
        check_each({key: value}, dialect)
    except (DeltaError, UnsupportedFeature):
        return False
    return True


def _with_legal_retention(stated: dict[str, str], dialect: Dialect) -> dict[str, str]:
    """Properties without a pair that Delta refuses, though another engine has written it."""
    try:
        check_retention(stated, dialect)
    except DeltaError:
        pair = {each.key for each in RETENTIONS}
        return {key: value for key, value in stated.items() if key not in pair}
    return stated


def _protocol(snapshot: Snapshot) -> dict[str, str]:
    protocol = snapshot.protocol
    if protocol is None:
        return {}
    if protocol.min_writer_version < FEATURES_WRITER_VERSION:
        return {
            properties.MIN_READER_VERSION: str(protocol.min_reader_version),
            properties.MIN_WRITER_VERSION: str(protocol.min_writer_version),
        }
    names = sorted(feature_names(protocol))
    return {f"{properties.FEATURE_PREFIX}{name}": "supported" for name in names}


def values_of(snapshot: Snapshot, files: Sequence[AddFile]) -> dict[str, Any]:
    """The values of each partition column, those with most bytes first; days where they arrive."""
    columns = snapshot.partition_schema
    physical = physical_partition_columns(snapshot.metadata)
    bytes_of: list[Counter[str]] = [Counter() for _ in physical]
    for file in files:
        for counter, name in zip(bytes_of, physical, strict=True):
            text = (file.partition_values or {}).get(name)
            if text is not None:
                counter[text] += file.size
    until = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC).date()
    return {c.name: _domain(c, b, until) for c, b in zip(columns, bytes_of, strict=True) if b}


def _domain(column: Field, bytes_of: Counter[str], until: date) -> Any:
    if column.type == "date" and (days := days_of(bytes_of, until)):
        return {"days": days}
    ordered = sorted(bytes_of, key=lambda text: (-bytes_of[text], text))
    if column.type == "date":
        return sorted(ordered)
    return [from_text(text, column.type) for text in ordered]


def days_of(texts: Iterable[str], until: date) -> int | None:
    """How many days there are from the first of some dates to a day, if they are nearly all."""
    try:
        dates = {date.fromisoformat(text) for text in texts}
    except ValueError:
        return None
    if not dates or abs((until - max(dates)).days) > NEWEST_BEHIND:
        return None
    days = (until - min(dates)).days + 1
    return days if len(dates) >= SHARE_OF_DAYS * days else None


def left_out(snapshot: Snapshot, dialect: Dialect) -> Iterator[str]:
    """What of the table plays no part in a run, in words."""
    for column in snapshot.schema:
        for key, name in _OF_COLUMNS.items():
            if key in column.metadata:
                yield f"{name} of {column.name}"
        if filler_of(column) is None:
            yield f"values of {column.name} ({column.type}), which is NULL"
    for key, value in sorted(snapshot.configuration.items()):
        if key.startswith(properties.CONSTRAINT_PREFIX):
            yield f"constraint {key.removeprefix(properties.CONSTRAINT_PREFIX)}"
        elif key == ISOLATION_PROPERTY and _isolation(snapshot) is None:
            yield f"property {key}, whose value is not {' or '.join(TABLE_LEVELS)}"
        elif key not in _SAID_OTHERWISE and not _is_taken(key, value, dialect):
            yield f"property {key}"

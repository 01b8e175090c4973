"""What a commit says it is: its operation name and parameters, and what follows from them.

Source: `DeltaOperations.scala`. A few rules of the transaction hang on the operation alone:
whether it changes data, may repartition the table, or may carry deletion vectors with tight bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.log.effects import BACKFILL, UNBACKFILL

CHANGES_DATA = frozenset(
    {
        "WRITE",
        "STREAMING UPDATE",
        "DELETE",
        "TRUNCATE",
        "CONVERT",
        "MERGE",
        "UPDATE",
        "CREATE TABLE AS SELECT",
        "REPLACE TABLE",
        "REPLACE TABLE AS SELECT",
        "CREATE OR REPLACE TABLE",
        "CREATE OR REPLACE TABLE AS SELECT",
        "RESTORE",
        "CLONE",
    }
)
"""Operations with `changesData = true`; every other has false."""

REPLACES_TABLE = frozenset(name for name in CHANGES_DATA if "REPLACE TABLE" in name)
CREATES_TABLE = frozenset({"CREATE TABLE", "CREATE TABLE AS SELECT"})

DEFINES_COLUMNS = (
    REPLACES_TABLE
    | CREATES_TABLE
    | {"CHANGE COLUMN", "CHANGE COLUMNS", "REPLACE COLUMNS", "UPDATE SCHEMA"}
)
"""Operations that are looked at for columns with defaults."""

_MAY_REPARTITION = REPLACES_TABLE | CREATES_TABLE | {"CLONE", "RENAME COLUMN", "Manual Update"}
_UPDATES_FILES_IN_PLACE = frozenset({"COMPUTE STATS", "DROP FEATURE", BACKFILL, UNBACKFILL})
_MAY_KEEP_TIGHT_BOUNDS = frozenset(
    {"COMPUTE STATS", "RESTORE", "CLONE", "Manual Update", BACKFILL, UNBACKFILL}
)


class Operation(Struct, frozen=True):
    """An operation by Delta's name for it, with its parameters as plain values."""

    name: str
    parameters: Mapping[str, Any] = msgspec.field(default_factory=dict)
    metrics: Mapping[str, str] | None = None

    @property
    def changes_data(self) -> bool:
        """`Operation.changesData`."""
        return self.name in CHANGES_DATA

    @property
    def replaces_table(self) -> bool:
        """Whether this is one of the REPLACE TABLE operations."""
        return self.name in REPLACES_TABLE

    @property
    def is_backfill(self) -> bool:
        return self.name == BACKFILL

    @property
    def is_unbackfill(self) -> bool:
        return self.name == UNBACKFILL

    @property
    def can_change_partition_columns(self) -> bool:
        """`Operation.canChangePartitionColumns`: an overwrite may if it may change the schema."""
        if self.name == "WRITE":
            return self.parameters.get("mode") == "Overwrite" and bool(
                self.parameters.get("canOverwriteSchema")
            )
        if self.replaces_table and self.parameters.get("isV1SaveAsTableOverwrite"):
            return bool(self.parameters.get("canOverwriteSchema"))
        return self.name in _MAY_REPARTITION

    @property
    def updates_files_in_place(self) -> bool:
        """`isInPlaceFileMetadataUpdate`: re-adds existing files, deletion vectors included."""
        return self.name in _UPDATES_FILES_IN_PLACE

    @property
    def wants_wide_bounds(self) -> bool:
        """`checkAddFileWithDeletionVectorStatsAreNotTightBounds`."""
        return self.name not in _MAY_KEEP_TIGHT_BOUNDS

    def logged_metrics(self) -> dict[str, str]:
        """The metrics as commitInfo records them: none is an empty map, as for raw commits."""
        return dict(sorted((self.metrics or {}).items()))

    def logged_parameters(self) -> dict[str, Any]:
        """The parameters as commitInfo records them: collections as JSON text, scalars as is."""
        return {
            key: _json(value) if isinstance(value, (list, tuple, dict)) else value
            for key, value in sorted(self.parameters.items())
        }


def _json(value: object) -> str:
    """A collection as `JsonUtils.toJson` writes it: letters beyond ASCII as they are."""
    return msgspec.json.encode(value).decode()


MANUAL_UPDATE = Operation("Manual Update")

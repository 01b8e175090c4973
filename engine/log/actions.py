"""The actions of Delta's transaction log, one struct per kind of log line.

Field names follow Delta's JSON through `rename="camel"`; fields that Delta does not know are
ignored on reading, absent ones are not written. Source: PROTOCOL.md, "Actions".
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

PartitionValues = dict[str, str | None]


def _zero() -> int:
    return 0


def _false() -> bool:
    return False


class Action(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """What every line of a commit file is: exactly one action.

    Outside the garbage collector (`gc=False`): an action cannot be part of a cycle, and a table
    holds very many of them.
    """


class DeletionVector(Action, frozen=True):
    """Where the deleted row positions of a data file are kept."""

    storage_type: str
    path_or_inline_dv: str
    offset: int | None = None
    # Factories, because a plain default would not be written, and Delta requires these fields.
    size_in_bytes: int = msgspec.field(default_factory=_zero)
    cardinality: int = msgspec.field(default_factory=_zero)

    @property
    def unique_id(self) -> str:
        """The id that Delta compares: storage type, path and, where there is one, `@offset`."""
        base = self.storage_type + self.path_or_inline_dv
        return base if self.offset is None else f"{base}@{self.offset}"


class AddFile(Action, frozen=True, kw_only=True):
    """A data file becomes part of the table."""

    path: str
    partition_values: PartitionValues | None = None
    size: int
    modification_time: int
    data_change: bool
    stats: str | None = None
    tags: dict[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None
    clustering_provider: str | None = None

    @property
    def dv_id(self) -> str | None:
        """The deletion vector's id, `None` without one."""
        return None if self.deletion_vector is None else self.deletion_vector.unique_id


class RemoveFile(Action, frozen=True):
    """A data file leaves the table (and stays on disk until VACUUM)."""

    path: str
    data_change: bool
    deletion_timestamp: int | None = None
    extended_file_metadata: bool | None = None
    partition_values: PartitionValues | None = None
    size: int | None = None
    stats: str | None = None
    tags: dict[str, str | None] | None = None
    deletion_vector: DeletionVector | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None

    @property
    def dv_id(self) -> str | None:
        """The deletion vector's id, `None` without one."""
        return None if self.deletion_vector is None else self.deletion_vector.unique_id


CHANGE_TYPE_COLUMN = "_change_type"
"""Where the change data feed says how a row changed.

Source: `CDCReader.scala: CDC_TYPE_COLUMN_NAME`.
"""


class AddCDCFile(Action, frozen=True, kw_only=True):
    """A change data feed file."""

    path: str
    partition_values: PartitionValues | None = None
    size: int
    data_change: bool = msgspec.field(default_factory=_false)
    tags: dict[str, str | None] | None = None


class Format(Action, frozen=True):
    """The encoding of the data files."""

    provider: str
    options: dict[str, str]


class Metadata(Action, frozen=True):
    """The table's schema, partitioning and properties."""

    id: str
    format: Format
    partition_columns: list[str]
    configuration: dict[str, str]
    schema_string: str | None = None
    name: str | None = None
    description: str | None = None
    created_time: int | None = None


class Protocol(Action, frozen=True):
    """Which reader and writer versions and table features the table needs."""

    min_reader_version: int
    min_writer_version: int
    reader_features: list[str] | None = None
    writer_features: list[str] | None = None


class SetTransaction(Action, frozen=True):
    """How far an application (a streaming query, an idempotent writer) has come."""

    app_id: str
    version: int
    last_updated: int | None = None


class DomainMetadata(Action, frozen=True):
    """Configuration of one named domain, such as `delta.clustering`."""

    domain: str
    configuration: str
    removed: bool


class CommitInfo(Action, frozen=True):
    """Provenance of a commit: the first line of its file."""

    in_commit_timestamp: int | None = None
    timestamp: int | None = None
    operation: str | None = None
    operation_parameters: dict[str, Any] | None = None
    read_version: int | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None
    data_change: bool | None = None
    operation_metrics: dict[str, Any] | None = None
    user_metadata: str | None = None
    tags: dict[str, str | None] | None = None
    engine_info: str | None = None
    txn_id: str | None = None
    version: int | None = None


FileAction = AddFile | RemoveFile | AddCDCFile
AnyAction = FileAction | Metadata | Protocol | SetTransaction | DomainMetadata | CommitInfo

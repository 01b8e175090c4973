"""The state of a table at one version: an immutable value, cheap to keep and to advance.

Built on persistent maps, so that applying a commit costs in proportion to the commit, whatever the
number of live files, and every old snapshot stays valid. Files are kept up only when somebody asks
for them: until then a snapshot is little more than a version. Source: PROTOCOL.md "Action
Reconciliation"; InMemoryLogReplay.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from immutables import Map
from msgspec import Struct

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import (
    AddFile,
    DomainMetadata,
    Metadata,
    PartitionValues,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.commit_file import Commit, log_key
from whitecap.engine.log.file_keys import FileKey, PartitionKey
from whitecap.engine.log.files import FileSet
from whitecap.engine.log.properties import maps_columns
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.remembered import once_for_each

ROW_TRACKING_DOMAIN = "delta.rowTracking"


class _RowTracking(Struct, rename="camel"):
    row_id_high_water_mark: int


class Snapshot(Struct, frozen=True):
    """A table at `version`; -1 means that there is no table yet. `timestamp_ms` is epoch time."""

    version: int
    timestamp_ms: int
    protocol: Protocol | None
    metadata: Metadata | None
    live: FileSet
    applications: Map[str, SetTransaction]
    domains: Map[str, DomainMetadata]

    def apply(self, commit: Commit) -> Snapshot:
        """The table after `commit`. Raises `InvalidLog` unless it is the next version."""
        if commit.version != self.version + 1:
            problem = f"expected version {self.version + 1}, found {commit.version}"
            raise InvalidLog([Problem(log_key(commit.version), problem)])
        metadata = commit.metadata or self.metadata
        columns = physical_partition_columns(metadata)
        return Snapshot(
            version=commit.version,
            timestamp_ms=commit.timestamp_ms,
            protocol=commit.protocol or self.protocol,
            metadata=metadata,
            live=self.live.partitioned_by(columns).after(commit.removes, commit.adds),
            applications=_applications_after(self.applications, commit.set_transactions),
            domains=_domains_after(self.domains, commit.domains),
        )

    @property
    def files(self) -> Mapping[FileKey, AddFile]:
        """Live files by (path, deletion vector id). Its order is not stable: see `all_files`."""
        return self.live.files

    @property
    def tombstones(self) -> Mapping[FileKey, RemoveFile]:
        """Removed files, known until they are added again."""
        return self.live.tombstones

    def all_files(self) -> tuple[AddFile, ...]:
        """Every live file, ordered by path. Costs in proportion to the table, once."""
        return self.live.ordered()

    def file_at(self, path: str) -> AddFile | None:
        """The live file of a path, with any deletion vector; `None` without one."""
        return self.live.at(path)

    @property
    def partitions(self) -> tuple[PartitionKey, ...]:
        """The partitions that hold live files, ordered, null first."""
        return self.live.partition_keys()

    def files_in(self, partition: PartitionKey) -> tuple[AddFile, ...]:
        """The live files of one partition, ordered by path."""
        return self.live.within(partition)

    def partition_key(self, values: PartitionValues | None) -> PartitionKey:
        """The partition that a file with these values belongs to."""
        return self.live.partition_key(values)

    @property
    def num_files(self) -> int:
        """How many files are live."""
        return len(self.live)

    @property
    def size_bytes(self) -> int:
        """The sum of the live files' sizes."""
        return self.live.size_bytes

    @property
    def schema(self) -> Schema:
        """The table's columns; none where the metadata has no schema."""
        return schema_of_metadata(self.metadata)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the partition columns."""
        return () if self.metadata is None else tuple(self.metadata.partition_columns)

    @property
    def partition_schema(self) -> Schema:
        """The partition columns, in partition order."""
        return _partition_schema(self.metadata)

    @property
    def configuration(self) -> dict[str, str]:
        """The table's properties."""
        return {} if self.metadata is None else self.metadata.configuration

    @property
    def set_transactions(self) -> dict[str, int]:
        """The version that each application has reached."""
        return {app: self.applications[app].version for app in sorted(self.applications)}

    def transaction_version(self, app_id: str) -> int:
        """The version that an application has reached, -1 if it is unknown."""
        application = self.applications.get(app_id)
        return -1 if application is None else application.version

    @property
    def row_id_high_watermark(self) -> int:
        """The highest row id given out, -1 without one. Source: RowId.scala."""
        domain = self.domains.get(ROW_TRACKING_DOMAIN)
        return -1 if domain is None else watermark_of(domain)


@once_for_each
def _partition_schema(metadata: Metadata | None) -> Schema:
    columns = () if metadata is None else tuple(metadata.partition_columns)
    return schema_of_metadata(metadata).select(columns)


EMPTY_SNAPSHOT = Snapshot(-1, 0, None, None, FileSet(), Map(), Map())
"""No table."""


@once_for_each
def physical_partition_columns(metadata: Metadata | None) -> tuple[str, ...]:
    """The keys of `partitionValues`: logical names unless column mapping renames them."""
    if metadata is None:
        return ()
    names = metadata.partition_columns
    if not maps_columns(metadata.configuration):
        return tuple(names)
    schema = schema_of_metadata(metadata)
    columns = ((name, schema.get(name)) for name in names)
    return tuple(name if column is None else column.physical_name for name, column in columns)


def watermark_of(domain: DomainMetadata) -> int:
    """The row id high watermark inside a `delta.rowTracking` domain action."""
    return msgspec.json.decode(domain.configuration, type=_RowTracking).row_id_high_water_mark


def _applications_after(
    applications: Map[str, SetTransaction], reached: Iterable[SetTransaction]
) -> Map[str, SetTransaction]:
    for action in reached:
        applications = applications.set(action.app_id, action)
    return applications


def _domains_after(
    domains: Map[str, DomainMetadata], written: Iterable[DomainMetadata]
) -> Map[str, DomainMetadata]:
    for action in written:
        if not action.removed:
            domains = domains.set(action.domain, action)
        elif action.domain in domains:
            domains = domains.delete(action.domain)
    return domains

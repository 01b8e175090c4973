"""The rules that one commit must keep, each a function from the commit to what is wrong with it.

Most are rules of the protocol that readers do not enforce; where one is ours alone, it says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import DeltaError, InvalidLog
from whitecap.engine.log import properties
from whitecap.engine.log.actions import (
    AddCDCFile,
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.features import protocols, table_features
from whitecap.engine.log.file_keys import FileKey, file_key
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.log.snapshot import Snapshot, physical_partition_columns
from whitecap.engine.log.statistics import FileStatistics, parse_statistics
from whitecap.engine.values.texts import from_text
from whitecap.sim.oracles.finding import Anomaly

_Line = int
_LineFinding = tuple[_Line, str]


class CommitInQuestion(Struct, frozen=True):
    """A commit's actions with their line numbers, and the table before and after it."""

    version: int
    lines: tuple[tuple[_Line, AnyAction], ...]
    before: Snapshot
    after: Snapshot

    def of(self, kind: type[Any]) -> Iterator[tuple[_Line, Any]]:
        """The actions of one kind."""
        return ((line, action) for line, action in self.lines if isinstance(action, kind))


LogRule = Callable[[CommitInQuestion], Iterable[_LineFinding]]


def table_exists(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """The first version says what table it is. Source: PROTOCOL.md "Delta Log Entries"."""
    if commit.before.version < 0:
        if commit.after.protocol is None:
            yield 1, "the first version has no protocol"
        if commit.after.metadata is None:
            yield 1, "the first version has no metaData"


def at_most_once(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """One metadata, protocol, commitInfo; one action per application and per domain.

    Source: PROTOCOL.md "Actions"; OptimisticTransaction.scala `prepareCommit`.
    """
    for name, kind in (("metaData", Metadata), ("protocol", Protocol), ("commitInfo", CommitInfo)):
        yield from _repeated((line, name) for line, _ in commit.of(kind))
    yield from _repeated((line, f"txn of {t.app_id!r}") for line, t in commit.of(SetTransaction))
    yield from _repeated(
        (line, f"domainMetadata of {d.domain!r}") for line, d in commit.of(DomainMetadata)
    )


def one_action_per_file(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """No path is added twice or removed twice, nor one (path, vector) added and removed.

    Source: ConflictChecker.scala `checkDuplicateActions`.
    """
    yield from _repeated((line, f"add of {add.path!r}") for line, add in commit.of(AddFile))
    yield from _repeated((line, f"remove of {r.path!r}") for line, r in commit.of(RemoveFile))
    removed = {file_key(action) for _, action in commit.of(RemoveFile)}
    for line, add in commit.of(AddFile):
        if file_key(add) in removed:
            yield line, f"{add.path!r} is added and removed in one commit"


def removed_files_were_live(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A remove names a live file. Readers ignore any other."""
    for line, removed in commit.of(RemoveFile):
        if file_key(removed) not in commit.before.files:
            with_dv = f" with deletion vector {removed.dv_id}" if removed.dv_id else ""
            yield line, f"removes {removed.path!r}{with_dv}, which is not in the table"


def one_live_file_per_path(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A path is live with one deletion vector only. Readers return its rows twice otherwise."""
    gone = {file_key(action) for _, action in commit.of(RemoveFile)}
    for line, add in commit.of(AddFile):
        live = _live_keys_of(commit.before, add.path)
        if live - gone - {file_key(add)}:
            yield line, f"adds {add.path!r} again without removing it with its old vector"


def _live_keys_of(snapshot: Snapshot, path: str) -> set[FileKey]:
    file = snapshot.file_at(path)
    return set() if file is None else {file_key(file)}


def files_are_well_formed(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """Paths, sizes and times are possible ones."""
    for line, action in commit.lines:
        if isinstance(action, AddFile | RemoveFile | AddCDCFile) and not action.path:
            yield line, "path is empty"
        if isinstance(action, AddFile | AddCDCFile) and action.size <= 0:
            yield line, f"size of {action.path!r} is {action.size}"
        if isinstance(action, AddFile) and action.modification_time < 0:
            yield line, f"modificationTime of {action.path!r} is {action.modification_time}"


def partition_values_fit(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A value for each partition column and no other, each of its column's type.

    Source: PROTOCOL.md "Partition Value Serialization".
    """
    columns = physical_partition_columns(commit.after.metadata)
    types = {column.physical_name: column.type for column in commit.after.partition_schema}
    for line, action in commit.lines:
        if isinstance(action, AddFile | AddCDCFile):
            values = action.partition_values
            if values is None or values.keys() != set(columns):
                shown = "none" if values is None else sorted(values)
                yield line, f"partition values {shown}, partition columns {list(columns)}"
            else:
                yield from ((line, text) for text in _unreadable(values, types))


def _unreadable(values: Mapping[str, str | None], types: Mapping[str, str]) -> Iterator[str]:
    for name, text in values.items():
        try:
            if text:
                from_text(text, types.get(name, "string"))
        except DeltaError:
            yield f"partition value {text!r} of {name!r} is no {types[name]}"


def statistics_hold_together(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """Statistics can be read, are not negative, and a smallest value is not above the largest."""
    schema = commit.after.schema
    for line, add in commit.of(AddFile):
        try:
            statistics = parse_statistics(add.stats)
        except InvalidLog as error:
            yield line, f"stats of {add.path!r}: {error.problems[0].text}"
            continue
        yield from ((line, f"stats of {add.path!r}: {text}") for text in _odd(statistics, schema))


def _odd(statistics: FileStatistics, schema: Schema) -> Iterator[str]:
    rows = statistics.num_records
    if rows is not None and rows < 0:
        yield f"numRecords is {rows}"
    for column in schema:
        nulls = statistics.nulls_of(column)
        if rows is not None and nulls is not None and not 0 <= nulls <= rows:
            yield f"{nulls} nulls of {column.name!r} in {rows} rows"
        try:
            bounds = None if column.nested else statistics.range_of(column)
            if bounds is not None and bounds[0] > bounds[1]:
                yield f"the smallest {column.name!r} is above the largest"
        except (ValueError, TypeError, ArithmeticError):
            yield f"the range of {column.name!r} is not of type {column.type}"


def protocol_is_consistent(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """Feature lists exactly where the versions ask for them, and only features known here.

    Source: PROTOCOL.md "Protocol Evolution".
    """
    for line, protocol in commit.of(Protocol):
        yield from ((line, text) for text in _inconsistent(protocol))


def _inconsistent(protocol: Protocol) -> Iterator[str]:
    reader, writer = protocol.min_reader_version, protocol.min_writer_version
    if not 1 <= reader <= table_features.FEATURES_READER_VERSION:
        yield f"minReaderVersion is {reader}"
    if not 1 <= writer <= table_features.FEATURES_WRITER_VERSION:
        yield f"minWriterVersion is {writer}"
    if (protocol.reader_features is not None) != (reader >= table_features.FEATURES_READER_VERSION):
        yield "readerFeatures must be there exactly if minReaderVersion is 3"
    if (protocol.writer_features is not None) != (writer >= table_features.FEATURES_WRITER_VERSION):
        yield "writerFeatures must be there exactly if minWriterVersion is 7"
    for name in sorted(set(protocol.reader_features or ()) - set(protocol.writer_features or ())):
        yield f"reader feature {name!r} is not among writerFeatures"
    for name in protocols.unknown_features(protocol):
        yield f"unknown feature {name!r}"


def metadata_is_consistent(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A schema with distinct columns, partition columns among them, properties with a meaning."""
    for line, metadata in commit.of(Metadata):
        yield from ((line, text) for text in _odd_metadata(metadata))


def _odd_metadata(metadata: Metadata) -> Iterator[str]:
    if metadata.format.provider != "parquet":
        yield f"format provider is {metadata.format.provider!r}"
    if metadata.schema_string is None:
        yield "schemaString is missing"
    try:
        yield from _odd_columns(schema_of_metadata(metadata), metadata.partition_columns)
    except InvalidLog as error:
        yield f"schemaString: {error.problems[0].text}"
    for table_property in vars(properties).values():
        if isinstance(table_property, properties.TableProperty):
            yield from _meaningless(table_property, metadata.configuration)


def _odd_columns(schema: Schema, partition_columns: list[str]) -> Iterator[str]:
    names = [name.lower() for name in schema.names]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"column {name!r} is defined {count} times"
    for name in partition_columns:
        if len(schema) and name.lower() not in names:
            yield f"partition column {name!r} is not in the schema"
    if len(schema) and len(partition_columns) == len(schema):
        yield "every column is a partition column"


def _meaningless(
    table_property: properties.TableProperty[Any], configuration: Mapping[str, str]
) -> Iterator[str]:
    try:
        table_property.of(configuration)
    except DeltaError as error:
        yield error.message


def features_are_declared(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """Nothing is used that the protocol does not announce. Source: PROTOCOL.md "Table Features"."""
    have = protocols.feature_names(commit.after.protocol)
    for line, action in commit.lines:
        for name in sorted(_used_by(action, have) - have):
            yield line, f"uses feature {name!r}, which the protocol does not support"


def _used_by(action: AnyAction, have: frozenset[str]) -> frozenset[str]:
    match action:
        case Metadata():
            return _required_by(action, have)
        case DomainMetadata():
            return frozenset({"domainMetadata"})
        case AddFile() | RemoveFile():
            vectors = {"deletionVectors"} if action.deletion_vector is not None else set()
            row_ids = {"rowTracking"} if action.base_row_id is not None else set()
            return frozenset(vectors | row_ids)
        case _:
            return frozenset()


def _required_by(metadata: Metadata, have: frozenset[str]) -> frozenset[str]:
    try:
        return protocols.required_features(metadata, have)
    except (InvalidLog, DeltaError):
        return frozenset()


def vectors_are_counted(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A file with a deletion vector knows its rows, and the vector deletes no more than these.

    Source: PROTOCOL.md "Deletion Vectors", "Writer Requirements for Deletion Vectors".
    """
    for line, add in commit.of(AddFile):
        if add.deletion_vector is None:
            continue
        rows = _num_records(add)
        if rows is None:
            yield line, f"{add.path!r} has a deletion vector, but no numRecords"
        elif add.deletion_vector.cardinality > rows:
            count = add.deletion_vector.cardinality
            yield line, f"the deletion vector of {add.path!r} deletes {count} of {rows} rows"


def _num_records(add: AddFile) -> int | None:
    try:
        return parse_statistics(add.stats).num_records
    except InvalidLog:
        return None


def in_commit_timestamps_rise(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """Where they are on, each commit starts with its timestamp, later than the one before.

    Source: PROTOCOL.md "In-Commit Timestamps".
    """
    if not _in_commit_timestamps(commit.after):
        return
    first = commit.lines[0][1] if commit.lines else None
    timestamp_ms = first.in_commit_timestamp if isinstance(first, CommitInfo) else None
    if timestamp_ms is None:
        yield 1, "the first line is no commitInfo with an inCommitTimestamp"
    elif _in_commit_timestamps(commit.before) and timestamp_ms <= commit.before.timestamp_ms:
        yield 1, f"inCommitTimestamp {timestamp_ms} is not after {commit.before.timestamp_ms}"


def _in_commit_timestamps(snapshot: Snapshot) -> bool:
    try:
        return properties.IN_COMMIT_TIMESTAMPS.of(snapshot.configuration)
    except DeltaError:
        return False


def row_ids_stay_below_the_watermark(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """No file holds a row id above the table's watermark. Source: PROTOCOL.md "Row Tracking"."""
    watermark = commit.after.row_id_high_watermark
    for line, add in commit.of(AddFile):
        if (
            add.base_row_id is not None
            and add.base_row_id + (_num_records(add) or 1) > watermark + 1
        ):
            yield line, f"row ids of {add.path!r} are above the watermark {watermark}"


def row_ids_are_fresh(commit: CommitInQuestion) -> Iterator[_LineFinding]:
    """A file that comes with its first row ids takes such as no file had before.

    One that keeps those of a live file of the same path does not take any; nor does a file that
    carries the row ids that rows of other files had, which is not told from its action.
    Source: PROTOCOL.md "Row Tracking", "Writer Requirements for Row Tracking".
    """
    watermark = commit.before.row_id_high_watermark
    for line, add in commit.of(AddFile):
        if add.base_row_id is None or add.base_row_id > watermark:
            continue
        if add.path not in _paths_before(commit):
            yield line, f"row ids of {add.path!r} begin at {add.base_row_id}, which are taken"


def _paths_before(commit: CommitInQuestion) -> set[str]:
    """Paths that are or were in the table, as a restored or rebuilt file is."""
    gone = {key[0] for key in commit.before.tombstones}
    return gone | {key[0] for key in commit.before.files}


def _repeated(named: Iterable[tuple[_Line, str]]) -> Iterator[_LineFinding]:
    seen: set[str] = set()
    for line, name in named:
        if name in seen:
            yield line, f"second {name} in one commit"
        seen.add(name)


RULES: dict[LogRule, Anomaly] = {
    table_exists: Anomaly.LOG_FORM,
    at_most_once: Anomaly.LOG_FORM,
    one_action_per_file: Anomaly.FILE_TWICE,
    removed_files_were_live: Anomaly.DEAD_FILE,
    one_live_file_per_path: Anomaly.FILE_TWICE,
    files_are_well_formed: Anomaly.LOG_FORM,
    partition_values_fit: Anomaly.LOG_FORM,
    statistics_hold_together: Anomaly.LOG_FORM,
    protocol_is_consistent: Anomaly.LOG_FORM,
    metadata_is_consistent: Anomaly.LOG_FORM,
    features_are_declared: Anomaly.LOG_FORM,
    vectors_are_counted: Anomaly.LOG_FORM,
    in_commit_timestamps_rise: Anomaly.TIMESTAMPS,
    row_ids_stay_below_the_watermark: Anomaly.ROW_ID_TWICE,
    row_ids_are_fresh: Anomaly.ROW_ID_TWICE,
}
"""Every rule, and what is wrong with a commit that breaks it."""

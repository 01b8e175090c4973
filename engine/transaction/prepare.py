"""Making a commit's actions final: implied protocol changes, validation, row ids.

Source: `OptimisticTransaction.scala: prepareCommit` and the functions it calls, in its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import (
    assign_fresh,
    check_not_suspended,
    is_suspended,
    readable_watermark,
    without_row_ids,
)
from whitecap.engine.conflicts.writable import check_writable
from whitecap.engine.errors import RefusedAtCommit
from whitecap.engine.log import properties
from whitecap.engine.log.actions import (
    AddCDCFile,
    AddFile,
    AnyAction,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import (
    DEFAULT_PROTOCOL,
    feature_names,
    is_upgrade,
    required_features,
    supports,
    with_features,
)
from whitecap.engine.log.snapshot import Snapshot, physical_partition_columns
from whitecap.engine.log.statistics import parse_statistics
from whitecap.engine.refusals import commit_errors, protocol_errors
from whitecap.engine.remembered import once_for_each
from whitecap.engine.settings import CheckMode, Settings
from whitecap.engine.transaction.metadata_checks import (
    check_feed_columns,
    check_feed_of_mapped,
    check_joining,
    check_manifests,
    check_new_metadata,
)

_FILES = AddFile | RemoveFile | AddCDCFile
_SET_APART = frozenset({Metadata, Protocol})


class CommitDraft(Struct, frozen=True):
    """What the transaction has set so far, outside the actions passed to `commit`."""

    snapshot: Snapshot
    settings: Settings
    table_name: str
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    may_assign_any_protocol: bool = False
    restates_protocol: bool = False
    preview_features: frozenset[str] = frozenset()
    creates_table: bool = False


class Prepared(Struct, frozen=True):
    """The final actions, with the metadata and protocol that hold once they are committed."""

    actions: tuple[AnyAction, ...]
    metadata: Metadata
    protocol: Protocol


def prepare(draft: CommitDraft, actions: Sequence[AnyAction], operation: Operation) -> Prepared:
    """Check and complete the actions. Raises `DeltaError` for what Delta refuses."""
    snapshot = draft.snapshot
    set_apart, others = _sorted_by_kind(actions)
    new_metadata = _the_metadata(draft, set_apart)
    new_protocol = _the_protocol(draft, set_apart, new_metadata)
    if new_protocol is None and new_metadata is not None and draft.restates_protocol:
        new_protocol = _restated(snapshot.protocol, operation)
    final = [*_metadata_and_protocol(draft, new_metadata, new_protocol), *others]
    if new_metadata is not None:
        _check_partition_column_change(draft, new_metadata, operation)
        check_feed_columns(new_metadata, snapshot.metadata)
        if not draft.creates_table and any(isinstance(action, _FILES) for action in others):
            check_feed_of_mapped(new_metadata, snapshot.metadata, operation.name)
    if new_protocol is not None:
        _check_transition(draft, new_protocol, operation)
    metadata = new_metadata or snapshot.metadata or NO_METADATA
    _check_partitioning(final, metadata, draft.settings)
    protocol = new_protocol or snapshot.protocol or DEFAULT_PROTOCOL
    final = _with_row_ids(final, protocol, snapshot)
    _check_removable(others, snapshot, draft.table_name)
    prepared = Prepared(tuple(final), metadata, protocol)
    _check_deletion_vectors(others, prepared, operation, draft.settings)
    return prepared


def prepare_large(
    draft: CommitDraft, actions: Sequence[AnyAction], operation: Operation
) -> Prepared:
    """The same for `commitLarge`: metadata always first, a new protocol last, fewer checks."""
    snapshot = draft.snapshot
    set_apart, others = _sorted_by_kind(actions)
    new_metadata = _the_metadata(draft, set_apart)
    given = [action for action in set_apart if isinstance(action, Protocol)]
    base = next(iter(given), None) or draft.protocol or snapshot.protocol or DEFAULT_PROTOCOL
    protocol = base
    if new_metadata is not None:
        protocol = _with_required_features(base, new_metadata, draft.preview_features)
    check_writable(protocol, draft.table_name)
    metadata = new_metadata or snapshot.metadata or NO_METADATA
    last = [] if protocol == snapshot.protocol and not given else [protocol]
    final = _with_row_ids([metadata, *others, *last], protocol, snapshot)
    prepared = Prepared(tuple(final), metadata, protocol)
    _check_deletion_vectors(others, prepared, operation, draft.settings)
    return prepared


def _sorted_by_kind(actions: Sequence[AnyAction]) -> tuple[list[AnyAction], list[AnyAction]]:
    """Metadata and protocols, and the other actions."""
    if _SET_APART.isdisjoint(map(type, actions)):
        return [], list(actions)
    set_apart = [action for action in actions if type(action) in _SET_APART]
    return set_apart, [action for action in actions if type(action) not in _SET_APART]


NO_METADATA = Metadata(
    id="", format=Format(provider="parquet", options={}), partition_columns=[], configuration={}
)
"""What an uncreated table's snapshot has instead of metadata."""


def _the_metadata(draft: CommitDraft, actions: Iterable[AnyAction]) -> Metadata | None:
    queued = [] if draft.metadata is None else [draft.metadata]
    changes = queued + [action for action in actions if isinstance(action, Metadata)]
    if len(changes) > 1:
        raise commit_errors.metadata_changed_twice()
    for metadata in changes:
        check_new_metadata(metadata)
        check_manifests(metadata, draft.snapshot)
    return changes[0] if changes else None


def _the_protocol(
    draft: CommitDraft, actions: Iterable[AnyAction], metadata: Metadata | None
) -> Protocol | None:
    """The one protocol change: explicit, or implied by what the metadata needs.

    Source: `updateMetadataAndProtocolWithRequiredFeatures`, `Protocol.
    upgradeProtocolFromMetadataForExistingTable`.
    """
    base = draft.protocol or draft.snapshot.protocol or DEFAULT_PROTOCOL
    implied = draft.protocol
    if metadata is not None:
        upgraded = _with_required_features(base, metadata, draft.preview_features)
        implied = implied if upgraded == base else upgraded
    changes = [] if implied is None else [implied]
    changes += [action for action in actions if isinstance(action, Protocol)]
    if len(changes) > 1:
        raise protocol_errors.protocol_changed_twice()
    for protocol in changes:
        check_writable(protocol, draft.table_name)
    return changes[0] if changes else None


def _restated(protocol: Protocol | None, operation: Operation) -> Protocol | None:
    """The protocol as it was, which delta-rs writes again beside new metadata.

    It does not order the features that a table lists, and takes them for others in another order:
    two of them every other time, three nearly always. For a constraint it does not look.
    """
    if protocol is None or operation.name == "ADD CONSTRAINT":
        return protocol
    return protocol if len(protocol.writer_features or ()) > 1 else None


def _with_required_features(
    protocol: Protocol, metadata: Metadata, previews: frozenset[str]
) -> Protocol:
    """Raises `DeltaError` for features that an existing table gets only if asked by name."""
    check_joining(metadata, protocol)
    return with_features(protocol, required_features(metadata, feature_names(protocol), previews))


def _metadata_and_protocol(
    draft: CommitDraft, metadata: Metadata | None, protocol: Protocol | None
) -> list[AnyAction]:
    """Those that are new, as the commit begins with them; a first commit always has a protocol.

    Raises `DeltaError` for a first commit without metadata.
    """
    new: list[AnyAction] = [action for action in (metadata, protocol) if action is not None]
    if draft.snapshot.version >= 0:
        return new
    if metadata is None and draft.settings.commit_validation:
        raise commit_errors.metadata_absent()
    return new if protocol is not None else [DEFAULT_PROTOCOL, *new]


def _check_partition_column_change(
    draft: CommitDraft, metadata: Metadata, operation: Operation
) -> None:
    """Source: `validatePartitionColumnChanges`."""
    if draft.snapshot.metadata is None:
        return
    old, new = draft.snapshot.metadata.partition_columns, metadata.partition_columns
    strict = draft.settings.partition_column_change_check is CheckMode.TRUE
    if strict and old != new and not operation.can_change_partition_columns:
        raise commit_errors.partition_column_change(operation.name, old, new)


def _check_transition(draft: CommitDraft, new: Protocol, operation: Operation) -> None:
    """Source: `Protocol.canTransitionTo`."""
    old = draft.snapshot.protocol
    if old is None or draft.may_assign_any_protocol or is_upgrade(old, new):
        return
    lost = feature_names(old) - feature_names(new)
    dropped = operation.parameters.get("featureName")
    if operation.name == "DROP FEATURE" and lost == {dropped}:
        return
    raise protocol_errors.protocol_downgrade(old, new)


def _check_partitioning(
    actions: Iterable[AnyAction], metadata: Metadata, settings: Settings
) -> None:
    """The partition values of a file name exactly the table's partition columns."""
    if not settings.commit_validation:
        return
    expected = _partition_names(metadata)
    for action in actions:
        if isinstance(action, AddFile):
            values = action.partition_values or {}
            if values.keys() != expected:
                columns = physical_partition_columns(metadata)
                raise commit_errors.partitioning_mismatch(values, columns)


@once_for_each
def _partition_names(metadata: Metadata) -> frozenset[str]:
    return frozenset(physical_partition_columns(metadata))


def _with_row_ids(
    actions: list[AnyAction], protocol: Protocol, snapshot: Snapshot
) -> list[AnyAction]:
    """Source: `RowId.assignFreshRowIds`, `DefaultRowCommitVersion.assignIfMissing`."""
    if not supports(protocol, feature_keys.ROW_TRACKING):
        return actions
    check_not_suspended(snapshot.configuration)
    if snapshot.metadata is not None and is_suspended(snapshot.metadata):
        return [without_row_ids(action) for action in actions]
    return assign_fresh(actions, readable_watermark(snapshot), snapshot.version + 1)


def _check_removable(actions: Iterable[AnyAction], snapshot: Snapshot, table_name: str) -> None:
    """Source: `DeltaLog.assertRemovable`."""
    if not properties.APPEND_ONLY.of(snapshot.configuration):
        return
    if any(isinstance(action, RemoveFile) and action.data_change for action in actions):
        raise RefusedAtCommit.of(commit_errors.append_only(table_name))


def _check_deletion_vectors(
    actions: Iterable[AnyAction], prepared: Prepared, operation: Operation, settings: Settings
) -> None:
    """Source: `getAssertDeletionVectorWellFormedFunc`."""
    if not settings.deletion_vector_commit_check:
        return
    allowed = _may_have_vectors(prepared, operation)
    for action in actions:
        if isinstance(action, AddFile) and action.deletion_vector is not None:
            if not allowed:
                raise commit_errors.deletion_vectors_disallowed()
            _check_statistics_beside_vector(action, operation)


def _may_have_vectors(prepared: Prepared, operation: Operation) -> bool:
    """Whether the commit may add files with deletion vectors."""
    metadata = prepared.metadata
    supported = supports(prepared.protocol, feature_keys.DELETION_VECTORS)
    enabled = properties.DELETION_VECTORS.of(metadata.configuration)
    allowed = enabled or operation.updates_files_in_place
    return supported and _stores_parquet(metadata) and allowed


def _stores_parquet(metadata: Metadata) -> bool:
    return metadata.format.provider.lower() == "parquet"


def _check_statistics_beside_vector(add: AddFile, operation: Operation) -> None:
    statistics = parse_statistics(add.stats)
    if statistics.num_records is None:
        raise commit_errors.deletion_vector_without_num_records()
    if operation.wants_wide_bounds and statistics.tight_bounds is not False:
        raise commit_errors.deletion_vector_with_tight_bounds()

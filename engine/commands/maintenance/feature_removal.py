"""What takes the traces of a table feature away, before ALTER TABLE DROP FEATURE drops it.

Source: PreDowngradeTableFeatureCommand.scala; `RemovableFeature` in TableFeature.scala
(validateDropInvariants, tablePropertiesToRemoveAtDowngradeCommit and the like).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from whitecap.engine.commands.maintenance.reorg import purge, rewrite_narrower
from whitecap.engine.commands.schema.column_removal import remove_column_mapping
from whitecap.engine.commands.schema.constraints import constraint_names
from whitecap.engine.commands.schema.properties import change_properties, drop_properties
from whitecap.engine.commands.schema.row_tracking import unbackfill
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AnyAction, DomainMetadata, RemoveFile
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.columns.type_changes import has_type_changes, without_type_changes
from whitecap.engine.log.schema import schema_string
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN, Snapshot
from whitecap.engine.log.vectors.deletion_vectors import INLINE, vector_key
from whitecap.engine.outcomes import Aborted, Committed, Outcome, Unknown
from whitecap.engine.refusals import feature_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.paths import log_path
from whitecap.engine.storage.requests import ReadClock, Steps
from whitecap.engine.writing.execution import begin


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How the traces went.

    `stopped`: the outcome that kept the rest from being done. `made_changes`: there were traces.
    `version`: which version the drop itself reads, `None` for the newest.
    """

    stopped: Outcome | None = None
    made_changes: bool = False
    version: int | None = None


Clean = Callable[[Table, Snapshot], Steps[Cleaned]]
"""Takes a feature's traces away, given the table as the statement first saw it."""

_CLEAN = Cleaned()


def stop(outcome: Outcome) -> Outcome | None:
    """The outcome, if it keeps what comes next from being done."""
    return outcome if isinstance(outcome, Aborted | Unknown) else None


def _all_done(steps: Iterable[Steps[Outcome]], made_changes: bool = True) -> Steps[Cleaned]:
    """One after the other, as long as none is stopped."""
    for each in steps:
        stopped = stop((yield from each))
        if stopped is not None:
            return Cleaned(stopped)
    return Cleaned(made_changes=made_changes)


def _nothing(_table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    yield from ()
    return _CLEAN


# Deletion vectors ---------------------------------------------------------------------------------


def _has_vectors(snapshot: Snapshot) -> bool:
    files = snapshot.all_files()
    on = properties.DELETION_VECTORS.of(snapshot.configuration)
    return on or any(file.deletion_vector for file in files)


def _clean_deletion_vectors(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    """No new vectors, then none in live files, then tombstones that protect the vectors' files."""
    txn = yield from begin(table)
    yield from txn.read_state()
    had_vectors = _has_vectors(txn.snapshot)
    steps = [_without_new_vectors(table), _purged(table)] if had_vectors else []
    return (yield from _all_done([*steps, _purged(table), _vectors_protected(table)], had_vectors))


def _without_new_vectors(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from drop_properties(txn, [properties.DELETION_VECTORS.key], True))


def _purged(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from purge(table, txn))


def _vectors_protected(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    yield from txn.read_state()
    now_ms = yield ReadClock()
    tombstones = _vector_tombstones(txn.snapshot, now_ms)
    return (yield from txn.commit(tombstones, Operation("Deletion Vector Tombstones")))


def _vector_tombstones(snapshot: Snapshot, now_ms: int) -> list[RemoveFile]:
    removed = list(snapshot.tombstones.values())
    vectors = (file.deletion_vector for file in removed)
    paths = {log_path(vector_key(v)) for v in vectors if v and v.storage_type != INLINE}
    tombstoned = {file.path for file in removed if file.deletion_vector is None}
    return [
        RemoveFile(path=path, data_change=False, deletion_timestamp=now_ms)
        for path in sorted(paths - tombstoned)
    ]


# Column mapping and type widening -----------------------------------------------------------------


def _clean_column_mapping(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    if not _maps_columns(seen):
        return _CLEAN
    txn = yield from begin(table)
    return (yield from _all_done([remove_column_mapping(table, txn, keep_property=False)]))


def _maps_columns(snapshot: Snapshot) -> bool:
    return snapshot.metadata is not None and is_mapped(snapshot.metadata)


def _widens(snapshot: Snapshot) -> bool:
    on = properties.TYPE_WIDENING.of(snapshot.configuration)
    return on or has_type_changes(snapshot.schema)


def _clean_type_widening(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """No new changes of types, then no files of older types, then no notes of the changes."""
    if not _widens(seen):
        return _CLEAN
    steps = [_without_new_types(table)]
    was_changed = has_type_changes(seen.schema)
    if was_changed:
        steps += [_rewritten_wider(table), _without_notes(table)]
    return (yield from _all_done(steps, was_changed))


def _without_new_types(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from drop_properties(txn, [properties.TYPE_WIDENING.key], True))


def _rewritten_wider(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from rewrite_narrower(table, txn))


def _without_notes(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    schema = without_type_changes(txn.snapshot.schema)
    metadata = msgspec.structs.replace(txn.metadata, schema_string=schema_string(schema))
    return (yield from txn.commit([metadata], Operation("DROP FEATURE", {"columns": []})))


# Properties ---------------------------------------------------------------------------------------


def _clean_checkpoint_policy(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    if not _checkpoints_v2(seen):
        return _CLEAN
    txn = yield from begin(table)
    return (
        yield from _all_done(
            [change_properties(txn, {properties.CHECKPOINT_POLICY.key: "classic"})]
        )
    )


def _checkpoints_v2(snapshot: Snapshot) -> bool:
    return properties.CHECKPOINT_POLICY.of(snapshot.configuration) != "classic"


_ENABLEMENT = (properties.ICT_ENABLEMENT_TIMESTAMP, properties.ICT_ENABLEMENT_VERSION)


def _is_stamped(snapshot: Snapshot) -> bool:
    on = properties.IN_COMMIT_TIMESTAMPS.of(snapshot.configuration)
    return on or any(key in snapshot.configuration for key in _ENABLEMENT)


def _clean_timestamps(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """In-commit timestamps off; where they began is forgotten."""
    if not _is_stamped(seen):
        return _CLEAN
    txn = yield from begin(table)
    configuration = dict(txn.metadata.configuration)
    removed = [key for key in _ENABLEMENT if configuration.pop(key, None) is not None]
    if properties.IN_COMMIT_TIMESTAMPS.of(configuration):
        configuration[properties.IN_COMMIT_TIMESTAMPS.key] = "false"
        removed.append(properties.IN_COMMIT_TIMESTAMPS.key)
    operation = Operation("UNSET TBLPROPERTIES", {"properties": removed, "ifExists": True})
    metadata = msgspec.structs.replace(txn.metadata, configuration=configuration)
    return (yield from _all_done([txn.commit([metadata], operation)]))


def _check_constraints(_table: Table, seen: Snapshot) -> Steps[Cleaned]:
    yield from ()
    if _is_constrained(seen):
        assert seen.metadata is not None
        raise feature_errors.kept_by_constraints(constraint_names(seen.metadata))
    return _CLEAN


def _is_constrained(snapshot: Snapshot) -> bool:
    return snapshot.metadata is not None and bool(constraint_names(snapshot.metadata))


# Row tracking, domains and the protection of checkpoints ------------------------------------------


def _is_tracked(snapshot: Snapshot) -> bool:
    on = properties.ROW_TRACKING.of(snapshot.configuration)
    suspended = properties.ROW_TRACKING_SUSPENDED.of(snapshot.configuration)
    return on or not suspended or any(f.base_row_id is not None for f in snapshot.all_files())


def _clean_row_tracking(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    """Tracking off and suspended, then the row ids off all files.

    The drop reads the version that the last batch of files made, whatever came after it.
    """
    txn = yield from begin(table)
    yield from txn.read_state()
    if not _is_tracked(txn.snapshot):
        return _CLEAN
    off = {properties.ROW_TRACKING.key: "false", properties.ROW_TRACKING_SUSPENDED.key: "true"}
    stopped = stop((yield from change_properties(txn, off)))
    if stopped is not None:
        return Cleaned(stopped)
    outcome = yield from unbackfill(table)
    version = outcome.version if isinstance(outcome, Committed) else None
    return Cleaned(None if outcome is None else stop(outcome), True, version)


def _without_watermark(snapshot: Snapshot) -> list[AnyAction]:
    domain = snapshot.domains.get(ROW_TRACKING_DOMAIN)
    return [] if domain is None else [_removed(domain)]


def _removed(domain: DomainMetadata) -> DomainMetadata:
    return msgspec.structs.replace(domain, removed=True)


def _has_domains(snapshot: Snapshot) -> bool:
    return bool(snapshot.domains)


def _clean_domains(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    txn = yield from begin(table)
    yield from txn.read_state()
    if not _has_domains(txn.snapshot):
        return _CLEAN
    gone = [_removed(domain) for domain in txn.snapshot.domains.values()]
    return (yield from _all_done([txn.commit(gone, Operation("DOMAIN METADATA CLEANUP"))]))


def _is_protected(snapshot: Snapshot) -> bool:
    return properties.PROTECTED_VERSION in snapshot.configuration


def _unprotect(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """The history that is protected would have to be cut off first, which takes its time."""
    if int(seen.configuration.get(properties.PROTECTED_VERSION, "0")) > 0:
        stopped = stop((yield from empty_commit(table)))
        if stopped is not None:
            return Cleaned(stopped)
        raise feature_errors.protected_for_now()
    txn = yield from begin(table)
    return (
        yield from _all_done([drop_properties(txn, [properties.PROTECTED_VERSION], True)], False)
    )


def empty_commit(table: Table) -> Steps[Outcome]:
    """A commit of nothing, on which a checkpoint is made."""
    txn = yield from begin(table)
    return (yield from txn.commit([], Operation("Empty Commit")))


# By feature ---------------------------------------------------------------------------------------


def _no_traces(_snapshot: Snapshot) -> bool:
    return False


def _no_actions(_snapshot: Snapshot) -> list[AnyAction]:
    return []


@dataclass(frozen=True, slots=True)
class Removal:
    """How one feature is dropped: what cleans up, what is a trace, what goes with the feature.

    `keys`: properties; `actions`: further actions of the commit that drops it.
    """

    clean: Clean = _nothing
    has_traces: Callable[[Snapshot], bool] = _no_traces
    keys: frozenset[str] = frozenset()
    actions: Callable[[Snapshot], list[AnyAction]] = _no_actions


_ROW_TRACKING_KEYS = frozenset(
    {
        properties.ROW_TRACKING.key,
        properties.ROW_TRACKING_SUSPENDED.key,
        properties.ROW_ID_COLUMN,
        properties.ROW_COMMIT_VERSION_COLUMN,
    }
)
_TYPE_WIDENING = Removal(_clean_type_widening, _widens)
REMOVALS: dict[str, Removal] = {
    "checkConstraints": Removal(_check_constraints, _is_constrained),
    "checkpointProtection": Removal(_unprotect, _is_protected),
    "columnMapping": Removal(_clean_column_mapping, _maps_columns),
    "deletionVectors": Removal(_clean_deletion_vectors, _has_vectors),
    "domainMetadata": Removal(_clean_domains, _has_domains),
    "inCommitTimestamp": Removal(_clean_timestamps, _is_stamped),
    "materializePartitionColumns": Removal(keys=frozenset({properties.MATERIALIZED_PARTITIONS})),
    "rowTracking": Removal(
        _clean_row_tracking, _is_tracked, _ROW_TRACKING_KEYS, _without_watermark
    ),
    "typeWidening": _TYPE_WIDENING,
    "typeWidening-preview": _TYPE_WIDENING,
    "v2Checkpoint": Removal(_clean_checkpoint_policy, _checkpoints_v2),
    "vacuumProtocolCheck": Removal(),
}
"""The features that can be dropped; of the others Delta knows no way back."""

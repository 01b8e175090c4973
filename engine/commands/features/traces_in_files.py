"""Traces of table features in data files: vectors, mapped names, narrower types, row ids.

Source: PreDowngradeTableFeatureCommand.scala; TableFeature.scala (validateDropInvariants).
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.commands.features.cleaning import (
    CLEAN,
    Cleaned,
    all_done,
    stop,
)
from whitecap.engine.commands.maintenance.reorg import purge, rewrite_narrower
from whitecap.engine.commands.schema.column_lists import shown_column
from whitecap.engine.commands.schema.mapping_removal import remove_column_mapping
from whitecap.engine.commands.schema.properties import change_properties, drop_properties
from whitecap.engine.commands.schema.row_tracking import unbackfill
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.actions import RemoveFile
from whitecap.engine.log.columns.type_changes import (
    has_type_changes,
    is_noted,
    without_type_changes,
)
from whitecap.engine.log.schema import schema_string
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.vectors.deletion_vectors import INLINE, vector_key
from whitecap.engine.outcomes import Committed, NothingToCommit, Outcome
from whitecap.engine.session.table import Table
from whitecap.engine.storage.paths import log_path
from whitecap.engine.storage.requests import ReadClock, Steps
from whitecap.engine.writing.beginning import begin


def shows_vectors(snapshot: Snapshot) -> bool:
    """Whether files may have deletion vectors, or do."""
    on = properties.DELETION_VECTORS.of(snapshot.configuration)
    return on or _hides_rows(snapshot)


def _hides_rows(snapshot: Snapshot) -> bool:
    return any(file.deletion_vector for file in snapshot.all_files())


def clean_deletion_vectors(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    """No new vectors, then none in live files, then tombstones that protect the vectors' files.

    The tombstones are for a history that is kept, so only for a feature that is dropped at once.
    """
    txn = yield from begin(table)
    yield from txn.read_state()
    showed_vectors = shows_vectors(txn.snapshot)
    steps = [_without_new_vectors(table), _purged(table)] if showed_vectors else []
    protected = [_vectors_protected(table)] if table.dialect.drops_features_at_once else []
    return (yield from all_done([*steps, _purged(table), *protected], showed_vectors))


def _without_new_vectors(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from drop_properties(txn, [properties.DELETION_VECTORS.key]))


def _purged(table: Table) -> Steps[Outcome]:
    """Raises UnsupportedFeature where Delta leaves vectors behind: the rows they hide come back."""
    txn = yield from begin(table)
    outcome = yield from purge(table, txn)
    if isinstance(outcome, NothingToCommit) and _hides_rows(txn.snapshot):
        raise UnsupportedFeature(
            "DROP FEATURE deletionVectors of a clustered table whose deleted rows are all in files"
            " of one small cube: Delta drops the feature, and the rows are there again"
        )
    return outcome


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


def clean_column_mapping(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """Every file is written again under the columns' own names."""
    if not maps_columns(seen):
        return CLEAN
    txn = yield from begin(table)
    return (yield from all_done([remove_column_mapping(table, txn, keep_property=False)]))


def maps_columns(snapshot: Snapshot) -> bool:
    """Whether columns are mapped."""
    return properties.maps_columns(snapshot.configuration)


def widens(snapshot: Snapshot) -> bool:
    """Whether types may be widened, or were."""
    on = properties.TYPE_WIDENING.of(snapshot.configuration)
    return on or has_type_changes(snapshot.schema)


def clean_type_widening(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """No new changes of types, then no files of older types, then no notes of the changes."""
    if not widens(seen):
        return CLEAN
    steps = [_without_new_types(table)]
    was_changed = has_type_changes(seen.schema)
    if was_changed:
        steps += [_rewritten_wider(table), _without_notes(table)]
    return (yield from all_done(steps, was_changed))


def _without_new_types(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from drop_properties(txn, [properties.TYPE_WIDENING.key]))


def _rewritten_wider(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from rewrite_narrower(table, txn))


def _without_notes(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    schema = txn.snapshot.schema
    noted = [shown_column(column) for column in schema if is_noted(column)]
    without = schema_string(without_type_changes(schema))
    metadata = replace(txn.metadata, schema_string=without)
    return (yield from txn.commit([metadata], Operation("DROP FEATURE", {"columns": noted})))


def is_tracked(snapshot: Snapshot) -> bool:
    """Whether rows have ids, may get some, or tracking is not suspended."""
    on = properties.ROW_TRACKING.of(snapshot.configuration)
    suspended = properties.ROW_TRACKING_SUSPENDED.of(snapshot.configuration)
    return on or not suspended or any(f.base_row_id is not None for f in snapshot.all_files())


def clean_row_tracking(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    """Tracking off and suspended, then the row ids off all files.

    The drop reads the version that the last batch of files made, whatever came after it.
    """
    txn = yield from begin(table)
    yield from txn.read_state()
    if not is_tracked(txn.snapshot):
        return CLEAN
    off = {properties.ROW_TRACKING.key: "false", properties.ROW_TRACKING_SUSPENDED.key: "true"}
    stopped = stop((yield from change_properties(txn, off)))
    if stopped is not None:
        return Cleaned(stopped)
    outcome = yield from unbackfill(table)
    version = outcome.version if isinstance(outcome, Committed) else None
    return Cleaned(None if outcome is None else stop(outcome), True, version)

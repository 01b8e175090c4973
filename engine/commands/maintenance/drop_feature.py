"""ALTER TABLE DROP FEATURE: first the traces of the feature go, then the feature itself.

Source: alterDeltaTableCommands.scala (AlterTableDropFeatureDeltaCommand),
PreDowngradeTableFeatureCommand.scala, CheckpointProtectionTableFeature. A feature that readers
must know is dropped behind a barrier: three empty commits, each with a checkpoint. TRUNCATE HISTORY
needs the retention period to pass between two runs, and is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from whitecap.engine.commands.maintenance.reorg import purge
from whitecap.engine.commands.schema.column_removal import remove_column_mapping
from whitecap.engine.commands.schema.constraints import constraint_names
from whitecap.engine.commands.schema.properties import change_properties, drop_properties
from whitecap.engine.commands.schema.row_tracking import unbackfill
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AnyAction, DomainMetadata, RemoveFile
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.features import FEATURES, feature_names, protocol_for
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN, Snapshot
from whitecap.engine.log.vectors.deletion_vectors import INLINE, vector_key
from whitecap.engine.outcomes import Aborted, Outcome, Unknown
from whitecap.engine.refusals import feature_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import DropFeature
from whitecap.engine.storage.paths import log_path
from whitecap.engine.storage.requests import ReadClock, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.execution import begin

BARRIER_COMMITS = 3  # DropTableFeatureUtils.NUMBER_OF_BARRIER_CHECKPOINTS

Clean = Callable[[Table], Steps[Outcome | None]]
"""Takes a feature's traces away; the outcome that stopped it, if any."""


def drop_feature(table: Table, statement: DropFeature) -> Steps[Outcome]:
    """Drop one feature. Raises `DeltaError` for one that is not there or has to stay."""
    txn = yield from begin(table)
    txn.dialect.require(["DROP FEATURE"])
    feature = statement.feature
    _check(feature, txn.snapshot)
    _check_history(feature, statement.truncate_history)
    removal = _REMOVABLE[feature]
    stopped = yield from removal.clean(table)
    if stopped is not None:
        return stopped
    barrier = FEATURES[feature].reader_writer
    for _ in range(BARRIER_COMMITS if barrier else 0):
        stopped = _stop((yield from _empty_commit(table)))
        if stopped is not None:
            return stopped
    return (yield from _downgrade(table, feature, removal, barrier))


def _check(name: str, snapshot: Snapshot) -> None:
    """Raises `DeltaError` for what cannot be dropped.

    Seen on Delta 4.4: a feature is known in any spelling, and present only in its own.
    """
    if name.lower() not in {feature.lower() for feature in FEATURES}:
        raise feature_errors.unknown(name)
    present = feature_names(snapshot.protocol)
    if name not in present:
        raise feature_errors.not_in_protocol(name)
    needing = sorted(f.name for f in FEATURES.values() if name in f.needs and f.name in present)
    if needing:
        raise feature_errors.is_needed(name, needing)
    if name not in _REMOVABLE and name not in _NOT_MODELLED:
        raise feature_errors.not_removable(name)


def _check_history(feature: str, truncates: bool) -> None:
    """Raises `DeltaError` for a history that may not, or must, be cut off."""
    if feature == "checkpointProtection" and not truncates:
        raise feature_errors.with_history(feature)
    if truncates and not FEATURES[feature].reader_writer and feature != "checkpointProtection":
        raise feature_errors.without_history(feature)
    if feature in _NOT_MODELLED:
        raise UnsupportedFeature(f"DROP FEATURE {feature}: {_NOT_MODELLED[feature]}")
    if truncates:
        raise UnsupportedFeature("DROP FEATURE ... TRUNCATE HISTORY: no retention period passes")


def _stop(outcome: Outcome) -> Outcome | None:
    """The outcome, if it keeps what comes next from being done."""
    return outcome if isinstance(outcome, Aborted | Unknown) else None


def _empty_commit(table: Table) -> Steps[Outcome]:
    txn = yield from begin(table)
    return (yield from txn.commit([], Operation("Empty Commit")))


def _downgrade(table: Table, name: str, removal: _Removal, barrier: bool) -> Steps[Outcome]:
    txn = yield from begin(table)
    kept = feature_names(txn.snapshot.protocol) - {name}
    configuration = {
        key: value for key, value in txn.metadata.configuration.items() if key not in removal.keys
    }
    if barrier:
        kept |= {"checkpointProtection"}
        configuration[properties.PROTECTED_VERSION] = str(txn.read_version + 1)
    txn.update_protocol(protocol_for(kept))
    txn.update_metadata(msgspec.structs.replace(txn.metadata, configuration=configuration))
    operation = Operation("DROP FEATURE", {"featureName": name, "truncateHistory": False})
    return (yield from txn.commit(removal.actions(txn), operation))


# What takes the traces away -----------------------------------------------------------------------


def _nothing(_table: Table) -> Steps[Outcome | None]:
    yield from ()
    return None


def _clean_deletion_vectors(table: Table) -> Steps[Outcome | None]:
    """No new vectors, then none in live files, then tombstones that protect the vectors' files."""
    txn = yield from begin(table)
    yield from txn.read_state()
    files = txn.snapshot.all_files()
    key = properties.DELETION_VECTORS.key
    if key in txn.metadata.configuration or any(file.deletion_vector for file in files):
        stopped = _stop((yield from drop_properties(txn, [key], True)))
        if stopped is not None:
            return stopped
        txn = yield from begin(table)
        stopped = _stop((yield from purge(table, txn)))
        if stopped is not None:
            return stopped
    txn = yield from begin(table)
    yield from txn.read_state()
    now_ms = yield ReadClock()
    tombstones = _vector_tombstones(txn.snapshot, now_ms)
    return _stop((yield from txn.commit(tombstones, Operation("Deletion Vector Tombstones"))))


def _vector_tombstones(snapshot: Snapshot, now_ms: int) -> list[RemoveFile]:
    removed = list(snapshot.tombstones.values())
    vectors = (file.deletion_vector for file in removed)
    paths = {log_path(vector_key(v)) for v in vectors if v and v.storage_type != INLINE}
    tombstoned = {file.path for file in removed if file.deletion_vector is None}
    return [
        RemoveFile(path=path, data_change=False, deletion_timestamp=now_ms)
        for path in sorted(paths - tombstoned)
    ]


def _clean_checkpoint_policy(table: Table) -> Steps[Outcome | None]:
    txn = yield from begin(table)
    if properties.CHECKPOINT_POLICY.of(txn.metadata.configuration) == "classic":
        return None
    return _stop((yield from change_properties(txn, {properties.CHECKPOINT_POLICY.key: "classic"})))


def _clean_timestamps(table: Table) -> Steps[Outcome | None]:
    """In-commit timestamps off; where they began is forgotten."""
    txn = yield from begin(table)
    configuration = dict(txn.metadata.configuration)
    enablement_keys = [properties.ICT_ENABLEMENT_TIMESTAMP, properties.ICT_ENABLEMENT_VERSION]
    removed = [key for key in enablement_keys if configuration.pop(key, None) is not None]
    if properties.IN_COMMIT_TIMESTAMPS.of(configuration):
        configuration[properties.IN_COMMIT_TIMESTAMPS.key] = "false"
        removed.append(properties.IN_COMMIT_TIMESTAMPS.key)
    if not removed:
        return None
    operation = Operation("UNSET TBLPROPERTIES", {"properties": removed, "ifExists": True})
    metadata = msgspec.structs.replace(txn.metadata, configuration=configuration)
    return _stop((yield from txn.commit([metadata], operation)))


def _clean_column_mapping(table: Table) -> Steps[Outcome | None]:
    txn = yield from begin(table)
    if not is_mapped(txn.metadata):
        return None
    return _stop((yield from remove_column_mapping(table, txn, keep_property=False)))


def _clean_row_tracking(table: Table) -> Steps[Outcome | None]:
    """Tracking off and suspended, then the row ids off all files."""
    txn = yield from begin(table)
    off = {properties.ROW_TRACKING.key: "false", properties.ROW_TRACKING_SUSPENDED.key: "true"}
    stopped = _stop((yield from change_properties(txn, off)))
    if stopped is not None:
        return stopped
    return (yield from unbackfill(table))


def _check_constraints(table: Table) -> Steps[Outcome | None]:
    txn = yield from begin(table)
    names = constraint_names(txn.metadata)
    if names:
        raise feature_errors.kept_by_constraints(names)
    return None


def _no_actions(_txn: Transaction) -> list[AnyAction]:
    return []


def _without_watermark(txn: Transaction) -> list[AnyAction]:
    domain = txn.snapshot.domains.get(ROW_TRACKING_DOMAIN)
    if domain is None:
        return []
    gone: DomainMetadata = msgspec.structs.replace(domain, removed=True)
    return [gone]


@dataclass(frozen=True, slots=True)
class _Removal:
    """How one feature is dropped: what cleans up, which properties and actions go with it."""

    clean: Clean = _nothing
    keys: frozenset[str] = field(default_factory=frozenset)
    actions: Callable[[Transaction], list[AnyAction]] = _no_actions


_ROW_TRACKING_KEYS = frozenset(
    {
        properties.ROW_TRACKING.key,
        properties.ROW_TRACKING_SUSPENDED.key,
        properties.ROW_ID_COLUMN,
        properties.ROW_COMMIT_VERSION_COLUMN,
    }
)
_REMOVABLE: dict[str, _Removal] = {
    "checkConstraints": _Removal(_check_constraints),
    "columnMapping": _Removal(_clean_column_mapping),
    "deletionVectors": _Removal(_clean_deletion_vectors),
    "inCommitTimestamp": _Removal(_clean_timestamps),
    "rowTracking": _Removal(_clean_row_tracking, _ROW_TRACKING_KEYS, _without_watermark),
    "v2Checkpoint": _Removal(_clean_checkpoint_policy),
    "vacuumProtocolCheck": _Removal(),
}
_WIDENED = "files with narrower types are not written again"
_NOT_MODELLED = {
    "checkpointProtection": "the log is never cleaned up",
    "coordinatedCommits-preview": "commit coordinators are not modelled",
    "domainMetadata": "domains of users are not modelled",
    "materializePartitionColumns": "how data files are written inside is not modelled",
    "typeWidening": _WIDENED,
    "typeWidening-preview": _WIDENED,
}
"""What Delta drops and this does not, with the reason."""

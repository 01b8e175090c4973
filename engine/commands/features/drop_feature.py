"""ALTER TABLE DROP FEATURE: first the traces of the feature go, then the feature itself.

Source: alterDeltaTableCommands.scala (AlterTableDropFeatureDeltaCommand),
CheckpointProtectionTableFeature. A feature that readers must know is dropped behind a barrier:
three empty commits, each with a checkpoint. With TRUNCATE HISTORY, and in dialects that drop no
feature at once, its traces must have left the history too, which no retention period that passes
takes away here.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.commands.features.cleaning import Cleaned, empty_commit, stop
from whitecap.engine.commands.features.history import is_in_history
from whitecap.engine.commands.features.removals import REMOVALS
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.features.feature_keys import (
    CHECKPOINT_PROTECTION,
    DOMAIN_METADATA,
    MATERIALIZED_PARTITIONS,
    ROW_TRACKING,
)
from whitecap.engine.log.features.protocols import feature_names, protocol_for
from whitecap.engine.log.features.table_features import FEATURES
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import feature_errors, protocol_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import DropFeature
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin

BARRIER_COMMITS = 3
"""Source: DropTableFeatureUtils.NUMBER_OF_BARRIER_CHECKPOINTS."""

_NOT_MODELLED = {"coordinatedCommits-preview": "commit coordinators are not modelled"}
"""What Delta drops and this does not, with the reason."""
_LATER = frozenset({CHECKPOINT_PROTECTION, DOMAIN_METADATA, MATERIALIZED_PARTITIONS, ROW_TRACKING})
"""What can be dropped since features are dropped at once. Source: delta-io/delta's pull requests
4212, 4975 and 5026."""


def drop_feature(table: Table, statement: DropFeature) -> Steps[Outcome]:
    """Drop one feature. Raises `DeltaError` for one that is not there or has to stay."""
    txn = yield from begin(table)
    txn.dialect.require(["DROP FEATURE"])
    feature = statement.feature
    _check(feature, txn, statement.truncate_history)
    cleaned = yield from REMOVALS[feature].clean(table, txn.snapshot)
    if cleaned.stopped is not None:
        return cleaned.stopped
    if statement.truncate_history or not table.dialect.drops_features_at_once:
        return (yield from _without_history(table, statement, txn.snapshot, cleaned))
    return (yield from _behind_barrier(table, feature, cleaned))


def _check(name: str, txn: Transaction, truncates: bool) -> None:
    """Raises `DeltaError` for what cannot be dropped.

    Seen on Delta 4.4: a feature is known in any spelling, and present only in its own.
    """
    if name.lower() not in {feature.lower() for feature in FEATURES}:
        raise feature_errors.unknown(name)
    present = feature_names(txn.snapshot.protocol)
    if name not in present:
        raise feature_errors.not_in_protocol(name)
    if name in _NOT_MODELLED:
        raise UnsupportedFeature(f"DROP FEATURE {name}: {_NOT_MODELLED[name]}")
    if name not in _removable(txn.dialect):
        raise feature_errors.not_removable(name)
    if name == CHECKPOINT_PROTECTION and not truncates:
        raise feature_errors.with_history()
    if truncates and name != CHECKPOINT_PROTECTION and not FEATURES[name].reader_writer:
        raise feature_errors.without_history()
    needing = sorted(f.name for f in FEATURES.values() if name in f.needs and f.name in present)
    if needing:
        raise feature_errors.is_needed(name, needing)


def _removable(dialect: Dialect) -> frozenset[str]:
    later = frozenset() if dialect.drops_features_at_once else _LATER
    return frozenset(REMOVALS) - later


def _behind_barrier(table: Table, name: str, cleaned: Cleaned) -> Steps[Outcome]:
    """The feature goes at once; who reads what was before must know it still."""
    for _ in range(BARRIER_COMMITS if FEATURES[name].reader_writer else 0):
        stopped = stop((yield from empty_commit(table)))
        if stopped is not None:
            return stopped
    txn = yield from _dropping(table, name, cleaned)
    return (yield from _downgrade(txn, name, truncates=False, protects=True))


def _without_history(
    table: Table, statement: DropFeature, seen: Snapshot, cleaned: Cleaned
) -> Steps[Outcome]:
    """The feature goes once nothing of it is in the history.

    Raises `DeltaError` if there was anything to clean up now, or if there was any time before.
    """
    name, truncates = statement.feature, statement.truncate_history
    used_by = REMOVALS[name].used_by
    if used_by is not None:
        stopped = stop((yield from empty_commit(table)))
        if stopped is not None:
            return stopped
        if cleaned.made_changes:
            log, truncated = properties.history_retentions(seen.configuration)
            raise feature_errors.wait_for_retention(name, log, truncated)
    txn = yield from _dropping(table, name, cleaned)
    if used_by is not None and (yield from is_in_history(table, used_by, txn.read_version)):
        raise feature_errors.in_history(name)
    return (yield from _downgrade(txn, name, truncates=truncates, protects=False))


def _dropping(table: Table, name: str, cleaned: Cleaned) -> Steps[Transaction]:
    """The transaction that drops the feature. Raises `DeltaError` if traces have come back."""
    if cleaned.version is None:
        txn = yield from begin(table)
    else:
        txn = yield from table.start((yield from table.as_of(cleaned.version)))
    yield from txn.read_state()
    if REMOVALS[name].has_traces(txn.snapshot):
        raise protocol_errors.feature_drop_revalidation("")
    return txn


def _downgrade(txn: Transaction, name: str, *, truncates: bool, protects: bool) -> Steps[Outcome]:
    """Commit without the feature; a history that may show it still is protected from now on."""
    removal = REMOVALS[name]
    kept = feature_names(txn.snapshot.protocol) - {name}
    configuration = {
        key: value for key, value in txn.metadata.configuration.items() if key not in removal.keys
    }
    if FEATURES[name].reader_writer and protects:
        kept |= {CHECKPOINT_PROTECTION}
        configuration[properties.PROTECTED_VERSION] = str(txn.read_version + 1)
    txn.update_protocol(protocol_for(kept))
    txn.update_metadata(replace(txn.metadata, configuration=configuration))
    operation = Operation("DROP FEATURE", {"featureName": name, "truncateHistory": truncates})
    return (yield from txn.commit(removal.actions(txn.snapshot), operation))

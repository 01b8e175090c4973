"""When row-level concurrency applies, and what keeps it from deciding.

Source: https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/
row-level-concurrency ("Requirements", "Limitations", notes under the matrices);
https://learn.microsoft.com/en-ca/azure/databricks/delta/clustering (runtime of clustered tables).
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import commit_verdict
from whitecap.engine.conflicts.winner import ROW_TRACKING_ONLY_TAG, WinningCommit
from whitecap.engine.dialects import ROW_COMMANDS, Dialect
from whitecap.engine.log import properties
from whitecap.engine.log.actions import CHANGE_TYPE_COLUMN
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Verdict
from whitecap.engine.remembered import once_for_each
from whitecap.engine.row_level.reads import RowRead, SubCondition
from whitecap.engine.rules import Rule
from whitecap.engine.settings import Settings

_IDENTITY_PREFIX = "delta.identity."


def may_hide_rows(current: CurrentTransaction) -> bool:
    """Whether the table's rows may be hidden by deletion vectors."""
    return properties.DELETION_VECTORS.of(current.metadata.configuration)


def is_clustered(snapshot: Snapshot) -> bool:
    """Whether the table has liquid clustering."""
    return bool(clustering_columns(snapshot))


def identifies_rows(current: CurrentTransaction) -> bool:
    """Whether rows keep an identity when files are rewritten in another order.

    By row tracking; clustered tables count as having it, since OPTIMIZE never keeps their order.
    """
    tracked = properties.ROW_TRACKING.of(current.metadata.configuration)
    return tracked or is_clustered(current.snapshot)


def changes_rows(current: CurrentTransaction) -> bool:
    """Whether the transaction is DML, or an append, rather than a replacement of files."""
    name = current.operation.name
    if name in ("WRITE", "STREAMING UPDATE"):
        return not current.removed
    return name in ROW_COMMANDS or name == "TRUNCATE"


def is_eligible(current: CurrentTransaction, dialect: Dialect, settings: Settings) -> bool:
    """Whether runtime, table and operation have row-level concurrency."""
    rules = dialect.row_level
    if rules is None or not settings.row_level_concurrency:
        return False
    name = current.operation.name
    covered = name in (ROW_COMMANDS if settings.photon else rules.commands_without_photon)
    table = may_hide_rows(current) and not current.snapshot.partition_columns
    clustered = not rules.only_clustered_tables or is_clustered(current.snapshot)
    return covered and changes_rows(current) and table and clustered


def obstacle(
    current: CurrentTransaction,
    winner: WinningCommit,
    reads: Sequence[RowRead],
    dialect: Dialect,
) -> SubCondition | None:
    """What keeps rows from being told apart, so that files decide; `None` if nothing does."""
    if winner.metadata is not None:
        return SubCondition.METADATA_CHANGE
    if winner.protocol is not None:
        return SubCondition.PROTOCOL_CHANGE
    if _replaces_everything(winner):
        return SubCondition.WHOLE_TABLE_REPLACE
    if _has_change_type_column(current):
        return SubCondition.CHANGE_TYPE_COLUMN
    if current.read_set.whole_table:
        return SubCondition.WHOLE_TABLE_READ
    rules = dialect.row_level
    needs_predicate = rules is not None and rules.merge_needs_target_predicate
    if needs_predicate and not all(read.has_target_predicate for read in reads):
        return SubCondition.PREDICATES_NEED_REWRITE
    return next((read.obstacle for read in reads if read.obstacle is not None), None)


def refusal(
    current: CurrentTransaction, winner: WinningCommit, dialect: Dialect, settings: Settings
) -> Verdict | None:
    """What Databricks refuses whatever files and rows say."""
    if refuses_everything(current, dialect, settings):
        evidence = "the table has identity columns"
        return commit_verdict(Rule.IDENTITY_COLUMNS, current, winner, evidence)
    if winner.protocol is not None and (winner.operation or "").startswith("REORG"):
        return commit_verdict(Rule.PROTOCOL, current, winner, "REORG applied an upgrade")
    enables_tracking = winner.metadata is not None and winner.is_tagged(ROW_TRACKING_ONLY_TAG)
    if enables_tracking and not dialect.tolerates_row_tracking_enablement:
        return commit_verdict(Rule.METADATA, current, winner, "row tracking was enabled")
    return None


def refuses_everything(current: CurrentTransaction, dialect: Dialect, settings: Settings) -> bool:
    """Whether Databricks refuses a transaction on this table whatever the winner did."""
    refuses = dialect.identity_columns_refuse_concurrency and settings.refuse_identity_concurrency
    return refuses and _has_identity_columns(current.snapshot.schema)


@once_for_each
def _has_identity_columns(schema: Schema) -> bool:
    return any(key.startswith(_IDENTITY_PREFIX) for column in schema for key in column.metadata)


def _replaces_everything(winner: WinningCommit) -> bool:
    commit_info = winner.commit_info
    parameters = (commit_info.operation_parameters if commit_info is not None else None) or {}
    overwrites = winner.operation == "WRITE" and parameters.get("mode") == "Overwrite"
    return overwrites and "predicate" not in parameters


def _has_change_type_column(current: CurrentTransaction) -> bool:
    feed = properties.CHANGE_DATA_FEED.of(current.metadata.configuration)
    return feed and current.snapshot.schema.get(CHANGE_TYPE_COLUMN) is not None

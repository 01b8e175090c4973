"""Table properties and comments: ALTER TABLE SET and UNSET TBLPROPERTIES, COMMENT ON TABLE.

Source: alterDeltaTableCommands.scala (AlterTableSetPropertiesDeltaCommand and its neighbour),
DeltaConfigs.scala (validateConfigurations).
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from whitecap.engine.commands.schema.mapping_removal import remove_column_mapping
from whitecap.engine.commands.schema.property_checks import changed, check_keys, stored_key
from whitecap.engine.commands.schema.row_tracking import backfill, is_enabling
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import check_not_suspended
from whitecap.engine.conflicts.winner import ROW_TRACKING_ONLY_TAG
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.columns.mapping import check_change, is_mapped
from whitecap.engine.log.properties import CONSTRAINT_PREFIX
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.refusals import table_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import (
    CommentOnTable,
    SetProperties,
    UnsetProperties,
)
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin

_MAPPING_MODE = properties.COLUMN_MAPPING_MODE.key
_ENABLEMENT_ONLY = {ROW_TRACKING_ONLY_TAG: "true"}


def set_properties(table: Table, statement: SetProperties) -> Steps[Outcome]:
    """ALTER TABLE SET TBLPROPERTIES: the metadata is written even if nothing changes."""
    check_keys(key for key, _ in statement.properties)
    if any(key.lower().startswith(CONSTRAINT_PREFIX) for key, _ in statement.properties):
        raise table_errors.use_add_constraint()
    txn = yield from begin(table)
    new = changed(dict(statement.properties), txn)
    check_not_suspended({**txn.metadata.configuration, **new})
    mode = new.get(_MAPPING_MODE, "none")
    if mode != "none" and mode.lower() == "none" and is_mapped(txn.metadata):
        raise UnsupportedFeature(f"{_MAPPING_MODE} = {mode}: Delta then reads NULL everywhere")
    if new.get(_MAPPING_MODE) == "none":  # also where it is none already
        outcome = yield from remove_column_mapping(table, txn, keep_property=True)
        if len(new) == 1 or not isinstance(outcome, Committed):
            return outcome
        txn = yield from begin(table)
    if is_enabling(txn.metadata, new):
        stopped = yield from backfill(table)
        if stopped is not None:
            return stopped
        txn = yield from begin(table)
    return (yield from change_properties(txn, new, _tags(new)))


def _tags(new: Mapping[str, str]) -> dict[str, str]:
    """By what the statement says alone, whether or not row tracking was on before it."""
    return _ENABLEMENT_ONLY if len(new) == 1 and properties.ROW_TRACKING.of(new) else {}


def change_properties(
    txn: Transaction, new: Mapping[str, str], tags: Mapping[str, str] | None = None
) -> Steps[Outcome]:
    """Commit metadata with these properties set."""
    configuration = {**txn.metadata.configuration, **new}
    check_change(txn.metadata, replace(txn.metadata, configuration=configuration))
    operation = Operation("SET TBLPROPERTIES", {"properties": _shown(new)})
    return (yield from _configured(txn, configuration, operation, tags))


def _shown(new: Mapping[str, str]) -> dict[str, str]:
    """Features that are asked for by name stand there in small letters.

    Source: DeltaConfig.scala (validateConfigurations); seen on Delta Lake 4.4.0.
    """
    prefix = properties.FEATURE_PREFIX
    return {key.lower() if key.startswith(prefix) else key: text for key, text in new.items()}


def unset_properties(table: Table, statement: UnsetProperties) -> Steps[Outcome]:
    """ALTER TABLE UNSET TBLPROPERTIES; one that is not set is no error, IF EXISTS or not."""
    check_keys(statement.keys)
    keys = [stored_key(key) for key in statement.keys]
    txn = yield from begin(table)
    if _MAPPING_MODE in keys:
        outcome = yield from remove_column_mapping(table, txn, keep_property=False)
        if len(keys) == 1 or not isinstance(outcome, Committed):
            return outcome
        txn = yield from begin(table)
    return (yield from drop_properties(txn, keys))


def drop_properties(txn: Transaction, keys: list[str]) -> Steps[Outcome]:
    """Commit metadata without these properties."""
    kept = {k: v for k, v in txn.metadata.configuration.items() if k not in keys}
    # Spark hands every statement over as IF EXISTS. Source: DeltaCatalog.scala (alterTable).
    parameters = {"properties": keys, "ifExists": True}
    return (yield from _configured(txn, kept, Operation("UNSET TBLPROPERTIES", parameters)))


def comment_on_table(table: Table, statement: CommentOnTable) -> Steps[Outcome]:
    """COMMENT ON TABLE: the description, set as if it were a property."""
    txn = yield from begin(table)
    txn.update_metadata(replace(txn.metadata, description=statement.comment))
    shown_properties = {"comment": statement.comment or ""}
    return (
        yield from txn.commit([], Operation("SET TBLPROPERTIES", {"properties": shown_properties}))
    )


def _configured(
    txn: Transaction,
    configuration: dict[str, str],
    operation: Operation,
    tags: Mapping[str, str] | None = None,
) -> Steps[Outcome]:
    txn.update_metadata(replace(txn.metadata, configuration=configuration))
    return (yield from txn.commit([], operation, tags))

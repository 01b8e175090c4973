"""Which isolation level a commit is checked and recorded under.

Source: `isolationLevels.scala`; `TransactionHelper.scala: canDowngradeToSnapshotIsolation`;
`OptimisticTransaction.scala: getIsolationLevelToUse`; `DeltaConfig.scala: ISOLATION_LEVEL`.
"""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import Dialect
from whitecap.engine.isolation import ISOLATION_PROPERTY, IsolationLevel, level_called
from whitecap.engine.log.actions import (
    AddCDCFile,
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Metadata,
    RemoveFile,
)
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN
from whitecap.engine.refusals import property_errors


def table_level(metadata: Metadata, default: IsolationLevel) -> IsolationLevel:
    """The level in the table's properties; a stored string is parsed but never validated.

    Raises `DeltaError` (`DELTA_INVALID_ISOLATION_LEVEL`) for a string that names no level.
    """
    text = metadata.configuration.get(ISOLATION_PROPERTY)
    return default if text is None else level_named(text)


def level_named(text: str) -> IsolationLevel:
    """The level of a name in any case. Raises `DeltaError` for a text that names none."""
    level = level_called(text)
    if level is None:
        raise property_errors.unknown_level(text)
    return level


def level_to_use(
    prepared: Sequence[AnyAction],
    operation: Operation,
    metadata: Metadata,
    dialect: Dialect,
) -> IsolationLevel:
    """The level of this commit: the table's, or SnapshotIsolation where it changes no data.

    Dialects with spellings of their own lower no level. Source: `TransactionHelper.scala:
    canDowngradeToSnapshotIsolation`.
    """
    if dialect.level_spellings is not None:
        text = metadata.configuration.get(ISOLATION_PROPERTY, "")
        return dialect.level_spellings.get(text, dialect.default_isolation)
    level = table_level(metadata, dialect.default_isolation)
    if _only_rearranges(prepared) and _may_downgrade(level, operation):
        return IsolationLevel.SNAPSHOT
    return level


def _may_downgrade(level: IsolationLevel, operation: Operation) -> bool:
    match level:
        case IsolationLevel.SERIALIZABLE:
            return True
        case IsolationLevel.WRITE_SERIALIZABLE:
            return not operation.changes_data
        case IsolationLevel.SNAPSHOT:
            return False


def _only_rearranges(prepared: Sequence[AnyAction]) -> bool:
    return all(_rearranges(action) for action in prepared)


def _rearranges(action: AnyAction) -> bool:
    match action:
        case AddFile() | RemoveFile():
            return not action.data_change
        case AddCDCFile() | CommitInfo():
            return True
        case DomainMetadata():
            return action.domain == ROW_TRACKING_DOMAIN
        case _:
            return False

"""Checks on the actions of one commit by themselves, before any winner is looked at.

Source: `OptimisticTransaction.scala: checkForSetTransactionConflictAndDedup`,
`validateActionsAddFileInvariants`; `ConflictChecker.scala: checkNoDuplicateActions`,
`trackConsistentDataChange`; `DomainMetadataUtils: validateDomainMetadataSupportedAndNoDuplicate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.refusals import commit_errors
from whitecap.engine.settings import ConsistencyMode, Settings

_FILES = (AddFile, RemoveFile)


def without_repeated_set_transactions(actions: Sequence[AnyAction]) -> list[AnyAction]:
    """Each application once. Raises `DeltaError` where one has two versions."""
    if SetTransaction not in map(type, actions):
        return list(actions)
    versions: dict[str, int] = {}
    kept: list[AnyAction] = []
    for action in actions:
        if not isinstance(action, SetTransaction):
            kept.append(action)
        elif action.app_id not in versions:
            versions[action.app_id] = action.version
            kept.append(action)
        elif versions[action.app_id] != action.version:
            raise commit_errors.set_transaction_version_conflict(
                action.app_id, versions[action.app_id], action.version
            )
    return kept


def check_prepared(actions: Sequence[AnyAction], metadata: Metadata, settings: Settings) -> None:
    """Every check that runs again after conflicts were resolved, in Delta's order."""
    _check_added_files(actions, metadata, settings)
    check_no_duplicates(actions, settings)
    check_consistent_data_change(actions, settings)


def _check_added_files(
    actions: Iterable[AnyAction], metadata: Metadata, settings: Settings
) -> None:
    """Zero-byte files and NULL in a NOT NULL partition: only logged unless the session says so."""
    if not (settings.empty_file_check or settings.null_partition_check):
        return
    required = _required_partition_columns(metadata)
    for action in actions:
        if not isinstance(action, AddFile):
            continue
        if settings.empty_file_check and action.size == 0:
            raise commit_errors.empty_file(action.path)
        missing = [name for name in required if (action.partition_values or {}).get(name) is None]
        if settings.null_partition_check and missing:
            raise commit_errors.null_partition(action.path, missing[0])


def _required_partition_columns(metadata: Metadata) -> list[str]:
    columns = schema_of_metadata(metadata).select(metadata.partition_columns)
    return [column.physical_name for column in columns if not column.nullable]


def check_no_duplicates(actions: Iterable[AnyAction], settings: Settings) -> None:
    """One file operation per path, but a removed file may come back with another deletion vector.

    Source: `ConflictChecker.scala: checkNoDuplicateActions`.
    """
    if not settings.duplicate_action_check:
        return
    seen: dict[str, list[AddFile | RemoveFile]] = {}
    for action in actions:
        if isinstance(action, _FILES):
            earlier = seen.setdefault(action.path, [])
            if earlier:
                _check_no_clash(action, earlier)
            earlier.append(action)


def _check_no_clash(action: AddFile | RemoveFile, earlier: Sequence[AddFile | RemoveFile]) -> None:
    for other in earlier:
        if _clash(action, other):
            kind = _kind(action) if type(action) is type(other) else "add/remove"
            raise commit_errors.duplicate_actions(kind, _named(action), _named(other))


def _clash(file: AddFile | RemoveFile, other: AddFile | RemoveFile) -> bool:
    return type(file) is type(other) or file.dv_id == other.dv_id


def _named(action: AddFile | RemoveFile) -> str:
    return action.path if action.dv_id is None else f"{action.path} DV {action.dv_id}"


def _kind(action: AddFile | RemoveFile) -> str:
    return "add" if isinstance(action, AddFile) else "remove"


def check_consistent_data_change(actions: Iterable[AnyAction], settings: Settings) -> None:
    """All added and removed files change data, or none does; by default this is only logged.

    Source: `ConflictChecker.scala: trackConsistentDataChange`.
    """
    if settings.consistent_data_change is not ConsistencyMode.FATAL:
        return
    changes = {action.data_change for action in actions if isinstance(action, AddFile | RemoveFile)}
    if len(changes) > 1:
        raise commit_errors.inconsistent_data_change()


def check_own_domains(actions: Iterable[AnyAction], protocol: Protocol) -> None:
    """Each metadata domain once, and only where the table supports domains."""
    domains = [action.domain for action in actions if isinstance(action, DomainMetadata)]
    if domains and not supports(protocol, feature_keys.DOMAIN_METADATA):
        raise commit_errors.domains_not_supported(domains)
    for position, domain in enumerate(domains):
        if domain in domains[:position]:
            raise commit_errors.duplicate_domain(domain)

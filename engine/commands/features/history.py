"""Whether a table's history still shows a feature.

Source: TableFeature.scala (`RemovableFeature.historyContainsFeature`, `actionUsesFeature`).
"""

from __future__ import annotations

from collections.abc import Callable

from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, Metadata, RemoveFile
from whitecap.engine.log.columns.mapping import is_mapped
from whitecap.engine.log.columns.type_changes import has_type_changes
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.feature_keys import (
    COLUMN_MAPPING,
    DELETION_VECTORS,
    TYPE_WIDENING,
    TYPE_WIDENING_PREVIEW,
    V2_CHECKPOINT,
    VACUUM_PROTOCOL_CHECK,
)
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps


def is_in_history(table: Table, feature: str, version: int) -> Steps[bool]:
    """Whether any commit up to `version` uses the feature."""
    commits = yield from table.commits()
    return any(_USES[feature](commit) for commit in commits if commit.version <= version)


def _has_metadata(uses: Callable[[Metadata], bool]) -> Callable[[Commit], bool]:
    return lambda commit: commit.metadata is not None and uses(commit.metadata)


def _uses_vectors(commit: Commit) -> bool:
    if commit.metadata and properties.DELETION_VECTORS.of(commit.metadata.configuration):
        return True
    return any(
        isinstance(action, AddFile | RemoveFile) and action.deletion_vector is not None
        for action in commit.actions
    )


def _checkpoints_v2(metadata: Metadata) -> bool:
    return properties.CHECKPOINT_POLICY.of(metadata.configuration) != "classic"


def _has_changed_types(metadata: Metadata) -> bool:
    return has_type_changes(schema_of_metadata(metadata))


def _never(_commit: Commit) -> bool:
    return False


_USES: dict[str, Callable[[Commit], bool]] = {
    COLUMN_MAPPING: _has_metadata(is_mapped),
    DELETION_VECTORS: _uses_vectors,
    TYPE_WIDENING: _has_metadata(_has_changed_types),
    TYPE_WIDENING_PREVIEW: _has_metadata(_has_changed_types),
    V2_CHECKPOINT: _has_metadata(_checkpoints_v2),
    VACUUM_PROTOCOL_CHECK: _never,
}

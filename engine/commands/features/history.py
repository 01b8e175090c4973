"""Whether a table's history still shows a feature: which commits use it.

Source: TableFeature.scala (`RemovableFeature.historyContainsFeature`, `actionUsesFeature`).
"""

from __future__ import annotations

from collections.abc import Callable

from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.columns.type_changes import has_type_changes
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps

UsedBy = Callable[[Commit], bool]


def is_in_history(table: Table, used_by: UsedBy, version: int) -> Steps[bool]:
    """Whether any commit up to `version` uses a feature."""
    commits = yield from table.commits()
    return any(used_by(commit) for commit in commits if commit.version <= version)


def configures(holds: Callable[[properties.Configuration], bool]) -> UsedBy:
    """Used by a commit with metadata whose table properties ask for it."""
    return lambda commit: commit.metadata is not None and holds(commit.metadata.configuration)


def uses_vectors(commit: Commit) -> bool:
    """Whether a commit lets files have deletion vectors, or has files with some."""
    return configures(properties.DELETION_VECTORS.of)(commit) or any(
        isinstance(action, AddFile | RemoveFile) and action.deletion_vector is not None
        for action in commit.actions
    )


def has_changed_types(commit: Commit) -> bool:
    """Whether the metadata of a commit notes that types of columns were changed."""
    return commit.metadata is not None and has_type_changes(schema_of_metadata(commit.metadata))


def never(_commit: Commit) -> bool:
    """Of a feature that no action uses."""
    return False

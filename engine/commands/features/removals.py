"""Which table features can be dropped, and what ALTER TABLE DROP FEATURE does to each first.

Source: `RemovableFeature` in TableFeature.scala; PreDowngradeTableFeatureCommand.scala.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from whitecap.engine.commands.features.cleaning import CLEAN, Cleaned
from whitecap.engine.commands.features.history import (
    UsedBy,
    configures,
    has_changed_types,
    never,
    uses_vectors,
)
from whitecap.engine.commands.features.traces_in_files import (
    clean_column_mapping,
    clean_deletion_vectors,
    clean_row_tracking,
    clean_type_widening,
    is_tracked,
    maps_columns,
    shows_vectors,
    widens,
)
from whitecap.engine.commands.features.traces_in_log import (
    asks_for_v2_checkpoints,
    check_constraints,
    clean_checkpoint_policy,
    clean_domains,
    clean_timestamps,
    has_domains,
    is_constrained,
    is_protected,
    is_stamped,
    unprotect,
    watermark_removed,
)
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AnyAction
from whitecap.engine.log.features.feature_keys import (
    CHECK_CONSTRAINTS,
    CHECKPOINT_PROTECTION,
    COLUMN_MAPPING,
    DELETION_VECTORS,
    DOMAIN_METADATA,
    IN_COMMIT_TIMESTAMP,
    MATERIALIZED_PARTITIONS,
    ROW_TRACKING,
    TYPE_WIDENING,
    TYPE_WIDENING_PREVIEW,
    V2_CHECKPOINT,
    VACUUM_PROTOCOL_CHECK,
)
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps

Clean = Callable[[Table, Snapshot], Steps[Cleaned]]
"""Takes a feature's traces away, given the table as the statement first saw it."""


def _nothing(_table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    yield from ()
    return CLEAN


def _no_traces(_snapshot: Snapshot) -> bool:
    return False


def _no_actions(_snapshot: Snapshot) -> list[AnyAction]:
    return []


class Removal(Struct, frozen=True):
    """How one feature is dropped: what cleans up, what is a trace, what goes with the feature.

    `keys`: properties; `actions`: further actions of the commit that drops it. `used_by`: which
    commits of the history show it, `None` where readers need not know the feature.
    """

    clean: Clean = _nothing
    has_traces: Callable[[Snapshot], bool] = _no_traces
    used_by: UsedBy | None = None
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
_TYPE_WIDENING = Removal(clean_type_widening, widens, has_changed_types)
REMOVALS: dict[str, Removal] = {
    CHECK_CONSTRAINTS: Removal(check_constraints, is_constrained),
    CHECKPOINT_PROTECTION: Removal(unprotect, is_protected),
    COLUMN_MAPPING: Removal(
        clean_column_mapping, maps_columns, configures(properties.maps_columns)
    ),
    DELETION_VECTORS: Removal(clean_deletion_vectors, shows_vectors, uses_vectors),
    DOMAIN_METADATA: Removal(clean_domains, has_domains),
    IN_COMMIT_TIMESTAMP: Removal(clean_timestamps, is_stamped),
    MATERIALIZED_PARTITIONS: Removal(keys=frozenset({properties.MATERIALIZED_PARTITIONS})),
    ROW_TRACKING: Removal(
        clean_row_tracking, is_tracked, keys=_ROW_TRACKING_KEYS, actions=watermark_removed
    ),
    TYPE_WIDENING: _TYPE_WIDENING,
    TYPE_WIDENING_PREVIEW: _TYPE_WIDENING,
    V2_CHECKPOINT: Removal(
        clean_checkpoint_policy,
        asks_for_v2_checkpoints,
        configures(properties.makes_v2_checkpoints),
    ),
    VACUUM_PROTOCOL_CHECK: Removal(used_by=never),
}
"""The features that can be dropped; of the others Delta knows no way back."""

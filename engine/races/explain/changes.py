"""What could be changed so that two statements do not conflict, in the order of what it takes."""

from __future__ import annotations

from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Changer
from whitecap.engine.races.explain.layouts import (
    other_layouts,
    with_deletion_vectors,
    write_serializable,
    write_serializable_elsewhere,
)
from whitecap.engine.races.explain.platforms import (
    newer_delta,
    row_level_concurrency,
    vectors_on_databricks,
)
from whitecap.engine.races.explain.wordings import (
    compact_elsewhere,
    name_partitions,
    without_zorder,
)


def own_changes(case: RaceCase) -> list[Changer]:
    """What users can do on the platform they have."""
    return [
        without_zorder,
        *other_layouts(case),
        with_deletion_vectors,
        write_serializable,
        name_partitions,
        compact_elsewhere,
    ]


def platform_changes() -> list[Changer]:
    """What takes another platform or a newer one."""
    return [
        newer_delta,
        write_serializable_elsewhere,
        vectors_on_databricks,
        row_level_concurrency,
    ]


def metadata_changes() -> list[Changer]:
    """What can help where metadata or protocol changed: layouts and levels never do."""
    return [newer_delta]

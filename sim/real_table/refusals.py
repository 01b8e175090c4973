"""Which real tables no run can begin with, and why."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.log.features.protocols import feature_names, unknown_features
from whitecap.engine.log.snapshot import Snapshot
from whitecap.sim.quantities.bounds import MAX_REAL_FILES
from whitecap.sim.scenario.table import PYTHON_TYPES

_OF_CATALOGS = frozenset({"catalogManaged", "coordinatedCommits-preview"})


def refusals_of(snapshot: Snapshot) -> Iterator[str]:
    """Everything that stands against it, in words."""
    if snapshot.protocol is not None:
        for feature in unknown_features(snapshot.protocol):
            yield f"has the table feature {feature!r}, which is not modelled"
    for feature in sorted(feature_names(snapshot.protocol) & _OF_CATALOGS):
        yield f"has the table feature {feature!r}: its catalog, which is not asked, has its commits"
    for column in snapshot.partition_schema:
        if column.type not in PYTHON_TYPES:
            kinds = ", ".join(kind.upper() for kind in PYTHON_TYPES)
            said = f"is partitioned by {column.name!r}, which is {column.type.upper()}"
            yield f"{said}: values of partitions may be {kinds}"
    if snapshot.num_files > MAX_REAL_FILES:
        yield f"has {snapshot.num_files:,} live files, more than {MAX_REAL_FILES:,}"

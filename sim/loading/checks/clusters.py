"""Do writers run on every cluster?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whitecap.engine.errors import nearest
from whitecap.sim.loading.checks.writers import GivenWriters
from whitecap.sim.scenario.yaml.text import PlacedProblem


def idle_clusters(clusters: Sequence[str], writers: GivenWriters) -> Iterator[PlacedProblem]:
    """Clusters that no writer names, where all writers are well formed."""
    if not writers.are_well_formed:
        return
    named = [group.cluster for group in writers.groups.values() if group.cluster is not None]
    for cluster in clusters:
        if cluster not in named:
            said = "no writer runs on it: name it as the cluster of a writer"
            yield ("clusters", cluster), said, nearest(cluster, named)

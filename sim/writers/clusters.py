"""The clusters of a scenario: a writer's own, or one that several groups of writers name."""

from __future__ import annotations

from msgspec import Struct, field

from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.clusters import Load
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.store import LogStore
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.spark.sharing import Processor, Slots
from whitecap.sim.spark.spark_jobs import LoadOverTime
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.store.requests.faults import crashes_of
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.named_writer import NamedWriter
from whitecap.sim.writers.table_in_store import TableInStore

EVERYWHERE = "everywhere"
"""The entity of a load that is on all clusters."""


class Clusters(Struct):
    """Makes each when it is first asked for."""

    scenario: Scenario
    streams: RandomStreams
    kernel: Kernel
    recorder: Recorder
    _of_writers: dict[str, Cluster] = field(default_factory=dict)
    _named: dict[str, Cluster] = field(default_factory=dict)
    _loads: dict[str, LoadOverTime] = field(default_factory=dict)

    def of(self, named: NamedWriter, table: TableInStore) -> Cluster:
        """The cluster of a writer as it deals with a table: its own, or that of its group."""
        return self._driver(named, table).of_table(table.store, table.history)

    def _driver(self, named: NamedWriter, first: TableInStore) -> Cluster:
        """The driver of a cluster, as it deals with one of its tables."""
        writer, cluster = named.name, named.group.cluster
        if cluster is None:
            if writer not in self._of_writers:
                own = {named.group_name: named.group}
                self._of_writers[writer] = self._new(writer, own, 1, first)
            return self._of_writers[writer]
        if cluster not in self._named:
            groups = {
                name: group
                for name, group in self.scenario.writers.items()
                if group.cluster == cluster
            }
            writers = sum(group.count for group in groups.values())
            self._named[cluster] = self._new(cluster, groups, writers, first)
        return self._named[cluster]

    def _new(
        self, name: str, groups: dict[str, WriterGroup], writers: int, first: TableInStore
    ) -> Cluster:
        cluster = Cluster(
            kernel=self.kernel,
            store=first.store,
            history=first.history,
            profile=self.scenario.store.with_log_store(_log_store(groups)),
            recorder=self.recorder,
            crashes=crashes_of(self.scenario.faults, _names(name, groups), name, self.streams),
            clock_skew_ms=self._clock_skew_ms(name, groups),
            is_shared=writers > 1 or any(group.overlaps_itself for group in groups.values()),
        )
        named = any(group.cluster == name for group in groups.values())
        options = self.scenario.clusters.get(name) if named else None
        loads = [(EVERYWHERE, self.scenario.load)]
        if options is not None:
            cluster.slots = None if options.slots is None else Slots(options.slots)
            if options.full_speed is not None:
                cluster.processor = Processor(self.kernel, options.full_speed)
            loads.append((f"cluster {name}", options.load))
        cluster.loads = [self._load(entity, load) for entity, load in loads if load is not None]
        return cluster

    def _clock_skew_ms(self, name: str, groups: dict[str, WriterGroup]) -> float:
        skew = next((g.clock_skew for g in groups.values() if g.clock_skew is not None), None)
        if skew is None:
            return 0.0
        clock = self.streams.source("clock", name)
        return skew.ms(clock.uniform(0, 0), clock.uniform(0, 1))

    def _load(self, entity: str, load: Load) -> LoadOverTime:
        if entity not in self._loads:
            self._loads[entity] = LoadOverTime(load, self.streams.source("load", entity))
        return self._loads[entity]


def _log_store(groups: dict[str, WriterGroup]) -> LogStore | None:
    """What the driver is set to, where that is not the store's own log store."""
    return next((g.log_store for g in groups.values() if g.log_store is not None), None)


def _names(cluster: str, groups: dict[str, WriterGroup]) -> set[str]:
    """What faults may call the writers of a cluster: their groups, or each writer by its name."""
    if all(group.cluster is None for group in groups.values()):
        return {cluster, *groups}
    names = {member for name, group in groups.items() for member in group.members(name)}
    return {*names, *groups}

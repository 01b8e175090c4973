"""Puts a scenario together: the store with its tables, and the writers with their clusters."""

from __future__ import annotations

from msgspec import Struct, field

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.tables_at_start import tables_at_start
from whitecap.sim.time.kernel import Kernel
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.assembly import Assembly
from whitecap.sim.writers.table_in_store import TableInStore
from whitecap.sim.writers.writer import Writer

DELETES_DATA_FILES = "VACUUM"
"""The command after which a data file may be gone, so that readers must look at their very instant.
"""


class SimulatedWorld(Struct, frozen=True):
    """Everything that exists in one run."""

    scenario: Scenario
    streams: RandomStreams
    kernel: Kernel
    recorder: Recorder
    tables: list[TableInStore]
    writers: list[Writer] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        streams: RandomStreams,
        *,
        with_requests: bool = False,
        patient: bool = False,
        with_plans: bool = True,
    ) -> SimulatedWorld:
        """Make the world at simulated instant 0.

        In a `patient` world every process waits for the kernel at each of its requests, so that
        they come in exactly their order. Without `with_plans` every statement is run the general
        way; the recording is the same.
        """
        kernel = Kernel(patient or _needs_patience(scenario))
        recorder = Recorder(with_requests, lambda: kernel.now_ms, scenario.tells_statements_apart)
        tables = list(tables_at_start(scenario, streams, kernel))
        world = cls(scenario, streams, kernel, recorder, tables)
        assembly = Assembly(scenario, streams, kernel, recorder, tables, with_plans)
        world.writers.extend(assembly.writers())
        return world

    def start(self) -> None:
        """Let every writer begin."""
        for writer in self.writers:
            self.kernel.start(writer.process())

    def table_named(self, name: str | None) -> TableInStore:
        """The table of this name; without a name the only one. Raises `InvalidInput`."""
        named = {table.name: table for table in self.tables}
        if name is None and len(named) == 1:
            return self.tables[0]
        if name is None:
            said = f"say which table is meant: there are {', '.join(named)}"
            raise InvalidInput([Problem("table", said)])
        if name not in named:
            raise InvalidInput([Problem("table", *unknown_name("table", name, named))])
        return named[name]

    # Of a run of one table, or the first of several --------------------------------------------

    @property
    def store(self) -> FakeStore:
        """Where the table lies."""
        return self.tables[0].store

    def settle(self) -> None:
        """Raises `LimitsBite` where a store's limits might have refused a request until now."""
        for table in self.tables:
            table.throttle.settle()

    @property
    def initial_version(self) -> int:
        """The version at which the run begins; -1 where there is no table."""
        return self.tables[0].initial_version


def _needs_patience(scenario: Scenario) -> bool:
    """Whether requests must come in exactly their order: no process may run ahead."""
    parts = (part for group in scenario.writers.values() for part in group.parts)
    commands = {parse_statement(part.statement).command for part in parts}
    return (
        DELETES_DATA_FILES in commands
        or not scenario.is_exclusive
        or any(fault.is_counted for fault in scenario.faults)
    )

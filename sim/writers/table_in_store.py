"""One table of a run: where it lies, what its clients share, and what limits its requests."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.engine.session.table import SharedTable
from whitecap.sim.scenario.table import Table
from whitecap.sim.store.history import History
from whitecap.sim.store.limits import Throttle
from whitecap.sim.store.objects import FakeStore
from whitecap.sim.table.rows import KeysInUse, TableRows


@dataclass(frozen=True, slots=True)
class TableInStore:
    """A table with its directory of the store: log, data files, and the queue at its newest key.

    `throttle` is its own where the store limits each prefix, and of all tables where it limits the
    account. `initial_version` is -1 where there was no table.
    """

    table: Table
    rows: TableRows
    store: FakeStore
    shared: SharedTable
    history: History
    throttle: Throttle
    keys: KeysInUse
    first_new_key: int
    initial_version: int

    @property
    def name(self) -> str:
        """As statements call it."""
        return self.table.name

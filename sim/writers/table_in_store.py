"""One table of a run: where it lies, what its clients share, and what limits its requests."""

from __future__ import annotations

from msgspec import Struct

from whitecap.engine.session.table import SharedTable
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.store.contents.history import CommitHistory
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.store.requests.limits import Throttle
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import KeysInUse


class TableInStore(Struct, frozen=True):
    """A table and its directory in the store: log, data files, and the queue at its newest key.

    `throttle` is shared by all tables where the store limits the account, and else its own.
    `initial_version` is -1 where there was no table.
    """

    table: TableSection
    rows: ScenarioRows
    store: FakeStore
    shared: SharedTable
    history: CommitHistory
    throttle: Throttle
    keys: KeysInUse
    first_new_key: int
    initial_version: int

    @property
    def name(self) -> str:
        """As statements call it."""
        return self.table.name

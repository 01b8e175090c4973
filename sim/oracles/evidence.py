"""All that the oracles look at: a log, the rows behind it, and what writers know of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from whitecap.engine.isolation import IsolationLevel, stated_level
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.storage.memory import Store
from whitecap.sim.oracles.history import History, HistoryTransaction
from whitecap.sim.oracles.log_validation import CheckedLog
from whitecap.sim.oracles.row_changes import RowChanges


# No slots: what is derived is kept in the instance's dictionary.
@dataclass(frozen=True)
class Evidence:
    """One table with what is known of its writers. Without a `history`, only the log can be judged.

    `landed_at`: when versions took effect, on the history's clock, as far as known. `existing`:
    keys of all data files in the store. `decided`: what a catalog or an external log store holds
    for versions, before it is copied to the log. `overwritten`: versions whose first content is
    known to be gone. `unfinished`: versions that a service beside the log has as under way.
    `compares_files`: what the log says of files is held against their rows.
    """

    log: CheckedLog
    store: Store
    history: History | None = None
    landed_at: dict[int, float] = field(default_factory=dict)
    existing: frozenset[str] | None = None
    decided: dict[int, list[bytes]] = field(default_factory=dict)
    overwritten: tuple[int, ...] = ()
    unfinished: tuple[int, ...] = ()
    compares_files: bool = False

    @cached_property
    def changes(self) -> RowChanges:
        """What each version did to the rows."""
        return RowChanges.of(self.log, self.store, self.compares_files)

    @property
    def commits(self) -> dict[int, Commit]:
        """The log by version."""
        return self.log.commits

    @property
    def transactions(self) -> tuple[HistoryTransaction, ...]:
        """Those of the history."""
        return () if self.history is None else self.history.transactions

    @cached_property
    def owners(self) -> dict[int, HistoryTransaction]:
        """The transaction of each version: as known for sure, by its id, or as acknowledged."""
        owners: dict[int, HistoryTransaction] = {}
        by_id = {each.txn_id: each for each in self.transactions if each.txn_id}
        for transaction in self.transactions:
            if transaction.wrote is None:
                owners |= dict.fromkeys(transaction.acknowledged, transaction)
        for version, commit in self.commits.items():
            txn_id = None if commit.commit_info is None else commit.commit_info.txn_id
            if txn_id in by_id:
                owners[version] = by_id[txn_id]
        for transaction in self.transactions:
            owners |= dict.fromkeys(transaction.wrote or (), transaction)
        return {version: owner for version, owner in owners.items() if version in self.commits}

    @cached_property
    def written(self) -> dict[str, list[int]]:
        """By the name of a transaction, the versions that are its own, in order."""
        written: dict[str, list[int]] = {}
        for version, owner in sorted(self.owners.items()):
            written.setdefault(owner.name, []).append(version)
        return written

    def level_at(self, version: int) -> IsolationLevel:
        """What the table promises of a commit: its property before it, else the default."""
        before = self.log.snapshots.get(version - 1, self.log.base)
        default = IsolationLevel.SERIALIZABLE
        if self.history is not None:
            default = self.history.promise.level
        return stated_level(before.configuration) or default

    def owned(self) -> Iterator[tuple[int, HistoryTransaction]]:
        """Versions with their owner, in order."""
        yield from sorted(self.owners.items(), key=lambda item: item[0])

    def name_of(self, version: int) -> str:
        """How sentences call a version: by its writer if it is known."""
        owner = self.owners.get(version)
        return f"version {version}" + ("" if owner is None else f" ({owner.name})")

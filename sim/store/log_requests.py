"""The requests of a profile's log store, as kinds."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.sim.scenario.store import LogStore
from whitecap.sim.store.kinds import KIND_NAMED, Kind


@dataclass(frozen=True, slots=True)
class LogRequests:
    """What each thing that is done with a file of the log takes."""

    before_put: tuple[Kind, ...]
    after_put: tuple[Kind, ...]
    read: tuple[Kind, ...]
    checksum: tuple[Kind, ...]
    pointer: tuple[Kind, ...]
    delete: tuple[Kind, ...]
    probe: tuple[Kind, ...]

    @classmethod
    def of(cls, log_store: LogStore) -> LogRequests:
        """In the order of `LogStore.requests`."""
        return cls(*(tuple(KIND_NAMED[name] for name in names) for names in log_store.requests))

"""A store that is measured: what it can be asked, and how its requests are sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from whitecap.sim.calibration.samples import StoreOperation


class Refused(Exception):
    """The store would not take a request: throttled, or in conflict with another one."""


class CalibrationTarget(Protocol):
    """One place in a store, for one client at a time; keys are relative to it."""

    @property
    def place(self) -> str:
        """Its name in sources."""
        ...

    @property
    def like(self) -> str:
        """The profile that stands for what cannot be measured."""
        ...

    @property
    def kinds(self) -> frozenset[StoreOperation]:
        """The requests that it knows."""
        ...

    def another(self) -> CalibrationTarget:
        """The same place, for another client."""
        ...

    def is_empty(self) -> bool:
        """Whether nothing is there. Raises `InvalidInput` if it cannot be reached."""
        ...

    def put_if_absent(self, key: str, body: bytes) -> bool:
        """Create an object; false if there is one. This and all below raise `Refused`."""
        ...

    def put(self, key: str, body: bytes) -> None:
        """Write an object, whatever is there."""
        ...

    def get(self, key: str) -> int:
        """Read an object; returns its bytes."""
        ...

    def head(self, key: str) -> None:
        """Ask for an object's size."""
        ...

    def list(self, folder: str) -> Sequence[str]:
        """One page of the names in a folder, in order."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Copy an object within the store."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Rename an object."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object."""
        ...

    def clear(self, folder: str) -> None:
        """Remove everything in a folder, and the folder where the store has such."""
        ...

"""A store's data files: those from before the run as they are described, later ones as written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Protocol

from whitecap.engine.packed.blocks import GrowingMap
from whitecap.engine.storage.requests import WriteRows
from whitecap.sim.store.contents.kept import StoredDataFile


class Describing(Protocol):
    """Data files that were there before the run, made when somebody asks for them."""

    def data_file(self, key: str) -> WriteRows | None:
        """What the store holds under a key."""
        ...

    def storage_keys(self) -> Iterator[str]:
        """The storage keys of all files."""
        ...


class DescribedDataFiles(GrowingMap[str, StoredDataFile]):
    """The data files of the store: those of the initial table described, later ones as written."""

    def __init__(self, initial: Describing, written: GrowingMap[str, StoredDataFile]) -> None:
        self._initial = initial
        self._written = written
        self._deleted: set[str] = set()

    def look_up(self, key: str) -> StoredDataFile | None:
        """The data file of a key, `None` if there is none."""
        file = self._written.look_up(key)
        if file is not None:
            return file
        described = None if key in self._deleted else self._initial.data_file(key)
        return None if described is None else StoredDataFile(described, 0.0)

    def __setitem__(self, key: str, file: StoredDataFile) -> None:
        self._written[key] = file

    def add(self, key: str, file: StoredDataFile) -> None:
        """Put in a file of a key that has none."""
        self._written.add(key, file)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._written.pop(key, None)
        self._deleted.add(key)

    def __iter__(self) -> Iterator[str]:
        keys = self._initial.storage_keys()
        left = (key for key in keys if key not in self._deleted and key not in self._written)
        return chain(left, self._written)

    def __len__(self) -> int:
        return sum(1 for _ in self)

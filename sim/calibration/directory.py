"""A directory as a store: what a local disk, or what is mounted like one, takes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whitecap.engine.errors import unreadable
from whitecap.sim.calibration.samples import StoreOperation
from whitecap.sim.machine.places import require_directory


@dataclass(slots=True)
class DirectoryTarget:
    """A directory. Put-if-absent writes a file of another name and links it, as Delta's does.

    (`engine/storage/disk/directory.py`; a link fails where there is a file, and never shows half of
    one.)
    """

    root: Path
    like: str = "local"
    kinds: frozenset[StoreOperation] = frozenset(StoreOperation) - {StoreOperation.COPY}
    place: str = field(init=False)
    _made: Sequence[Path] = field(init=False)
    """The directory and those above it, inmost first, as far as they were not there."""

    def __post_init__(self) -> None:
        self.place = f"the directory {self.root}"
        places = (self.root, *self.root.parents)
        self._made = [place for place in places if not place.exists()]
        require_directory(self.root)

    def another(self) -> DirectoryTarget:
        return self

    def is_empty(self) -> bool:
        try:
            return bool(self._made) or not any(self.root.iterdir())
        except OSError as error:
            raise unreadable(self.root, error) from None

    def put_if_absent(self, key: str, body: bytes) -> bool:
        path = self._path(key)
        beside = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
        beside.write_bytes(body)
        try:
            os.link(beside, path)
        except FileExistsError:
            return False
        finally:
            beside.unlink()
        return True

    def put(self, key: str, body: bytes) -> None:
        self._path(key).write_bytes(body)

    def get(self, key: str) -> int:
        return len((self.root / key).read_bytes())

    def head(self, key: str) -> None:
        (self.root / key).stat()

    def list(self, folder: str) -> Sequence[str]:
        return sorted(os.listdir(self.root / folder))

    def copy(self, source: str, target: str) -> None:
        shutil.copyfile(self.root / source, self._path(target))

    def rename(self, source: str, target: str) -> None:
        os.rename(self.root / source, self._path(target))

    def delete(self, key: str) -> None:
        (self.root / key).unlink()

    def clear(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)
        for place in self._made:
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()

    def _path(self, key: str) -> Path:
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

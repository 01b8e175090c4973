"""A sweep's dataset in a directory of this machine, written and read without Java."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, unreadable
from whitecap.sim.machine.places import named, require_directory, write_whole
from whitecap.sim.recording.dataset.layout import (
    FILE,
    RECORDINGS,
    RUNS,
    TABLE,
    WHOLE_MARK,
    batch_number,
)
from whitecap.sim.recording.dataset.place import is_begun_by
from whitecap.sim.recording.dataset.rows import Ran, in_row_groups


class LocalPlace(Struct, frozen=True):
    """A directory."""

    path: Path

    @property
    def uri(self) -> str:
        """What Spark calls it: Hadoop's paths are not percent-encoded."""
        return f"file://{self.path.absolute()}"

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        """Whether anything lies there, but for what a sweep is begun by."""
        return self.path.is_file() or not is_begun_by(self._listed)

    def _listed(self, name: str) -> list[str]:
        folder = self.path / name
        if folder.is_dir():
            return [entry.name for entry in folder.iterdir()]
        return [name] if folder.exists() else []

    def read(self, name: str) -> str | None:
        """The text of a file; `None` if it is not there."""
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(self.path / name, error) from None

    def write(self, name: str, text: str) -> None:
        """Make or replace a file, whole or not at all."""
        require_directory(self.path)
        write_whole(self.path / name, text.encode())

    def batches(self) -> Mapping[str, bool]:
        """The folders of all batches in their order, and whether each is whole."""
        root = self.path / RECORDINGS
        folders = sorted(root.iterdir()) if root.is_dir() else []
        named = (folder for folder in folders if batch_number(folder.name) is not None)
        return {folder.name: (folder / WHOLE_MARK).is_file() for folder in named}

    def remove(self, batch: str) -> None:
        """Remove a batch; its `_SUCCESS` goes first."""
        folder = self.path / RECORDINGS / batch
        (folder / WHOLE_MARK).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def rows(
        self, table: str, columns: Sequence[str], batches: Sequence[str], cell: str | None = None
    ) -> pa.Table:
        """These columns of a table in these batches, in no order; of one cell only if named.

        Raises `InvalidInput`: a file is damaged.
        """
        chosen = None if cell is None else ds.field("cell") == cell
        files = [
            str(file)
            for batch in batches
            for file in sorted(self._folder(batch, table).glob("[!._]*.parquet"))
        ]
        try:
            return ds.dataset(files, FILE, format="parquet").to_table(list(columns), filter=chosen)
        except (pa.ArrowException, OSError) as error:
            place = str(self.path / RECORDINGS)
            raise InvalidInput([Problem(place, f"cannot be read as Parquet: {error}")]) from None

    def _folder(self, batch: str, table: str) -> Path:
        return self.path / RECORDINGS / batch / f"{TABLE}={table}"

    def close(self, batch: str) -> None:
        """Everything of a batch is written."""
        (self.path / RECORDINGS / batch / WHOLE_MARK).touch()

    def add(self, batch: str, part: int, runs: Iterable[Ran]) -> None:
        """Write runs as they come, as one part of a batch. Raises `OSError` that names it."""
        try:
            self._add(batch, part, runs)
        except OSError as error:
            raise named(error, self._folder(batch, RUNS).parent) from error

    def _add(self, batch: str, part: int, runs: Iterable[Ran]) -> None:
        with ExitStack() as files:
            writers: dict[str, pq.ParquetWriter] = {}
            for table, rows in in_row_groups(runs):
                if table not in writers:
                    file = self._part(batch, table, part)
                    writers[table] = files.enter_context(
                        pq.ParquetWriter(file, FILE, compression="zstd")
                    )
                writers[table].write_table(rows)

    def _part(self, batch: str, table: str, part: int) -> Path:
        folder = self._folder(batch, table)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"part-{part:05d}.parquet"

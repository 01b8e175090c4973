"""A sweep's dataset at a URI, through the file systems and the settings of a Spark session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.recording.dataset.layout import (
    BATCH,
    FILE,
    RECORDINGS,
    STREAM,
    TABLE,
    WHOLE_MARK,
    batch_number,
)
from whitecap.sim.recording.dataset.place import is_begun_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


LITERAL = {"__globPaths__": "false"}
"""A place may be called `a[1]`: paths are no patterns (Spark's DataSource.scala)."""


class HadoopPlace:
    """A folder of any file system for which the session has its jar and its credentials.

    Raises `InvalidInput`: Hadoop does not know or does not reach it; says what Hadoop said.
    """

    def __init__(self, session: SparkSession, uri: str) -> None:
        self._session = session
        self._uri = uri.rstrip("/")
        self._jvm: Any = session._jvm
        with self._understood():
            settings = session._jsparkSession.sessionState().newHadoopConf()
            self._files: Any = self._path("").getFileSystem(settings)

    @property
    def uri(self) -> str:
        """What Spark calls it."""
        return self._uri

    def __str__(self) -> str:
        return self._uri

    def exists(self) -> bool:
        """Whether anything lies there, but for what a sweep is begun by."""
        with self._understood():
            return not is_begun_by(self._listed)

    def read(self, name: str) -> str | None:
        """The text of a file; `None` if it is not there."""
        with self._understood():
            if not self._files.exists(self._path(name)):
                return None
            stream = self._files.open(self._path(name))
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write(self, name: str, text: str) -> None:
        """Make or replace a file. An object store shows it whole; HDFS while it is written."""
        with self._understood():
            stream = self._files.create(self._path(name), True)
            try:
                stream.write(bytearray(text, "utf-8"))
            finally:
                stream.close()

    def batches(self) -> Mapping[str, bool]:
        """The folders of all batches in their order, and whether each is whole."""
        with self._understood():
            folders = [name for name in self._listed(RECORDINGS) if batch_number(name) is not None]
            return {
                name: bool(self._files.exists(self._path(f"{RECORDINGS}/{name}/{WHOLE_MARK}")))
                for name in sorted(folders)
            }

    def remove(self, batch: str) -> None:
        """Remove a batch; its `_SUCCESS` goes first."""
        with self._understood():
            self._files.delete(self._path(f"{RECORDINGS}/{batch}/{WHOLE_MARK}"), False)
            self._files.delete(self._path(f"{RECORDINGS}/{batch}"), True)

    def rows(
        self, table: str, columns: Sequence[str], batches: Sequence[str], cell: str | None = None
    ) -> pa.Table:
        """These columns of a table in these batches, in no order; of one cell only if named."""
        frame = dataset(self._session, self._uri, batches)
        frame = frame.where(frame[TABLE] == table)
        if cell is not None:
            frame = frame.where(frame["cell"] == cell)
        with self._understood():
            rows = frame.select(*columns).toArrow()
        return rows.cast(pa.schema([FILE.field(name) for name in columns]))

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._uri}/{name}")

    def _listed(self, name: str) -> list[str]:
        if not self._files.exists(self._path(name)):
            return []
        return [entry.getPath().getName() for entry in self._files.listStatus(self._path(name))]

    def _understood(self) -> _Understood:
        return _Understood(self._uri)


class _Understood:
    """Turns what the JVM says of a place into one line about it."""

    def __init__(self, uri: str) -> None:
        self._uri = uri

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: object) -> None:
        cause = getattr(error, "java_exception", None)
        if cause is not None:
            text = f"cannot be used: {cause.toString()}"
            raise InvalidInput([Problem(self._uri, text)]) from error


def dataset(session: SparkSession, uri: str, batches: Sequence[str]) -> DataFrame:
    """The rows of all tables in these batches, which must not be none."""
    from pyspark.sql.pandas.types import from_arrow_schema

    root = f"{uri}/{RECORDINGS}"
    schema = from_arrow_schema(STREAM.append(pa.field(BATCH, pa.string())))
    reader = session.read.schema(schema).options(basePath=root, **LITERAL)
    return reader.parquet(*[f"{root}/{batch}" for batch in batches])

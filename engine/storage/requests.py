"""What a transaction asks of the world, and what it is told.

The engine performs no input or output: a transaction is a generator that yields the requests
below and is sent the responses below. A driver answers them: at once from memory, from a
directory on disk, or in simulated time. Faults are response values, never exceptions.

Storage keys are relative to the table's directory: `_delta_log/00000000000000000000.json`,
`date=2026-01-01/part-….parquet`. Sizes are bytes, instants are epoch milliseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct

Row = tuple[Any, ...]
"""One table row, values in schema order; Python values of the Spark types."""


class ListFrom(Struct, frozen=True):
    """List keys in the directory of `start`, those >= `start`, in order. Answer: `Listing`."""

    start: str


class ListTree(Struct, frozen=True):
    """List every key of the table that begins with `below`, data files included, in order.

    Answer: `Listing`.
    """

    below: str = ""


class Delete(Struct, frozen=True):
    """Remove objects and data files; a key that does not exist is no error. Answer: `None`."""

    keys: tuple[str, ...]


class Get(Struct, frozen=True):
    """Read one object whole. Answer: `Body` or `Missing`."""

    key: str


class PutIfAbsent(Struct, frozen=True):
    """Create one object unless its key exists. Answer: `PutResult`.

    `actions` are those of a commit file, just as they would be read from its body.
    """

    key: str
    body: bytes
    actions: Sequence[Any] | None = None


class Put(Struct, frozen=True):
    """Write one object, replacing any. Answer: `PutResult` (`CREATED` or `UNKNOWN`)."""

    key: str
    body: bytes


class ReadRows(Struct, frozen=True):
    """Read the rows of data files, in file order. Answer: `RowsOf`, or `Gone` if one is missing.

    A driver may answer from Parquet (directory) or from kept row tuples (memory, simulator). Files
    do not hold their partition columns, so a driver of files needs `columns` and `types` of a row,
    named as in the files, and per key the `partition_values` of its add action.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    partition_values: tuple[Mapping[str, str | None] | None, ...] = ()


class WriteRows(Struct, frozen=True):
    """Write one data file that holds `rows`. Answer: `Written`.

    `columns` and `types` name every column of a row (partition columns included); Parquet files
    leave out those named in `partition_columns`.
    """

    key: str
    rows: Sequence[Row]
    columns: tuple[str, ...]
    types: tuple[str, ...]
    partition_columns: tuple[str, ...]


class Compute(Struct, frozen=True):
    """Spend a Spark job's time. Answer: `None`. Free in memory and on disk.

    Rows and bytes are those of files that hold something for the job; `paths_read` names these, as
    the log does; `scanned` gives, to whoever asks, all the files that it has to open to find them.
    """

    job: str
    rows_read: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    paths_read: tuple[str, ...] = ()
    scanned: Iterable[object] = ()


class OfDriver(Struct, frozen=True):
    """What a log asks that its own driver alone can answer: base of such requests."""


class ReadClock(Struct, frozen=True):
    """Ask for the wall clock. Answer: `int`, epoch milliseconds."""


class NewId(Struct, frozen=True):
    """Ask for a fresh UUID in text. Answer: `str`."""


class Entry(Struct, frozen=True):
    """One listed object."""

    key: str
    size_bytes: int
    modified_at_ms: int


class Listing(Struct, frozen=True):
    """The answer to `ListFrom` and `ListTree`."""

    entries: tuple[Entry, ...]


class Body(Struct, frozen=True):
    """The answer to `Get`."""

    content: bytes


class Missing(Struct, frozen=True):
    """The answer to `Get` of a key that does not exist."""


class RowsOf(Struct, frozen=True):
    """The answer to `ReadRows`: per key, its rows in file order."""

    rows: tuple[Sequence[Row], ...]


class Gone(Struct, frozen=True):
    """The answer to `ReadRows` where a data file does not exist (any more)."""

    key: str


class Written(Struct, frozen=True):
    """The answer to `WriteRows`."""

    size_bytes: int


class PutResult(StrEnum):
    """What a writer knows after a put. Unknown is not failure."""

    CREATED = "created"
    ALREADY_EXISTS = "already_exists"
    UNKNOWN = "unknown"


Request = (
    ListFrom
    | ListTree
    | Get
    | PutIfAbsent
    | Put
    | Delete
    | ReadRows
    | WriteRows
    | Compute
    | ReadClock
    | NewId
    | OfDriver
)
Response = Listing | Body | Missing | PutResult | RowsOf | Gone | Written | int | str | None

T = TypeVar("T")
Steps = Generator[Request, Any, T]
"""A piece of a transaction: yields requests, is sent responses, returns a `T`."""

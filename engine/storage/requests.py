"""What a transaction asks of the world, and what it is told.

The engine performs no input or output: a transaction is a generator that yields the requests
below and is sent the responses below. A driver answers them: at once from memory, from a
directory on disk, or in simulated time. Faults are response values, never exceptions.

Storage keys are relative to the table's directory: `_delta_log/00000000000000000000.json`,
`date=2026-01-01/part-….parquet`. Sizes are bytes, instants are epoch milliseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

Row = tuple[Any, ...]
"""One table row, values in schema order; Python values of the Spark types."""


@dataclass(frozen=True, slots=True)
class ListFrom:
    """List keys in the directory of `start`, those >= `start`, in order. Answer: `Listing`."""

    start: str


@dataclass(frozen=True, slots=True)
class ListTree:
    """List every key of the table, data files included, in order. Answer: `Listing`."""

    below: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove objects and data files; a key that does not exist is no error. Answer: `None`."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Get:
    """Read one object whole. Answer: `Body` or `Missing`."""

    key: str


@dataclass(frozen=True, slots=True)
class PutIfAbsent:
    """Create one object unless its key exists. Answer: `PutResult`."""

    key: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Put:
    """Write one object, replacing any. Answer: `PutResult` (`CREATED` or `UNKNOWN`)."""

    key: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Read the rows of data files, in file order. Answer: `RowsOf`, or `Gone` if one is missing.

    A driver may answer from Parquet (directory) or from kept row tuples (memory, simulator). Files
    do not hold their partition columns, so a driver of files needs `columns` and `types` of a row,
    named as in the files, and per key the `partition_values` of its add action.
    """

    keys: tuple[str, ...]
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    partition_values: tuple[Mapping[str, str | None] | None, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteRows:
    """Write one data file that holds `rows`. Answer: `Written`.

    `columns` and `types` name every column of a row (partition columns included); Parquet files
    leave out those named in `partition_columns`.
    """

    key: str
    rows: Sequence[Row]
    columns: tuple[str, ...]
    types: tuple[str, ...]
    partition_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compute:
    """Spend a Spark job's time. Answer: `None`. Free in memory and on disk."""

    job: str
    rows_read: int = 0
    bytes_read: int = 0
    bytes_written: int = 0


@dataclass(frozen=True, slots=True)
class ReadClock:
    """Ask for the wall clock. Answer: `int`, epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class NewId:
    """Ask for a fresh UUID in text. Answer: `str`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One listed object."""

    key: str
    size_bytes: int
    modified_at_ms: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer to `ListFrom`."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Body:
    """The answer to `Get`."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Missing:
    """The answer to `Get` of a key that does not exist."""


@dataclass(frozen=True, slots=True)
class RowsOf:
    """The answer to `ReadRows`: per key, its rows in file order."""

    rows: tuple[Sequence[Row], ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """The answer to `ReadRows` where a data file does not exist (any more)."""

    key: str


@dataclass(frozen=True, slots=True)
class Written:
    """The answer to `WriteRows`."""

    size_bytes: int


class PutResult(Enum):
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
)
Response = Listing | Body | Missing | PutResult | RowsOf | Gone | Written | int | str | None

T = TypeVar("T")
Steps = Generator[Request, Any, T]
"""A piece of a transaction: yields requests, is sent responses, returns a `T`."""

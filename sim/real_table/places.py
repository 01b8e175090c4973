"""Where a table lies: a directory of this machine, or a URI that Arrow's file systems know."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.requests import (
    Body,
    Entry,
    Get,
    ListFrom,
    Listing,
    Missing,
    Request,
    Response,
)
from whitecap.sim.recording.dataset.place import is_uri, local_path


class ReadableStore(Protocol):
    """What answers requests for the log."""

    def answer(self, request: Request) -> Response:
        """Perform one request."""


class ArrowStore(Struct, frozen=True):
    """A table behind a URI, to be read only. `files` is a `pyarrow.fs.FileSystem`."""

    files: Any
    folder: str

    def answer(self, request: Request) -> Response:
        """Perform a `Get` or a `ListFrom`. Raises `OSError` when the store fails.

        Arrow has errors of its own too, as of Azure where nobody is logged in.
        """
        import pyarrow as pa

        try:
            match request:
                case Get(key):
                    return self._get(key)
                case ListFrom(start):
                    return self._list_from(start)
        except pa.ArrowException as error:
            raise OSError(" ".join(str(error).split())) from None
        raise AssertionError(f"{request} is no reading of a log")

    def _get(self, key: str) -> Body | Missing:
        try:
            with self.files.open_input_stream(f"{self.folder}/{key}") as stream:
                return Body(stream.read())
        except FileNotFoundError:
            return Missing()

    def _list_from(self, start: str) -> Listing:
        from pyarrow.fs import FileSelector

        directory, _, first = start.rpartition("/")
        selector = FileSelector(f"{self.folder}/{directory}", allow_not_found=True)
        listed = [info for info in self.files.get_file_info(selector) if info.is_file]
        listed = sorted((i for i in listed if i.base_name >= first), key=lambda i: i.base_name)
        return Listing(tuple(_entry(directory, info) for info in listed))


def _entry(directory: str, info: Any) -> Entry:
    modified: datetime = info.mtime or datetime.fromtimestamp(0, UTC)
    modified_at_ms = int(modified.timestamp() * 1000)
    return Entry(f"{directory}/{info.base_name}", info.size, modified_at_ms)


def store_at(place: str) -> ReadableStore:
    """What reads the table there. Raises `InvalidInput` for a URI that nobody knows."""
    if not is_uri(place):
        return DirectoryStore(_directory(place))
    import pyarrow as pa
    from pyarrow.fs import FileSystem

    try:
        files, folder = FileSystem.from_uri(_as_arrow_says(place))
    except (pa.ArrowException, ValueError, OSError) as error:
        said = f"cannot be opened: {error}"
        raise InvalidInput([Problem(shown_place(place), said)]) from None
    if not folder:
        raise InvalidInput([Problem(shown_place(place), "names no bucket, container or directory")])
    return ArrowStore(files, folder.rstrip("/"))


def _directory(place: str) -> Path:
    path = local_path(place)
    if not path.exists():
        raise InvalidInput([Problem(place, "is not there")])
    if not path.is_dir():
        raise InvalidInput([Problem(place, "is a file, and a table is a directory")])
    return path


def shown_place(place: str) -> str:
    """The place as it may be shown: a URI may hold credentials and options."""
    if not is_uri(place):
        return place
    parts = urlsplit(place)
    user, at, host = parts.netloc.rpartition("@")
    container = user.partition(":")[0] + at if parts.scheme in _CONTAINER_FIRST else ""
    return f"{parts.scheme}://{container}{host}{parts.path}"


def unreachable(place: str, error: OSError) -> InvalidInput:
    """What is raised of a table whose store fails, in the store's words: those of GCS once."""
    said, _, _ = str(error).partition(_SAID_AGAIN)
    return InvalidInput([Problem(place, f"cannot be read: {said}")])


_SAID_AGAIN = " error_info="
"""Where Arrow's client of GCS begins anew with all of its message, as metadata."""

_CONTAINER_FIRST = ("abfs", "abfss", "wasb", "wasbs")
"""Schemes in which what stands before the `@` names a container."""


GCS_GIVES_UP_S = 30
"""Ours: Arrow's client of GCS tries for 15 minutes, also where nobody is logged in."""

_GIVES_UP = "retry_limit_seconds"


def _as_arrow_says(uri: str) -> str:
    """Hadoop's names of S3 are one store to Arrow, and its GCS does not give up soon by itself."""
    scheme, _, rest = uri.partition("://")
    match scheme:
        case "s3a" | "s3n":
            return f"s3://{rest}"
        case "gs" | "gcs" if _GIVES_UP not in rest:
            return f"{uri}{'&' if '?' in rest else '?'}{_GIVES_UP}={GCS_GIVES_UP_S}"
        case _:
            return uri

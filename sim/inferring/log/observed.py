"""What a log tells of its commits: who made them, when, on what, and what they changed.

Only metadata is read, and nothing is written. A commit is reduced to what later questions need, so
that a long log takes little room.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog, Problem
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.commit_file import Commit, decode_commit
from whitecap.engine.log.snapshot import Snapshot, physical_partition_columns
from whitecap.engine.log.statistics import record_count
from whitecap.engine.storage.requests import Body, Entry, Get
from whitecap.sim.real_table.places import ReadableStore, shown_place, store_at, unreachable
from whitecap.sim.real_table.reading import RealTable, table_in

READERS = 16
"""Commits that are fetched at the same time: an object store answers one after some 30 ms."""

YEAR_10000_MS = 253_402_300_800_000
"""Where dates end. A timestamp beyond is in another unit, such as microseconds."""

_Partition = tuple[str | None, ...]
"""The values of the partition columns, in their order."""


class CommitOrigin(Struct, frozen=True):
    """Who made a commit, as far as the log says it: only Databricks names users and jobs."""

    user: str | None = None
    job: str | None = None
    cluster: str | None = None
    engine: str | None = None
    notebook: str | None = None

    @property
    def work(self) -> str:
        """The job, or the notebook where none runs it; empty where the log says neither."""
        return self.job or (f"notebook {self.notebook}" if self.notebook else "")


class ObservedCommit(Struct, frozen=True):
    """One commit. `read_version` is that of its snapshot; times are epoch milliseconds.

    One that `is_blind` adds files and has read none; `None` where it does not say, as in delta-rs.
    One that `leaves_others` has not touched a partition that was there before and is there still.
    """

    version: int
    timestamp_ms: int
    operation: str
    origin: CommitOrigin = CommitOrigin()
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    read_version: int | None = None
    isolation: str | None = None
    is_blind: bool | None = None
    application: str | None = None
    added: int = 0
    removed: int = 0
    rows: int | None = None
    partitions: frozenset[_Partition] = frozenset()
    sets_up: bool = False
    changes_metadata: bool = False
    leaves_others: bool = False

    def metric(self, *names: str) -> float | None:
        """The first of these metrics that it has: engines call them differently."""
        return next((self.metrics[name] for name in names if name in self.metrics), None)


class ObservedTable(Struct, frozen=True):
    """A table as its log shows it: the newest state, and the commits that were looked at.

    `kept` is how many commit files the log still holds, `checkpoints` the versions that have one.
    """

    place: str
    snapshot: Snapshot
    commits: Sequence[ObservedCommit]
    kept: int
    checkpoints: Sequence[int]

    @property
    def span_ms(self) -> float:
        """From the first to the last commit, and one mean gap more: the time of so many commits."""
        count = len(self.commits)
        if count < 2:
            return 0.0
        times = [commit.timestamp_ms for commit in self.commits]
        return (max(times) - min(times)) * count / (count - 1)


def observe(place: str, newest: int) -> ObservedTable:
    """Read the `newest` commits of the table there, and its state.

    Raises `InvalidInput`: there is no Delta table, its log has gaps or cannot be read, or it holds
    nothing to infer from.
    """
    store, place = store_at(place), shown_place(place)
    try:
        return _observed(table_in(store, place), store, newest)
    except OSError as error:
        raise unreachable(place, error) from None


def _observed(table: RealTable, store: ReadableStore, newest: int) -> ObservedTable:
    chosen = table.commits[-newest:]
    columns = physical_partition_columns(table.snapshot.metadata)
    with ThreadPoolExecutor(READERS) as pool:
        bodies = pool.map(lambda each: store.answer(Get(each[1].key)), chosen)
        commits = [
            _commit(version, entry, body, columns)
            for (version, entry), body in zip(chosen, bodies, strict=True)
        ]
    commits = list(_with_others_left(commits, table.snapshot))
    kept = len(table.commits)
    return ObservedTable(table.place, table.snapshot, commits, kept, table.checkpoints)


def _with_others_left(
    commits: Sequence[ObservedCommit], snapshot: Snapshot
) -> Iterator[ObservedCommit]:
    """A live partition that nobody touched since a commit read was there before, and left alone.

    One that came between its snapshot and its commit was passed by: a full overwrite leaves it too.
    """
    untouched = {tuple(value or None for value in each) for each in snapshot.partitions}
    untouched_from: dict[int, bool] = {}
    for commit in reversed(commits):
        untouched -= commit.partitions
        untouched_from[commit.version] = bool(untouched)
    for commit in commits:
        since = commit.version if commit.read_version is None else commit.read_version + 1
        leaves = untouched_from.get(max(since, commits[0].version), False)
        yield replace(commit, leaves_others=leaves)


def _commit(version: int, entry: Entry, body: Any, columns: Sequence[str]) -> ObservedCommit:
    if not isinstance(body, Body):
        raise InvalidLog([Problem(entry.key, "was listed, but is not there")])
    commit = decode_commit(body.content, version, entry.modified_at_ms)
    if not 0 <= commit.timestamp_ms < YEAR_10000_MS:
        said = f"its timestamp, {commit.timestamp_ms}, is no instant in epoch milliseconds"
        raise InvalidLog([Problem(entry.key, said)])
    info = _commit_info(body.content)
    files = [action for action in commit.actions if isinstance(action, AddFile | RemoveFile)]
    return ObservedCommit(
        version=version,
        timestamp_ms=commit.timestamp_ms,
        operation=str(info.get("operation") or "unknown"),
        origin=_origin(info),
        parameters=_texts(info.get("operationParameters")),
        metrics=_numbers(info.get("operationMetrics")),
        read_version=_whole(info.get("readVersion")),
        isolation=None if commit.commit_info is None else commit.commit_info.isolation_level,
        is_blind=_truth(info.get("isBlindAppend")),
        application=next((each.app_id for each in commit.set_transactions), None),
        added=len(commit.adds),
        removed=len(commit.removes),
        rows=_rows(commit),
        partitions=frozenset(_partition(file, columns) for file in files),
        sets_up=commit.metadata is not None and not commit.removes and version == 0,
        changes_metadata=commit.metadata is not None,
    )


def _rows(commit: Commit) -> int | None:
    """The rows of the files that it added; `None` if one of them does not say."""
    counts = [record_count(file.stats) for file in commit.adds]
    stated = [count for count in counts if count is not None]
    return sum(stated) if counts and len(stated) == len(counts) else None


def _partition(file: AddFile | RemoveFile, columns: Sequence[str]) -> _Partition:
    """Source: PROTOCOL.md "Partition Value Serialization": an empty text is NULL."""
    values = file.partition_values or {}
    return tuple(values.get(name) or None for name in columns)


def _commit_info(body: bytes) -> dict[str, Any]:
    """The commit's provenance with all that its engine put there, which may be any JSON."""
    for line in body.split(b"\n"):
        if b'"commitInfo"' in line:
            info = json.loads(line).get("commitInfo")
            return info if isinstance(info, dict) else {}
    return {}


def _origin(info: Mapping[str, Any]) -> CommitOrigin:
    """Source: PROTOCOL.md "Commit Provenance Information"; Databricks' DESCRIBE HISTORY columns."""
    user = info.get("userName") or info.get("userId")
    job, notebook = (_part(info, name) for name in ("job", "notebook"))
    return CommitOrigin(
        user=_text(user),
        job=_text(job.get("jobName") or job.get("jobId")),
        cluster=_text(info.get("clusterId")),
        engine=_engine(info),
        notebook=_text(notebook.get("notebookId")),
    )


def _part(info: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = info.get(name)
    return part if isinstance(part, dict) else {}


def _engine(info: Mapping[str, Any]) -> str | None:
    return _text(info.get("engineInfo") or info.get("clientVersion"))


def _text(value: Any) -> str | None:
    return None if value in (None, "") else str(value)


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(given: Any) -> dict[str, str]:
    items = given.items() if isinstance(given, dict) else ()
    return {name: v if isinstance(v, str) else json.dumps(v) for name, v in items}


def _numbers(given: Any) -> dict[str, float]:
    """Metrics, which Spark writes as text and delta-rs as numbers; others are left out."""
    items = given.items() if isinstance(given, dict) else ()
    numbers = {name: _number(value) for name, value in items}
    return {name: number for name, number in numbers.items() if math.isfinite(number)}


def _number(value: Any) -> float:
    """NaN for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan

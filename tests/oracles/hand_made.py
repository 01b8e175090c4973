"""Tables written by hand, a few rows each: files named by a letter, versions by their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    Format,
    Metadata,
    Protocol,
    RemoveFile,
)
from whitecap.engine.log.commit_file import encode_commit
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.memory import MemoryStore
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.sim.oracles.history import History, HistoryTransaction, Promise
from whitecap.sim.oracles.judging import judge_evidence
from whitecap.sim.oracles.log_validation import checked_commits

COLUMNS = ("id", "v")
FIRST_ROWS = [(1, 10), (2, 20)]
COMMITTED, ABORTED = RecordedOutcome.COMMITTED, RecordedOutcome.ABORTED


def metadata(ddl: str = "id BIGINT, v BIGINT", **properties: str) -> Metadata:
    """The table `t`; keywords are properties."""
    settings = {f"delta.{name}": value for name, value in properties.items()}
    return Metadata("id", Format("parquet", {}), [], settings, schema_string(parse_ddl(ddl)))


def add(path: str, **more: Any) -> AddFile:
    """A file that comes."""
    file = AddFile(
        path=path, partition_values={}, size=10, modification_time=1, data_change=True, stats=None
    )
    return replace(file, **more)


def remove(path: str) -> RemoveFile:
    """A file that goes."""
    return RemoveFile(path, True, deletion_timestamp=1)


def info(**more: Any) -> CommitInfo:
    """The first line of a commit."""
    return replace(CommitInfo(timestamp=1), **more)


@dataclass
class HandMade:
    """A table `t (id, v)` whose version 0 holds `FIRST_ROWS` in file `a`, and who did what then."""

    promise: Promise = field(default_factory=Promise)
    properties: dict[str, str] = field(default_factory=dict)
    store: MemoryStore = field(default_factory=MemoryStore)
    bodies: dict[int, bytes] = field(default_factory=dict)
    transactions: list[HistoryTransaction] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows("a", FIRST_ROWS)
        self.commit(Protocol(1, 2), metadata(**self.properties), add("a"))

    def rows(self, path: str, rows: Sequence[tuple[int, int]]) -> None:
        """A data file."""
        self.store.put_rows(path, rows, COLUMNS)

    def commit(self, *actions: AnyAction, version: int | None = None, **of_info: Any) -> None:
        """The next version, or the one that is named."""
        version = len(self.bodies) if version is None else version
        self.bodies[version] = encode_commit([info(**of_info), *actions])

    def rewrites(self, old: str, new: str, rows: Sequence[tuple[int, int]], **of_info: Any) -> None:
        """A version that replaces one file by another with these rows."""
        self.rows(new, rows)
        self.commit(remove(old), add(new), **of_info)

    def appends(self, new: str, rows: Sequence[tuple[int, int]], **of_info: Any) -> None:
        """A version that adds a file with these rows."""
        self.rows(new, rows)
        self.commit(add(new), **of_info)

    def did(self, name: str, statement: str, read: int | None, *wrote: int, **more: Any) -> None:
        """A transaction that committed these versions; keywords replace what it says else."""
        given = {
            "name": name,
            "writer": name,
            "outcome": COMMITTED,
            "statement": statement,
            "read_version": read,
            "acknowledged": wrote[-1:],
            "wrote": wrote,
        }
        self.transactions.append(HistoryTransaction(**{**given, **more}))

    @property
    def evidence(self) -> Evidence:
        """As the oracles take it."""
        history = History(tuple(self.transactions), self.promise)
        return Evidence(checked_commits(self.bodies), self.store, history, **self.more)

    def findings(self) -> list[Finding]:
        """What the oracles say."""
        judgement = judge_evidence(self.evidence)
        assert not judgement.not_checked
        return list(judgement.findings)

    def anomalies(self) -> set[Anomaly]:
        """Which anomalies they name."""
        return {finding.anomaly for finding in self.findings()}

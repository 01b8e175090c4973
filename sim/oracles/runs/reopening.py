"""A finished run's log opened by somebody who knows nothing of it: by its commits alone, by a
checkpoint in the middle with the commits after it, and by a checkpoint of its newest version.

What must come out is followed here action by action, not with the engine's replay of a log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import AddFile, Metadata, Protocol
from whitecap.engine.log.checkpoints.checkpoint import write_checkpoint
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.commit_file import Commit, log_key
from whitecap.engine.log.file_keys import FileKey
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.storage.requests import Put, PutIfAbsent
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Judgement, Oracle
from whitecap.sim.oracles.judging import judge_evidence
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.run import FinishedRun

_NOT_KEPT = ("data_change", "stats", "tags", "modification_time")
"""Of a file: what a checkpoint may write anew."""


class TableState(Struct):
    """What a log leads to."""

    files: dict[FileKey, AddFile] = field(default_factory=dict)
    applications: dict[str, int] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)
    metadata: Metadata | None = None
    protocol: Protocol | None = None

    def take(self, commit: Commit) -> None:
        """Go one version on."""
        for removed in commit.removes:
            self.files.pop((removed.path, removed.dv_id), None)
        for add in commit.adds:
            self.files[add.path, add.dv_id] = _plain(add)
        for progress in commit.set_transactions:
            self.applications[progress.app_id] = progress.version
        for domain in commit.domains:
            self.domains[domain.domain] = domain.configuration
            if domain.removed:
                del self.domains[domain.domain]
        self.metadata = commit.metadata or self.metadata
        self.protocol = commit.protocol or self.protocol

    def differs(self, read: Snapshot) -> str | None:
        """What somebody who opened the table sees otherwise, `None` if nothing."""
        files = {(file.path, file.dv_id): _plain(file) for file in read.all_files()}
        if files != self.files:
            lost, strange = len(self.files.keys() - files), len(files.keys() - self.files)
            return f"{lost} files are missing, {strange} are there that should not be"
        if dict(read.set_transactions) != self.applications:
            return f"applications are {dict(read.set_transactions)}, not {self.applications}"
        domains = {name: domain.configuration for name, domain in read.domains.items()}
        if domains != self.domains:
            return f"metadata domains are {domains}, not {self.domains}"
        same = (read.metadata, read.protocol) == (self.metadata, self.protocol)
        return None if same else "metadata or protocol are others"


def _plain(file: AddFile) -> AddFile:
    blank: dict[str, Any] = dict.fromkeys(_NOT_KEPT)
    return replace(file, **blank)


def reopening_findings(evidence: Evidence) -> Iterator[Finding]:
    """All ways into the table lead to what its commits say.

    What a checkpoint leaves out may be said again by a commit after it, but not after the last one.
    """
    bodies = evidence.log.bodies
    if not bodies or sorted(bodies) != list(range(len(bodies))):
        return
    newest = len(bodies) - 1
    state = TableState()
    for _, commit in sorted(evidence.commits.items()):
        state.take(commit)
    half = newest // 2
    for first in sorted({0, half, newest}):
        way = f"the checkpoint of version {first}" if first else "its commits"
        try:
            problem = state.differs(_opened(bodies, first))
        except InvalidLog as error:
            problem = str(error)
        if problem is not None:
            yield Finding(
                oracle=Oracle.LOG,
                anomaly=Anomaly.CONTENT_CHANGED,
                sentence=f"who opens version {newest} by {way} reads another table: {problem}",
                versions=(newest,),
            )


def _opened(bodies: Mapping[int, bytes], first: int) -> Snapshot:
    """The table as a new client reads it, the commits before a checkpoint being gone."""
    store = MemoryStore()
    for version in range(first + 1):
        store.answer(PutIfAbsent(log_key(version), bodies[version]))
    if first:
        before = run(StoredLog(encode=None).update(), store)
        others = MemoryStore()
        run(write_checkpoint(before), others)
        store = others
    for version in range(first + 1 if first else 1, len(bodies)):
        store.answer(Put(log_key(version), bodies[version]))
    return run(StoredLog(encode=None).update(), store)


def judgement_with_readers(run: FinishedRun) -> Judgement:
    """All that is wrong with a finished run, and with what others would read of its table."""
    return judge(run, partial(_with_readers, replay=True))


def judgement_without_replay(run: FinishedRun) -> Judgement:
    """As `judgement_with_readers`, but no statement is run again."""
    return judge(run, partial(_with_readers, replay=False))


def _with_readers(evidence: Evidence, replay: bool) -> Judgement:
    judgement = judge_evidence(evidence, replay=replay)
    findings = (*judgement.findings, *reopening_findings(evidence))
    return Judgement(findings, judgement.not_checked)

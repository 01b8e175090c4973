"""What writers were told against what the log holds: acknowledged, refused, unknown, twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.history import HistoryTransaction


def acknowledged_findings(evidence: Evidence) -> Iterator[Finding]:
    """Each acknowledged commit is there once, nothing that was refused is, nothing is twice."""
    yield from _lost(evidence)
    yield from _refused_but_there(evidence)
    yield from _transactions_twice(evidence)
    yield from _jobs_twice(evidence)
    yield from _batches_twice(evidence)
    yield from _batches_recorded_otherwise(evidence)


def _lost(evidence: Evidence) -> Iterator[Finding]:
    claims: dict[int, list[HistoryTransaction]] = defaultdict(list)
    for transaction in evidence.transactions:
        for version in transaction.acknowledged:
            claims[version].append(transaction)
    for version, claimants in sorted(claims.items()):
        for transaction in claimants:
            owner = evidence.owners.get(version)
            if owner is not None and owner.name == transaction.name:
                continue
            there = "which is not in the log" if owner is None else f"which is {owner.name}'s"
            names = (transaction.name,) if owner is None else (transaction.name, owner.name)
            yield Finding(
                oracle=Oracle.DURABILITY,
                anomaly=Anomaly.LOST_COMMIT,
                sentence=f"{transaction.name} was told that it committed version {version}, "
                f"{there}: its commit is lost",
                transactions=names,
                versions=(version,),
            )


def _refused_but_there(evidence: Evidence) -> Iterator[Finding]:
    for transaction in evidence.transactions:
        versions = evidence.written.get(transaction.name, [])
        if transaction.outcome is RecordedOutcome.ABORTED and versions:
            readers = [
                reader.name
                for _, reader in evidence.owned()
                if reader.read_version is not None
                and reader.read_version >= versions[0]
                and reader.name != transaction.name
            ]
            read = f"; {readers[0]} read it" if readers else ""
            yield Finding(
                oracle=Oracle.DURABILITY,
                anomaly=Anomaly.G1A,
                sentence=f"{transaction.name} was told that it failed, and version {versions[0]} "
                f"is its commit{read}",
                transactions=(transaction.name, *readers[:1]),
                versions=tuple(versions),
            )


def _transactions_twice(evidence: Evidence) -> Iterator[Finding]:
    """One transaction in two commits: Delta gives each an id of its own.

    Where commits have no id (delta-rs writes none), these are two commits of one owner that add the
    same file: a command that makes several commits adds different files.
    """
    for txn_id, made in _versions_by_transaction(evidence).items():
        commit_info = evidence.commits[made[0]].commit_info
        has_id = commit_info is not None and commit_info.txn_id == txn_id
        if len(made) > 1 and (has_id or _added_twice(evidence, made)):
            owner = evidence.owners.get(made[0])
            name = f"the transaction {txn_id}" if owner is None else owner.name
            yield Finding(
                oracle=Oracle.ONCE,
                anomaly=Anomaly.DUPLICATE,
                sentence=f"{name} is in the log {len(made)} times, as versions "
                f"{', '.join(map(str, made))}",
                transactions=() if owner is None else (owner.name,),
                versions=tuple(made),
                files=_added_twice(evidence, made),
            )


def _versions_by_transaction(evidence: Evidence) -> dict[str, list[int]]:
    """By the transaction's id in the commit or, where there is none, by its name in the history."""
    versions: dict[str, list[int]] = defaultdict(list)
    for version, commit in evidence.commits.items():
        info = commit.commit_info
        if info is not None and info.txn_id:
            versions[info.txn_id].append(version)
        elif version in evidence.owners:
            versions[evidence.owners[version].name].append(version)
    return versions


def _added_twice(evidence: Evidence, versions: list[int]) -> tuple[str, ...]:
    paths = [{add.path for add in evidence.commits[version].adds} for version in versions]
    return tuple(sorted(set.intersection(*paths)))


def _jobs_twice(evidence: Evidence) -> Iterator[Finding]:
    """Two tries of one job that both changed rows."""
    tries: dict[str, list[int]] = defaultdict(list)
    for version, owner in evidence.owned():
        change = evidence.changes.changes[version]
        if owner.job is not None and not change.is_none and not change.problem:
            tries[owner.job].append(version)
    for job, versions in tries.items():
        names = tuple(dict.fromkeys(evidence.owners[version].name for version in versions))
        if len(names) > 1:
            yield Finding(
                oracle=Oracle.ONCE,
                anomaly=Anomaly.DUPLICATE,
                sentence=f"{len(names)} tries of job {job} changed rows: {', '.join(names)}",
                transactions=names,
                versions=tuple(versions),
            )


def _batches_twice(evidence: Evidence) -> Iterator[Finding]:
    """A batch that is recorded twice, or after a later one."""
    recorded: dict[str, tuple[int, int]] = {}
    for version, commit in evidence.commits.items():
        for progress in commit.set_transactions:
            last, where = recorded.get(progress.app_id, (-1, -1))
            if progress.version <= last:
                again = progress.version == last
                yield Finding(
                    oracle=Oracle.ONCE,
                    anomaly=Anomaly.DUPLICATE if again else Anomaly.PROGRESS,
                    sentence=f"version {version} records {progress.version} of application "
                    f"{progress.app_id}, and version {where} before it recorded {last}",
                    transactions=tuple(
                        evidence.owners[v].name for v in (where, version) if v in evidence.owners
                    ),
                    versions=(where, version),
                )
            recorded[progress.app_id] = max((last, where), (progress.version, version))


def _batches_recorded_otherwise(evidence: Evidence) -> Iterator[Finding]:
    """Batches whose version records no progress of their application, or another batch's."""
    for name, versions in evidence.written.items():
        owner = evidence.owners[versions[0]]
        if owner.app_id is None or owner.batch_id is None:
            continue
        progress = evidence.commits[versions[0]].set_transactions
        recorded = [each.version for each in progress if each.app_id == owner.app_id]
        if recorded != [owner.batch_id]:
            yield Finding(
                oracle=Oracle.ONCE,
                anomaly=Anomaly.PROGRESS,
                sentence=f"version {versions[0]} ({name}) is batch {owner.batch_id} and records "
                f"{recorded[0] if recorded else 'no batch'} of its application",
                transactions=(name,),
                versions=(versions[0],),
            )

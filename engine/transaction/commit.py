"""From a transaction's actions to a frozen current transaction, and then to the commit loop.

Source: `OptimisticTransaction.scala: commitImpl`, `commitLarge`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from whitecap.engine.conflicts.action_checks import (
    check_consistent_data_change,
    check_own_domains,
    check_prepared,
    without_repeated_set_transactions,
)
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.in_commit_timestamp import first_timestamp, with_enablement
from whitecap.engine.conflicts.messages import commit_verdict
from whitecap.engine.conflicts.operation import DEFINES_COLUMNS, Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.conflicts.row_ids import readable_watermark
from whitecap.engine.conflicts.winner import IDENTITY_TAG, WinningCommit
from whitecap.engine.dialects import Dialect
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.actions import AddCDCFile, AnyAction, CommitInfo, Protocol, RemoveFile
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.features.protocols import feature_names
from whitecap.engine.outcomes import (
    Aborted,
    Committed,
    NothingToCommit,
    Outcome,
    Unknown,
    Verdict,
)
from whitecap.engine.refusals import protocol_errors
from whitecap.engine.row_level.resolver import RowResolver
from whitecap.engine.rules import Rule
from whitecap.engine.settings import Settings
from whitecap.engine.storage.requests import PutResult, ReadClock, Steps
from whitecap.engine.transaction.commit_level import level_to_use
from whitecap.engine.transaction.commit_loop import Checks, ReadyCommit, put_commit
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.engine.transaction.metadata_checks import check_defaults_are_enabled
from whitecap.engine.transaction.prepare import CommitDraft, Prepared, prepare, prepare_large

_NOT_BLIND = frozenset({RemoveFile, AddCDCFile})


class CommitPlan(Struct, frozen=True):
    """Everything that a transaction hands over when it commits."""

    table_log: TableLog
    draft: CommitDraft
    dialect: Dialect
    txn_id: str
    read_set: ReadSet
    actions: Sequence[AnyAction]
    operation: Operation
    tags: Mapping[str, str]
    identity_only: bool
    lost_reply: LostReply
    rows: RowResolver | None = None


def ready_commit(plan: CommitPlan, *, may_skip: bool) -> Steps[ReadyCommit | NothingToCommit]:
    """Prepare, choose the level and freeze: all that comes before the first attempt.

    Raises `DeltaError`. Source: `commitImpl`, in its order.
    """
    prepared, level = prepared_with_level(plan)
    settings = plan.draft.settings
    if may_skip and not prepared.actions and _may_skip_empty(level, settings):
        return NothingToCommit(plan.draft.snapshot.version)
    current = frozen(plan, prepared, level, (yield ReadClock()))
    if plan.operation.name in DEFINES_COLUMNS:
        check_defaults_are_enabled(prepared.metadata, prepared.protocol)
    return ReadyCommit(current, Checks(plan.table_log, settings, plan.lost_reply, plan.rows))


def prepared_with_level(plan: CommitPlan) -> tuple[Prepared, IsolationLevel]:
    """The final actions, checked, and the level at which they are committed.

    Raises `DeltaError`.
    """
    actions = without_repeated_set_transactions(plan.actions)
    prepared = prepare(plan.draft, actions, plan.operation)
    check_prepared(prepared.actions, prepared.metadata, plan.draft.settings)
    _check_features(plan, prepared.protocol)
    level = level_to_use(prepared.actions, plan.operation, prepared.metadata, plan.dialect)
    check_own_domains(actions, prepared.protocol)
    return prepared, level


def _check_features(plan: CommitPlan, protocol: Protocol) -> None:
    """Raises `DeltaError` for a table with features that the dialect cannot write."""
    unwritable = plan.dialect.unwritable(feature_names(protocol))
    if unwritable:
        raise protocol_errors.features_beyond_engine(plan.dialect.name, unwritable)


def _may_skip_empty(level: IsolationLevel, settings: Settings) -> bool:
    """Source: `skipRecordingEmptyCommitAllowed`."""
    recorded_always = level is IsolationLevel.WRITE_SERIALIZABLE
    return settings.skip_recording_empty_commits and not recorded_always


def frozen(
    plan: CommitPlan, prepared: Prepared, level: IsolationLevel, now_ms: int
) -> CurrentTransaction:
    """What the conflict check needs to know, as it is when the commit begins."""
    snapshot = plan.draft.snapshot
    timestamp_ms = first_timestamp(prepared.metadata, snapshot, now_ms)
    current = CurrentTransaction(
        txn_id=plan.txn_id,
        snapshot=snapshot,
        read_set=plan.read_set,
        metadata=prepared.metadata,
        protocol=prepared.protocol,
        actions=prepared.actions,
        commit_info=_commit_info(plan, prepared, level, now_ms, timestamp_ms),
        row_id_high_watermark=readable_watermark(snapshot),
        operation=plan.operation,
        isolation_level=level,
        table_name=plan.draft.table_name,
        checks=plan.dialect.checks,
        tells_conflicts_by_example=plan.dialect.tells_conflicts_by_example,
    )
    if timestamp_ms is None:
        return current
    version = snapshot.version + 1
    metadata = with_enablement(current.metadata, snapshot, version, timestamp_ms)
    return current if metadata is current.metadata else current.with_metadata(metadata)


def _commit_info(
    plan: CommitPlan,
    prepared: Prepared,
    level: IsolationLevel,
    now_ms: int,
    timestamp_ms: int | None,
) -> CommitInfo:
    """The first line of the commit file. Source: `actions.scala: CommitInfo`."""
    settings, read_version = plan.draft.settings, plan.draft.snapshot.version
    tags: dict[str, str | None] = dict(plan.tags)
    if plan.identity_only:
        tags[IDENTITY_TAG] = "true"
    return CommitInfo(
        in_commit_timestamp=timestamp_ms,
        timestamp=now_ms,
        operation=plan.operation.name,
        operation_parameters=plan.operation.logged_parameters(),
        read_version=read_version if read_version >= 0 else None,
        isolation_level=level.value if plan.dialect.describes_commits else None,
        is_blind_append=(
            _is_blind_append(prepared.actions, plan.read_set)
            if plan.dialect.describes_commits
            else None
        ),
        operation_metrics=plan.operation.logged_metrics() if settings.history_metrics else None,
        user_metadata=settings.user_metadata,
        tags=tags or None,
        engine_info=plan.dialect.engine_info,
        txn_id=plan.txn_id,
    )


def _is_blind_append(actions: Sequence[AnyAction], read_set: ReadSet) -> bool:
    """Only files added and none read; vacuously so without file actions.

    Reading an application's version does not count. Source: `commitImpl`, `isBlindAppend`.
    """
    only_adds = _NOT_BLIND.isdisjoint(map(type, actions))
    return only_adds and not read_set.depends_on_files


def commit_large(plan: CommitPlan) -> Steps[Outcome]:
    """One attempt at the next version, with the metadata always written and no conflict checks.

    Any commit in the way is a `ConcurrentWriteException`. Source: `commitLarge`.
    """
    draft = plan.draft
    prepared = prepare_large(draft, plan.actions, plan.operation)
    check_consistent_data_change(prepared.actions, draft.settings)
    _check_features(plan, prepared.protocol)
    now_ms = yield ReadClock()
    current = frozen(plan, prepared, IsolationLevel.SERIALIZABLE, now_ms)
    # `Some(readVersion)` there, without the filter for -1 that `commitImpl` has.
    blind = False if plan.dialect.describes_commits else None
    current = current.with_commit_info(is_blind_append=blind, read_version=draft.snapshot.version)
    version = draft.snapshot.version + 1
    body = encode_commit(current.lines)
    put = yield from put_commit(log_key(version), body, plan.lost_reply)
    match put.result:
        case PutResult.CREATED:
            return Committed(version, current.commit_info, current.lines, put.sent)
        case PutResult.UNKNOWN:
            return Unknown(version, put.sent)
        case PutResult.ALREADY_EXISTS:
            winners = yield from plan.table_log.commits_after(draft.snapshot.version)
            return Aborted(_overtaken(current, WinningCommit(winners[0])), put.sent)


def _overtaken(current: CurrentTransaction, winner: WinningCommit) -> Verdict:
    return commit_verdict(Rule.COMMIT_LARGE, current, winner, log_key(winner.version))

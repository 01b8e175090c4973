"""Blind appends to one table: what they have in common is worked out for the first of them.

All of them add files, read no rows, and commit under the same metadata. So each is prepared and
frozen as the first one was (`engine/transaction/commit.py`), except for what differs from one to
the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.commands.maintenance.auto_compaction import is_enabled
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.log.actions import AnyAction, Metadata
from whitecap.engine.log.effects import ANY
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.remembered import Plans
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import ReadClock, Row, Steps
from whitecap.engine.transaction.commit import CommitPlan, frozen, prepared_with_level
from whitecap.engine.transaction.commit_loop import Checks, ReadyCommit, commit_loop
from whitecap.engine.transaction.prepare import CommitDraft
from whitecap.engine.writing.files import Check

RowMaking = tuple[Callable[[Row], Row], Check | None]
"""What makes rows of the table from those of a source, and what checks them."""


class Append(Struct, frozen=True):
    """One append, as its writer hands it over to be committed."""

    table: Table
    snapshot: Snapshot
    txn_id: str
    read_set: ReadSet
    actions: Sequence[AnyAction]
    operation: Operation


class AppendPlan(Struct):
    """Appends of one statement or query to a table whose metadata and protocol stay the same.

    `parameters` are the operation's, where all appends have the same; `rows` says how rows are
    made, by the types of the source; `_first` is the first append, frozen.
    """

    parameters: Mapping[str, object] = field(default_factory=dict)
    rows: dict[tuple[str, ...], RowMaking | None] = field(default_factory=dict)
    _first: CurrentTransaction | None = None

    def commit(self, append: Append) -> Steps[Outcome]:
        """Commit an append, and do what follows a commit."""
        table = append.table
        current = self.frozen(append, (yield ReadClock()))
        checks = Checks(table.log, table.settings, table.lost_reply)
        outcome = yield from commit_loop(ReadyCommit(current, checks, self.reads_back))
        table.outcomes.append(outcome)
        if isinstance(outcome, Committed):
            table.log.file_counts.note(outcome.actions, table.settings)
            yield from table.log.after_commit(outcome.version)
        return outcome

    @property
    def reads_back(self) -> bool:
        """Whether decoding its commit file gives exactly the actions that were encoded."""
        return self._first is not None

    def frozen(self, append: Append, now_ms: int) -> CurrentTransaction:
        """An append as the conflict check sees it: prepared as the first one was."""
        if self._first is not None:
            return _like(self._first, append, now_ms)
        plan = _commit_plan(append)
        current = frozen(plan, *prepared_with_level(plan), now_ms)
        if not current.concerns & ANY:
            self._first = current
        return current


def _commit_plan(append: Append) -> CommitPlan:
    """What a transaction would hand over that has only appended."""
    table = append.table
    return CommitPlan(
        table_log=table.log,
        draft=CommitDraft(append.snapshot, table.settings, table.name),
        dialect=table.dialect,
        txn_id=append.txn_id,
        read_set=append.read_set,
        actions=append.actions,
        operation=append.operation,
        tags={},
        identity_only=False,
        lost_reply=table.lost_reply,
    )


def _like(first: CurrentTransaction, append: Append, now_ms: int) -> CurrentTransaction:
    """An append that differs from the first one in nothing but what it is handed over with."""
    info, operation = first.commit_info, append.operation
    same_parameters = operation.parameters is first.operation.parameters
    commit_info = replace(
        info,
        timestamp=now_ms,
        operation_parameters=(
            info.operation_parameters if same_parameters else operation.logged_parameters()
        ),
        read_version=append.snapshot.version,
        operation_metrics=(None if info.operation_metrics is None else operation.logged_metrics()),
        txn_id=append.txn_id,
    )
    return first.another(
        txn_id=append.txn_id,
        snapshot=append.snapshot,
        actions=tuple(append.actions),
        commit_info=commit_info,
        operation=operation,
    )


class AppendPlans:
    """The plans of one statement or query, by the table's metadata and protocol."""

    def __init__(self, parameters: Mapping[str, object] | None = None) -> None:
        self._parameters = parameters or {}
        self._plans = Plans()

    def plan(self, table: Table, snapshot: Snapshot) -> AppendPlan | None:
        """The plan for the table as it is; `None` where appends go the general way."""
        protocol = snapshot.protocol

        def made() -> tuple[object, AppendPlan | None]:
            # The protocol is kept with its plan, so that no other takes its identity.
            return protocol, AppendPlan(self._parameters) if _is_plain(table, snapshot) else None

        return self._plans.of(snapshot.metadata, id(protocol), made)[1]


def _is_plain(table: Table, snapshot: Snapshot) -> bool:
    """Whether an append has no effect or check beyond adding its files."""
    metadata, protocol, settings = snapshot.metadata, snapshot.protocol, table.settings
    if metadata is None or protocol is None:
        return False
    return not (
        table.dialect.resolves_rows
        or table.dialect.checks.reads_by_statement
        or supports(protocol, feature_keys.ROW_TRACKING)
        or settings.schema_auto_merge
        or settings.empty_file_check
        or settings.null_partition_check
        or None not in (settings.txn_app_id, settings.txn_version)
        or is_enabled(metadata, settings)
        or _is_all_partitions(metadata, snapshot)
    )


def _is_all_partitions(metadata: Metadata, snapshot: Snapshot) -> bool:
    return len(metadata.partition_columns) == len(snapshot.schema)

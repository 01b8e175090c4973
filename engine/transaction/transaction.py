"""The optimistic transaction: reads of one snapshot, then one commit.

Source: `OptimisticTransaction.scala`. It never sees another snapshot than the one it started on;
whether that still suffices is decided when it commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.read_set import ReadSet
from whitecap.engine.dialects import DEFAULT_DIALECT, Dialect
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AddFile, AnyAction, Metadata, Protocol, SetTransaction
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.log.columns.identity import with_marks
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import asks_for_unlisted, supports
from whitecap.engine.log.schema import schema_of_metadata, schema_string
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed, NothingToCommit, Outcome
from whitecap.engine.refusals import commit_errors
from whitecap.engine.row_level.changes import RowFiles
from whitecap.engine.row_level.reads import RowRead
from whitecap.engine.row_level.resolver import RowResolver
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate, session_of
from whitecap.engine.storage.requests import NewId, Steps
from whitecap.engine.transaction.commit import CommitPlan, commit_large, ready_commit
from whitecap.engine.transaction.commit_loop import ReadyCommit, commit_loop
from whitecap.engine.transaction.entries import PartitionValuesEntry, PredicateEntry
from whitecap.engine.transaction.file_scan import FileScan, Form, statistics_test
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.engine.transaction.metadata_checks import may_need_files
from whitecap.engine.transaction.new_metadata import (
    as_stored,
    protocol_with,
    with_row_id_columns,
    with_session_defaults,
)
from whitecap.engine.transaction.partition_values import PartitionNormalizer
from whitecap.engine.transaction.prepare import NO_METADATA, CommitDraft
from whitecap.engine.transaction.statement_reads import StatementCondition, statement_reads

_UNNAMED = "delta.`table`"
"""How messages speak of a table that nobody named."""


class Transaction:
    """One transaction on one table; `start` makes it. Commits once.

    `is_outlived`: its statement may go on after it was aborted, or end otherwise than it did; all
    others end as a transaction that is aborted.
    """

    def __init__(
        self,
        table_log: TableLog,
        snapshot: Snapshot,
        txn_id: str,
        settings: Settings | None = None,
        dialect: Dialect = DEFAULT_DIALECT,
        table_name: str = _UNNAMED,
        lost_reply: LostReply = LostReply.RESEND,
        row_files: RowFiles | None = None,
    ) -> None:
        self.table_log = table_log
        self.snapshot = snapshot
        self.txn_id = txn_id
        self.settings = dialect.adjusted(settings or Settings())
        self.dialect = dialect
        self.table_name = table_name
        self.lost_reply = lost_reply
        self.row_files = row_files
        self.read_set = ReadSet()
        self.identity_only = False
        self.is_outlived = False
        self._row_reads: list[RowRead] = []
        self._condition: Sequence[Predicate] = ()
        self._queued: list[AnyAction] = []
        self._metadata: Metadata | None = None
        self._protocol: Protocol | None = None
        self._creates_table = snapshot.version == -1
        self._committed = False

    @classmethod
    def start(
        cls,
        table_log: TableLog,
        settings: Settings | None = None,
        dialect: Dialect = DEFAULT_DIALECT,
        table_name: str = _UNNAMED,
        lost_reply: LostReply = LostReply.RESEND,
    ) -> Steps[Transaction]:
        """Begin on the newest snapshot. Source: `DeltaLog.scala: startTransaction`."""
        snapshot = yield from table_log.update()
        txn_id = yield NewId()
        return cls(table_log, snapshot, txn_id, settings, dialect, table_name, lost_reply)

    @property
    def read_version(self) -> int:
        """The version that it reads, -1 where there is no table yet."""
        return self.snapshot.version

    @property
    def metadata(self) -> Metadata:
        """The table's metadata as this transaction will leave it. Not a tracked read."""
        return self._metadata or self.snapshot.metadata or NO_METADATA

    @property
    def protocol(self) -> Protocol | None:
        """The table's protocol as this transaction will leave it, `None` before there is one."""
        return self._protocol or self.snapshot.protocol

    # Reads ---------------------------------------------------------------------------------

    def filter_files(
        self,
        predicates: Sequence[Predicate],
        form: Form = Form.OPTIMIZED,
        answers: Sequence[Predicate] = (),
    ) -> FileScan:
        """Files that may hold rows matching all predicates; tracks the predicates and the files.

        One entry, whose predicates are not split: each is a partition predicate only if all its
        columns are partition columns. Iterating what is returned lists the files. `answers`: what
        conditions that ask queries say of partitions; they are tracked, and leave out no file.
        Source: `OptimisticTransaction.scala: filterFiles(filters)`.
        """
        resolved = form is not Form.PARSED
        entry = self._entry(predicates, resolved)
        # Files are never left out by what is not deterministic: `eligibleFilters` of filesForScan.
        usable = [p for p in predicates if p.is_deterministic or not resolved]
        pruning = entry if len(usable) == len(predicates) else self._entry(usable, resolved)
        may_match = statistics_test(pruning.data_predicates, self.snapshot, self.settings, form)
        scan = FileScan(self.snapshot, pruning.matches, may_match)
        self.read_set = self.read_set.with_entry(entry.asking(answers)).with_scan(scan)
        self._condition = predicates
        return scan

    def filter_all_files(self) -> FileScan:
        """Every file, as one entry TRUE. Not the same as reading the whole table."""
        return self.filter_files((TRUE,))

    def filter_files_for_limit(
        self, files: Iterable[AddFile], partition_predicates: Sequence[Predicate]
    ) -> None:
        """Track a scan that stopped at a LIMIT: the predicates, and only the files it came to.

        Source: `filesForScan(limit, partitionFilters)`.
        """
        self.track_read_predicates(partition_predicates, partition_only=True)
        self.track_files_read(files)

    def filter_files_by_partitions_of(self, adds: Sequence[AddFile]) -> tuple[AddFile, ...]:
        """Files in the partitions of `adds` (dynamic partition overwrite).

        Tracks one entry over whole partition value maps, and no files. Raises `DeltaError` for
        partition values that do not parse, if the session says so; else compares text. Source:
        `filterFiles(newFiles)`.
        """
        try:
            entry = self._partitions_entry(adds, self.settings.parse_partition_values)
            files = tuple(FileScan(self.snapshot, entry.holds))
        except DeltaError:
            if self.settings.fail_on_partition_value_parsing_error:
                raise
            entry = self._partitions_entry(adds, typed=False)
            files = tuple(FileScan(self.snapshot, entry.holds))
        self.read_set = self.read_set.with_entry(entry)
        return files

    def read_whole_table(self) -> None:
        """Depend on everything: one empty entry, and any removed file conflicts."""
        self.read_set = self.read_set.with_entry(self._entry((), True)).with_whole_table()

    def run_query(self, files: FileScan | None = None) -> None:
        """A query runs over these files of the table, if there are any, or over whatever there is.

        Where skipping is off it depends on everything. Source: `PrepareDeltaScan.scala:
        prepareDeltaScanWithoutFileSkipping`.
        """
        if self.settings.stats_skipping:
            return
        if files is None or any(True for _ in files):
            self.read_whole_table()

    def track_files_read(self, files: Iterable[AddFile]) -> None:
        """Depend on these files staying."""
        self.read_set = self.read_set.with_files({file.path: file for file in files})

    def track_read_predicates(
        self, predicates: Sequence[Predicate], resolved: bool = True, partition_only: bool = False
    ) -> None:
        """Depend on no file being added that matches: one entry, and no files."""
        entry = self._entry(predicates, resolved, partition_only)
        self.read_set = self.read_set.with_entry(entry)

    def refuse_check(self, refusal: DeltaError | None) -> None:
        """End the check of added files with this, if anything, as what was read cannot be asked."""
        self.read_set = self.read_set.with_refusal(refusal)

    def txn_version(self, app_id: str) -> int:
        """How far an application has come, -1 if it is unknown; from now on a dependency."""
        self.read_set = self.read_set.with_app_id(app_id)
        return self.snapshot.transaction_version(app_id)

    def track_rows(self, read: RowRead) -> None:
        """Depend on the rows of a read rather than on its files, where the dialect can."""
        self._row_reads.append(read)

    def read_state(self) -> Steps[None]:
        """Make ready what the files, applications and domains of the snapshot are.

        To be done before they are asked for the first time.
        """
        yield from self.table_log.read_state(self.snapshot)

    # Changes other than the actions passed to commit ------------------------------------------

    def update_set_transaction(
        self, app_id: str, version: int, last_updated: int | None = None
    ) -> None:
        """Record an application's progress together with the commit."""
        self._queued.append(
            SetTransaction(app_id=app_id, version=version, last_updated=last_updated)
        )

    def update_metadata(self, metadata: Metadata) -> None:
        """Set new metadata: session defaults, requested features and row id columns are filled in.

        Raises `DeltaError` the second time. Source: `updateMetadataInternal`.
        """
        if self._metadata is not None:
            raise commit_errors.metadata_changed_twice()
        if self._creates_table:
            metadata = with_session_defaults(metadata, self.settings)
        creates_table, previews = self.snapshot.version == -1, self.dialect.preview_features
        protocol = protocol_with(metadata, self.protocol, creates_table, previews)
        if protocol != self.protocol or asks_for_unlisted(self.protocol, metadata):
            self._protocol = protocol
        old = self.snapshot.metadata
        self._metadata = as_stored(metadata, protocol, old, self.txn_id, self._creates_table)

    def update_metadata_for_new_table(self, metadata: Metadata) -> None:
        """Set the metadata of a table that is created or replaced."""
        self._creates_table = True
        self.update_metadata(metadata)

    def update_protocol(self, protocol: Protocol) -> None:
        """Set a new protocol."""
        self._protocol = protocol

    def move_identity_marks(self, marks: Mapping[str, int]) -> None:
        """Move identity columns' high-water marks, by physical name, in the metadata.

        The metadata is committed even if no mark moves. Unless something else changes it too,
        winners that do not read it may ignore it. Source: `setNewHighWaterMarks`,
        `updateMetadataAfterWrite`.
        """
        if marks:
            text = schema_string(with_marks(schema_of_metadata(self.metadata), marks))
            self.identity_only = self._metadata is None
            marked = replace(self.metadata, schema_string=text)
            old = self.snapshot.metadata
            self._metadata = with_row_id_columns(marked, self.protocol, old, self.txn_id)

    def mark_identity_only(self) -> None:
        """Say that the metadata only moves identity high-water marks (SYNC IDENTITY, inserts)."""
        self.identity_only = True

    # Commits ----------------------------------------------------------------------------------

    def commit(
        self,
        actions: Iterable[AnyAction],
        operation: Operation,
        tags: Mapping[str, str] | None = None,
    ) -> Steps[Outcome]:
        """Commit; always writes a version unless it is refused.

        A conflict ends as `Aborted`, a lost reply as the policy says. Raises `DeltaError` for what
        Delta refuses otherwise.
        """
        plan = self._plan(actions, operation, tags)
        return (yield from self.followed_up(self._tried(plan)))

    def commit_if_needed(
        self,
        actions: Iterable[AnyAction],
        operation: Operation,
        tags: Mapping[str, str] | None = None,
    ) -> Steps[Outcome]:
        """Commit, unless there is nothing to record: then `NothingToCommit`."""
        plan = self._plan(actions, operation, tags)
        return (yield from self.followed_up(self._tried(plan, may_skip=True)))

    def commit_large(self, actions: Iterable[AnyAction], operation: Operation) -> Steps[Outcome]:
        """Commit once at the next version, conflicting with any winner whatever it did."""
        plan = self._plan(actions, operation, None)
        return (yield from self.followed_up(commit_large(plan), is_large=True))

    def _tried(self, plan: CommitPlan, *, may_skip: bool = False) -> Steps[Outcome]:
        ready = yield from ready_commit(plan, may_skip=may_skip)
        if isinstance(ready, NothingToCommit):
            return ready
        self.before_attempts(ready)
        return (yield from commit_loop(ready))

    def before_attempts(self, ready: ReadyCommit) -> None:
        """What it will commit is decided, and it has not tried yet: for who follows it.

        Not called where there is nothing to commit, nor for a large commit.
        """

    def followed_up(self, steps: Steps[Outcome], is_large: bool = False) -> Steps[Outcome]:
        """Commit by `steps`, and then what the log does after a commit; who does more overrides it.

        It is called once, and hands on how `steps` ended. Source: `runPostCommitHooks`. Row ids are
        given out from where the table's domain of row tracking says; what manifests may not stand
        beside lies in the table's files.
        """
        needs_files = self._metadata is not None and may_need_files(self._metadata, self.snapshot)
        if needs_files or supports(self.protocol, feature_keys.ROW_TRACKING):
            yield from self.read_state()
        outcome = yield from steps
        if isinstance(outcome, Committed):
            self.table_log.file_counts.note(outcome.actions, self.settings)
            yield from self.table_log.after_commit(outcome.version, is_large)
        return outcome

    def _plan(
        self,
        actions: Iterable[AnyAction],
        operation: Operation,
        tags: Mapping[str, str] | None,
    ) -> CommitPlan:
        if self._committed:
            raise commit_errors.already_committed()
        self._committed = True
        return CommitPlan(
            table_log=self.table_log,
            draft=self._draft(),
            dialect=self.dialect,
            txn_id=self.txn_id,
            read_set=self._reads(operation),
            actions=(*actions, *self._queued),
            operation=operation,
            tags=dict(tags or {}),
            identity_only=self.identity_only,
            lost_reply=self.lost_reply,
            rows=self._row_resolver(),
        )

    def _reads(self, operation: Operation) -> ReadSet:
        checks, session = self.dialect.checks, session_of(self.settings)
        if not checks.reads_by_statement:
            return self.read_set
        condition = StatementCondition.of(self._condition, self.snapshot, session, checks)
        return statement_reads(self.read_set, condition, operation)

    def _row_resolver(self) -> RowResolver | None:
        if not self.dialect.resolves_rows:
            return None
        return RowResolver(self.dialect, self.settings, self.row_files, tuple(self._row_reads))

    def _draft(self) -> CommitDraft:
        return CommitDraft(
            snapshot=self.snapshot,
            settings=self.settings,
            table_name=self.table_name,
            metadata=self._metadata,
            protocol=self._protocol,
            may_assign_any_protocol=self.snapshot.version == -1,
            restates_protocol=self.dialect.restates_protocol,
            preview_features=self.dialect.preview_features,
            creates_table=self._creates_table,
        )

    def _entry(
        self, predicates: Sequence[Predicate], resolved: bool, partition_only: bool = False
    ) -> PredicateEntry:
        """Source: `trackReadPredicates`: classified by the NEW metadata, matched by the old."""
        columns = self.metadata.partition_columns
        partition = [p for p in predicates if partition_only or p.is_over(columns)]
        data = [p for p in predicates if not (partition_only or p.is_over(columns))]
        return PredicateEntry(
            tuple(partition), tuple(data), self.snapshot.partition_schema, self.settings, resolved
        )

    def _partitions_entry(self, adds: Sequence[AddFile], typed: bool) -> PartitionValuesEntry:
        normalizer = PartitionNormalizer.of(
            self.snapshot.partition_schema, self.settings.session_time_zone, typed
        )
        partitions = frozenset(normalizer.normalize(add.partition_values or {}) for add in adds)
        return PartitionValuesEntry(partitions, normalizer)

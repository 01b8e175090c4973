"""Which rows of a MERGE's target and source match, and what its clauses make of them.

Source: ClassicMergeExecutor.scala, MergeOutputGeneration.scala.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from whitecap.engine.commands.rows.merge_clauses import Clause
from whitecap.engine.commands.rows.merge_join import Join
from whitecap.engine.commands.rows.merge_plan import MergePlan
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.schema import schema_of_metadata
from whitecap.engine.query.sources import Projection
from whitecap.engine.refusals import write_errors
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_store.rows import positions_with
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters
from whitecap.engine.sql.parsing.statements import Act, Merge, reads_tables
from whitecap.engine.storage.requests import Row
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.files import AFTER_UPDATE, BEFORE_UPDATE, DELETED, in_task

PlacedRow = tuple[int, Row]
"""A row that is made of another, with the position of that in its file."""


class BoundClause(Struct, frozen=True):
    """A clause with parameters: whether it applies to a row, and what it makes of it."""

    act: Act
    applies: Evaluate | None
    make: Projection | None


class MatchedFile(Struct):
    """A candidate file with its rows that match, by position, and which source row each does."""

    scanned: FileRows
    rows: dict[int, Row]
    matches: dict[int, int]
    is_touched: bool


class Matching:
    """The clauses of one execution, bound to parameters, and what has matched so far.

    `used` are the positions of source rows that have a match in a file that was looked at.
    """

    def __init__(self, plan: MergePlan, join: Join, statement: Merge, txn: Transaction) -> None:
        schema = schema_of_metadata(txn.metadata)
        self.plan = plan
        self.join = join
        self.blank = (None,) * len(schema)
        parameters = statement.parameters
        # What only literals are inserted for is computed before: by the optimizer.
        in_tasks = not plan.is_insert_only or reads_tables(statement.source)
        metadata = txn.metadata if in_tasks else None
        given = parameters, metadata, plan.is_insert_only
        self.matched = [_bound(clause, *given) for clause in plan.matched]
        self.not_matched = [_bound(clause, *given) for clause in plan.not_matched]
        self.by_source = [_bound(clause, *given) for clause in plan.not_matched_by_source]
        wanted = join.wanted(schema, txn.snapshot.partition_columns)
        self._wanted = () if self.by_source else wanted
        self.used: set[int] = set()

    def match(self, files: Sequence[FileRows]) -> list[MatchedFile]:
        """Join files. Raises `DeltaError` if a row has several matches that would change it."""
        likely = positions_with([file_rows.rows for file_rows in files], self._wanted)
        return list(map(self._match, files, likely))

    def _match(self, file_rows: FileRows, likely: list[int] | None) -> MatchedFile:
        """Join one file, whose rows may match where it is `likely`; `None`: anywhere."""
        rows: dict[int, Row] = {}
        matches: dict[int, int] = {}
        touched = bool(self.by_source) and file_rows.live_count > 0
        more = 0
        find = self.join.matches
        likely_rows = file_rows if likely is None else file_rows.rows_at(file_rows.live(likely))
        for at, row in likely_rows:
            hits = find(row)
            if hits:
                if len(hits) > 1:
                    more += self._more_rows(row, hits)
                rows[at], matches[at] = row, hits[0]
                self.used.update(hits)
                touched = touched or self._counts(row, hits)
        if touched and more:
            raise self._too_many_rows(file_rows.live_count, more)
        return MatchedFile(file_rows, rows, matches, touched and not self.plan.is_insert_only)

    def concerns(self, row: Row) -> bool:
        """Whether a row of the target, had it been there, would have changed what is done."""
        hits = self.join.matches(row)
        return bool(self.by_source) or (bool(hits) and self._counts(row, hits))

    def _counts(self, row: Row, hits: Sequence[int]) -> bool:
        """Whether a match makes its file touched: if only WHEN MATCHED, a clause must apply."""
        if not self.plan.is_matched_only:
            return True
        return any(_first(self.matched, row + self.join.rows[at]) is not None for at in hits)

    def _more_rows(self, row: Row, hits: Sequence[int]) -> int:
        """How many rows more a row with several matches becomes, were its file rewritten.

        Several are fine for inserts, and for one DELETE without condition. If only WHEN MATCHED,
        those do not count of which the conditions say NULL. Raises `DeltaError` if still several
        do. Source: ClassicMergeExecutor.scala: findTouchedFiles (recordTouchedFileName).
        """
        only = self.matched[0] if len(self.matched) == 1 else None
        deletes_all = only and only.act is Act.DELETE and only.applies is None
        if self.plan.is_insert_only or deletes_all:
            return 0
        counted = [at for at in hits if self._is_decided(row + self.join.rows[at])]
        if len(counted) > 1 or not self.plan.is_matched_only:
            raise write_errors.several_sources_match()
        return len(hits) - 1

    def _is_decided(self, joined_row: Row) -> bool:
        """Whether the conditions of WHEN MATCHED, joined by OR, are TRUE or FALSE."""
        truths = [clause.applies is None or clause.applies(joined_row) for clause in self.matched]
        return True in truths or None not in truths

    def _too_many_rows(self, before: int, more: int) -> Exception:
        """What is said where rows would be written for several matches; `before`: of the file."""
        if all(clause.act is Act.UPDATE for clause in self.matched):
            return write_errors.records_lost("MERGE without INSERT clause", before + more, before)
        return UnsupportedFeature("several matches of which a condition says NULL, with a DELETE")

    def inserts(self, positions: Iterable[int]) -> list[Row]:
        """The new rows of those source rows, of the ones at these positions, without a match."""
        if not self.not_matched:
            return []
        made = []
        for at in positions:
            if at not in self.used:
                joined_row = self.blank + self.join.rows[at]
                clause = _first(self.not_matched, joined_row)
                if clause is not None and clause.make is not None:
                    made.append(clause.make(joined_row))
        return made

    def rewritten(self, file: MatchedFile) -> Sequence[Row]:
        """All rows of a touched file as they will be."""
        return file.scanned.live_rows_with(self.changes(file))

    def changes(self, file: MatchedFile) -> dict[int, Row | None]:
        """By position the rows that change, as they will be; `None` for one that goes."""
        changes: dict[int, Row | None] = {}
        for at, row in self._concerned(file):
            clause, joined_row = self._outcome(file, at, row)
            if clause is not None:
                changes[at] = None if clause.make is None else clause.make(joined_row)
        return changes

    def images(self, file: MatchedFile) -> Iterable[PlacedRow]:
        """What the change data feed says of the rows of a file that change."""
        for at, row in self._concerned(file):
            clause, joined_row = self._outcome(file, at, row)
            if clause is not None:
                yield at, row + (DELETED if clause.make is None else BEFORE_UPDATE)
                if clause.make is not None:
                    yield at, clause.make(joined_row) + AFTER_UPDATE

    def _outcome(self, file: MatchedFile, at: int, row: Row) -> tuple[BoundClause | None, Row]:
        """The clause for one row of a touched file, and the joined row that it sees."""
        match = file.matches.get(at)
        if match is None:
            return _first(self.by_source, row), row
        joined_row = row + self.join.rows[match]
        return _first(self.matched, joined_row), joined_row

    def _concerned(self, file: MatchedFile) -> Iterable[tuple[int, Row]]:
        """The rows of a file that some clause may change, with their positions."""
        return file.scanned if self.by_source else file.rows.items()


def _bound(
    clause: Clause, parameters: Parameters, metadata: Metadata | None, is_insert_only: bool
) -> BoundClause:
    """`metadata`: of the table whose writing tasks run the clause, if they do."""
    applies = None if clause.condition is None else clause.condition(parameters)
    if clause.make is None:
        return BoundClause(clause.act, applies, None)
    make = clause.make(parameters)
    if metadata is not None:
        make = in_task(make, metadata, beside_changes=not is_insert_only)
    return BoundClause(clause.act, applies, make)


def is_taken(clauses: Sequence[BoundClause], row: Row) -> bool:
    """Whether some clause applies to a row."""
    return _first(clauses, row) is not None


def _first(clauses: Sequence[BoundClause], row: Row) -> BoundClause | None:
    """The first clause whose condition holds."""
    for clause in clauses:
        if clause.applies is None or clause.applies(row) is True:
            return clause
    return None

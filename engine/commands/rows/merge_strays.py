"""Rows without a match that Delta's MERGE takes for matched ones, and fails on.

With deletion vectors only rows that change are written. Delta finds them by asking of each joined
row once more whether ON holds and a WHEN MATCHED applies; of a row without a match ON may hold
where it is true of NULLs (`t.k <=> s.k`, `coalesce(t.k, 0) = coalesce(s.k, 0)`). If then none of
the clauses for rows without a match applies, the row fits nothing. Source:
MergeOutputGeneration.scala (generateFilterForModifiedRows, generateWriteAllChangesOutputCols).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whitecap.engine.commands.rows.merge_matching import (
    BoundClause,
    MatchedFile,
    Matching,
    is_taken,
)
from whitecap.engine.refusals import write_errors
from whitecap.engine.storage.requests import Row


def check_strays(matching: Matching, touched: Sequence[MatchedFile]) -> None:
    """Raises `DeltaError` for a row without a match that counts as matched and that nothing takes.

    `touched` are the files that hold rows of the target which change.
    """
    _check(_without_source(matching, touched), matching.by_source, matching)
    _check(_without_target(matching), matching.not_matched, matching)


def _check(joined_rows: Iterable[Row], clauses: Sequence[BoundClause], matching: Matching) -> None:
    """`joined_rows` have NULLs where there is no row of the other side; `clauses` are for those."""
    on, matched = matching.join.holds, matching.matched
    for row in joined_rows if clauses else ():
        if on(row) and is_taken(matched, row) and not is_taken(clauses, row):
            raise write_errors.unexpected_row()


def _without_source(matching: Matching, touched: Sequence[MatchedFile]) -> Iterable[Row]:
    """Rows of touched files that no source row matches, joined with NULLs."""
    nulls = matching.join.no_source
    for file in () if matching.join.needs_source else touched:
        yield from (row + nulls for at, row in file.scanned if at not in file.matches)


def _without_target(matching: Matching) -> Iterable[Row]:
    """Source rows that match no row of the target, joined with NULLs."""
    rows = () if matching.join.needs_target else enumerate(matching.join.rows)
    return (matching.blank + row for at, row in rows if at not in matching.used)

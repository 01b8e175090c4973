"""Rows without a match that Delta's MERGE takes for matched ones, and fails on.

With deletion vectors only rows that change are written. Delta finds them by asking of each joined
row once more whether ON holds and a WHEN MATCHED applies; of a row without a match ON may hold
where it is true of NULLs (`t.k <=> s.k`, `coalesce(t.k, 0) = coalesce(s.k, 0)`). If then none of
the clauses for rows without a match applies, the row fits nothing. Source:
MergeOutputGeneration.scala (generateFilterForModifiedRows, generateWriteAllChangesOutputCols).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from whitecap.engine.refusals import write_errors
from whitecap.engine.storage.requests import Row

Holds = Callable[[Row], bool]


def check_strays(joined_rows: Iterable[Row], on: Holds, is_matched: Holds, is_taken: Holds) -> None:
    """Raises `DeltaError` for a row without a match that counts as matched and that nothing takes.

    `joined_rows` have NULLs where there is no row of the other side; `is_taken` says whether a
    clause for rows without a match applies.
    """
    for row in joined_rows:
        if on(row) and is_matched(row) and not is_taken(row):
            raise write_errors.unexpected_row()

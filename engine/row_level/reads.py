"""What a command read, in terms of rows: what a winner's changed rows are held against.

Source: https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/
row-level-concurrency, "Limitations"; the sub-conditions of
https://docs.databricks.com/gcp/en/error-messages/delta-concurrent-append-error-class and its
neighbours for delete-read and delete-delete.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.storage.requests import Row


class SubCondition(StrEnum):
    """The last part of a conflict's error class: why rows could not be, or were not, reconciled."""

    ROW_LEVEL_CHANGES = "ROW_LEVEL_CHANGES"
    ALLOTTED_TIME_EXCEEDED = "ALLOTTED_TIME_EXCEEDED"
    CHANGE_TYPE_COLUMN = "CHANGE_TYPE_COLUMN"
    EMPTY_READ_PREDICATES = "EMPTY_READ_PREDICATES"
    METADATA_CHANGE = "METADATA_CHANGE"
    PREDICATES_NEED_REWRITE = "PREDICATES_NEED_REWRITE"
    PROTOCOL_CHANGE = "PROTOCOL_CHANGE"
    WHOLE_TABLE_READ = "WHOLE_TABLE_READ"
    WHOLE_TABLE_REPLACE = "WHOLE_TABLE_REPLACE"


class RowRead(Struct, frozen=True):
    """One read of the table that is written: would another row have changed what came of it?

    `concerns` says so of a row in schema order; `may_hold` of a whole file by its statistics.
    `obstacle` is why rows cannot be told apart for this read, `None` if they can. `condition` gives
    what it looks for, as SQL; it is only written out for a verdict.
    """

    concerns: Callable[[Row], bool]
    may_hold: Callable[[AddFile], bool] | None = None
    obstacle: SubCondition | None = None
    has_target_predicate: bool = True
    condition: Callable[[], str] = str

    def may_concern(self, file: AddFile) -> bool:
        """Whether the file could hold a row that this read depends on."""
        return self.may_hold is None or self.may_hold(file)

"""What delta-rs knows of a file when it asks whether a statement has read it.

Of a file that a winner adds it knows what the log says. Of a file of its snapshot it does not find
the number of rows, and the number of NULLs only for BIGINT columns: it looks for it in the column's
own type. So a removed file that holds nothing but NULLs counts as read, whatever was compared.

Source: `kernel/transaction/state.rs: AddContainer`; `kernel/snapshot/log_data.rs: LogDataHandler`
(pick_stats, null_counts, row_counts, contained); seen on deltalake 1.6.3 and 1.6.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.log.statistics import FileStatistics, least_of, most_of, parse_statistics
from whitecap.engine.sql.predicates.datafusion_pruning import ColumnFacts, FileFacts
from whitecap.engine.values.casts import Cast, text_caster
from whitecap.engine.values.types import Session

_COUNTED = "bigint"
"""The type of columns whose NULLs are known in files of the snapshot: that of the counts."""


class FactsOfFiles(Struct, frozen=True):
    """What is known of the files of a table; `casts` make values of its partitions' texts.

    `longest_lookup`: how many texts of partitions may be named to be looked up.
    """

    casts: Mapping[str, Cast | None]
    longest_lookup: int

    @classmethod
    def of(cls, partition_schema: Schema, session: Session, longest_lookup: int) -> FactsOfFiles:
        """Of the files of a table that has these partition columns."""
        casts = {field.name: text_caster(field.type, session) for field in partition_schema}
        return cls(casts, longest_lookup)

    def of_added(self, file: AddFile) -> FileFacts:
        """Of a file that a winner adds."""
        statistics = parse_statistics(file.stats)
        return lambda field: self._logged(file, statistics, field)

    def of_read(self, file: AddFile) -> FileFacts:
        """Of a file of the snapshot."""
        statistics = parse_statistics(file.stats)

        def facts(field: Field) -> ColumnFacts:
            logged = self._logged(file, statistics, field)
            if field.name not in self.casts:
                nulls = logged.nulls if field.type == _COUNTED else None
                return replace(logged, nulls=nulls, records=None)
            lookup = self.longest_lookup if field.type == "string" else 0
            return ColumnFacts(logged.least, logged.most, longest_lookup=lookup)

        return facts

    def _logged(self, file: AddFile, statistics: FileStatistics, field: Field) -> ColumnFacts:
        records = statistics.num_records
        if field.name in self.casts:
            value = self._partition_value(file, field)
            return ColumnFacts(value, value, records if value is None else 0, records)
        bounds = least_of(field)(statistics), most_of(field)(statistics)
        least, most = (None if bound != bound else bound for bound in bounds)  # NaN says nothing
        return ColumnFacts(least, most, statistics.nulls_of(field), records)

    def _partition_value(self, file: AddFile, field: Field) -> Any:
        text, cast = (file.partition_values or {}).get(field.physical_name), self.casts[field.name]
        return text if text is None or cast is None else cast(text)

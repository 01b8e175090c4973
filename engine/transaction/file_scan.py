"""The files that one read of a snapshot returns, described by what selected them.

Asking whether one path was read costs a lookup and a test; only iterating lists the files. Source:
`PrepareDeltaScan` / `DataSkippingReader.scala: filesForScan` (partition pruning, then skipping by
statistics).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum

from msgspec import Struct

from whitecap.engine.log.actions import AddFile, PartitionValues
from whitecap.engine.log.indexed_columns import columns_that_skip
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import parse_statistics
from whitecap.engine.settings import Settings
from whitecap.engine.sql.predicates.asked_statistics import every
from whitecap.engine.sql.predicates.predicate import Predicate, session_of
from whitecap.engine.sql.predicates.unoptimized import readable_part, skippable_part


class Form(Enum):
    """How far Spark has worked on the predicates that a read is given."""

    PARSED = "parsed"
    """Names are not resolved: nothing is known to be random, and statistics judge nothing."""
    ANALYZED = "analyzed"
    """Resolved, but not simplified: statistics judge plain comparisons only."""
    HANDED_OVER = "handed over"
    """Simplified, then written as SQL with values of the columns' own types and read again."""
    OPTIMIZED = "optimized"
    """As a command hands them over."""


FileTest = Callable[[AddFile], bool]
PartitionTest = Callable[[PartitionValues | None], bool]


class FileScan(Struct, frozen=True):
    """Live files of `snapshot` whose partition is `wanted` and that may hold matching rows.

    `may_match` is the test by statistics, `None` where there is none to make.
    """

    snapshot: Snapshot
    wanted: PartitionTest
    may_match: FileTest | None = None

    def __iter__(self) -> Iterator[AddFile]:
        for partition in self.snapshot.partitions:
            yield from self._within(partition)

    def __contains__(self, file: AddFile) -> bool:
        return self.wanted(file.partition_values) and self._may_match(file)

    def at(self, path: str) -> AddFile | None:
        """The file read at this path, `None` if the scan did not return it."""
        file = self.snapshot.file_at(path)
        return file if file is not None and file in self else None

    def _within(self, partition: tuple[str | None, ...]) -> Iterator[AddFile]:
        files = self.snapshot.files_in(partition)
        if files and self.wanted(files[0].partition_values):
            yield from (file for file in files if self._may_match(file))

    def _may_match(self, file: AddFile) -> bool:
        return self.may_match is None or self.may_match(file)


def statistics_test(
    predicates: Sequence[Predicate],
    snapshot: Snapshot,
    settings: Settings,
    form: Form,
) -> FileTest | None:
    """Whether a file's statistics let it hold a row that matches all of these data predicates.

    `None` where statistics can tell nothing, or where skipping is off. Source:
    `DataSkippingReader.scala: getDataSkippedFiles`.
    """
    if not settings.stats_skipping or form is Form.PARSED:
        return None
    if form in (Form.ANALYZED, Form.HANDED_OVER):
        part = skippable_part if form is Form.ANALYZED else readable_part
        predicates = [part(p, snapshot.schema, settings) for p in predicates]
    columns, session = columns_that_skip(snapshot.metadata), session_of(settings)
    tests = [
        test
        for predicate in predicates
        if (test := predicate.skipping_test(columns, session)) is not None
    ]
    if not tests:
        return None
    keeps = every(tests).keeps
    return lambda file: keeps(parse_statistics(file.stats))

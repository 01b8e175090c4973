"""Finding the rows that a condition matches among the files that a scan returned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.schema import Schema
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.row_store.rows import positions_with
from whitecap.engine.row_store.stored_rows import Wanted
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import Row, Steps
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.values.types import Session

MatchingRows = list[tuple[FileRows, list[int]]]
"""Files that hold matching rows, with the positions of these."""


def search(
    table: Table,
    txn: Transaction,
    scan: FileScan,
    conditions: Sequence[Predicate],
    extra_tests: Sequence[Evaluate] = (),
) -> Steps[MatchingRows]:
    """The files of a scan with rows that match all conditions. Reads them in one request."""
    schema = txn.snapshot.schema
    pins = {k: v for c in conditions for k, v in c.pins(schema, table.session).items()}
    files = yield from files_to_read(table, txn, scan, pins)
    file_rows = yield from table.data_files.read(files, schema)
    partitions = frozenset(schema.index(name) for name in txn.snapshot.partition_columns)
    picks = _Picks.of(conditions, schema, table.session, extra_tests, partitions)
    matches = zip(file_rows, picks.positions(file_rows), strict=True)
    return [(loaded, positions) for loaded, positions in matches if positions]


def files_to_read(
    table: Table, txn: Transaction, scan: FileScan, pins: Mapping[str, Collection[Any]]
) -> Steps[list[AddFile]]:
    """The files of a scan that may hold rows with the pinned values.

    All files of the scan, unless the table has an index of its rows and the pins name a column
    that is not a partition column: then those that hold such a value, if it knows.
    """
    index = table.shared.row_index
    partitions = {name.lower() for name in txn.snapshot.partition_columns}
    schema = txn.snapshot.schema
    useful = {
        schema.fields[schema.index(name)].physical_name: values
        for name, values in pins.items()
        if name.lower() not in partitions
    }
    if index is not None and useful:
        files = yield from index.files_with(txn.snapshot, useful)
        if files is not None:
            return [file for file in files if file in scan]
    return list(scan)


class _Picks(Struct):
    """Which rows match: what columns must have for that, which may be all there is to it.

    Of partition columns nothing is wanted: files of other partitions are not looked at. `bind`
    gives the tests of a row, for those that columns do not decide.
    """

    bind: Callable[[], tuple[Evaluate, ...]]
    wanted: Wanted
    wanted_is_all: bool
    _tests: tuple[Evaluate, ...] | None = None

    @classmethod
    def of(
        cls,
        conditions: Sequence[Predicate],
        schema: Schema,
        session: Session,
        extra_tests: Sequence[Evaluate],
        partitions: Collection[int],
    ) -> _Picks:
        def bind() -> tuple[Evaluate, ...]:
            return (*(condition.bind(schema, session) for condition in conditions), *extra_tests)

        if not conditions:
            return cls(bind, (), False)
        pins, is_all = conditions[0].leading_pins(schema, session)
        wanted = [(at, values) for at, values in pins if at not in partitions]
        return cls(bind, wanted, is_all and len(conditions) == 1 and not extra_tests)

    @property
    def tests(self) -> tuple[Evaluate, ...]:
        """All of which a row must pass."""
        if self._tests is None:
            self._tests = self.bind()
        return self._tests

    def positions(self, files: Sequence[FileRows]) -> Iterator[list[int]]:
        """Per file the positions of live rows that match."""
        rows = [loaded.rows for loaded in files]
        likely = positions_with(rows, self.wanted, or_null=not self.wanted_is_all)
        return map(self._positions, files, likely)

    def _positions(self, loaded: FileRows, likely: list[int] | None) -> list[int]:
        """`likely`: where columns have what is wanted, `None` if they cannot tell."""
        if likely is None:
            if not self.tests:
                return loaded.live(list(range(len(loaded.rows))))
            return [at for at, row in loaded if self._matches(row)]
        positions = loaded.live(likely)
        if self.wanted_is_all:
            return positions
        return [at for at, row in loaded.rows_at(positions) if self._matches(row)]

    def _matches(self, row: Row) -> bool:
        return all(test(row) is True for test in self.tests)

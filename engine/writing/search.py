"""Finding the rows that a condition matches among the files that a scan returned."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from whitecap.engine.log.actions import AddFile
from whitecap.engine.row_level.data_files import FileRows
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.terms import Evaluate
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.file_scan import FileScan
from whitecap.engine.transaction.transaction import Transaction

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
    tests = [condition.bind(schema, table.session) for condition in conditions]
    tests += extra_tests
    pins = {k: v for c in conditions for k, v in c.pins(schema, table.session).items()}
    files = yield from files_to_read(table, txn, scan, pins)
    file_rows = yield from table.data_files.read(files, schema)
    found = ((one, _matching(one, tests)) for one in file_rows)
    return [(one, positions) for one, positions in found if positions]


def files_to_read(
    table: Table, txn: Transaction, scan: FileScan, pins: Mapping[str, Collection[Any]]
) -> Steps[list[AddFile]]:
    """The files of a scan that may hold rows with the pinned values.

    All files of the scan, unless the table has an index of its rows and the pins name a column
    that is not a partition column: then those that hold such a value.
    """
    index = table.shared.row_index
    partitions = {name.lower() for name in txn.snapshot.partition_columns}
    useful = [name for name in pins if name.lower() not in partitions]
    if index is not None and useful:
        name = min(useful, key=lambda name: len(pins[name]))
        column = txn.snapshot.schema.fields[txn.snapshot.schema.index(name)]
        found = yield from index.files_with(txn.snapshot, column.physical_name, pins[name])
        if found is not None:
            return [file for file in found if file in scan]
    return list(scan)


def _matching(one: FileRows, tests: Sequence[Evaluate]) -> list[int]:
    if len(tests) == 1:
        test = tests[0]
        return [at for at, row in one if test(row) is True]
    return [at for at, row in one if all(test(row) is True for test in tests)]

"""Finding the rows that a condition matches among the files that a scan returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.commands.data_files import FileRows
from engine.commands.table import Table
from engine.log.actions import AddFile
from engine.sql.predicates import Predicate
from engine.sql.terms import Evaluate
from engine.storage.requests import Steps
from engine.transaction.transaction import Transaction

Found = list[tuple[FileRows, list[int]]]
"""Files that hold matching rows, with the positions of these."""


def search(
    table: Table, txn: Transaction, candidates: Iterable[AddFile], conditions: Sequence[Predicate]
) -> Steps[Found]:
    """The files of a scan with rows that match all conditions. Reads them in one request."""
    schema = txn.snapshot.schema
    tests = [condition.bind(schema, table.session) for condition in conditions]
    file_rows = yield from table.data_files.read(list(candidates), schema)
    found = ((one, _matching(one, tests)) for one in file_rows)
    return [(one, positions) for one, positions in found if positions]


def _matching(one: FileRows, tests: Sequence[Evaluate]) -> list[int]:
    if len(tests) == 1:
        test = tests[0]
        return [at for at, row in one if test(row) is True]
    return [at for at, row in one if all(test(row) is True for test in tests)]

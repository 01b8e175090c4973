"""A table that is created of a parameter's rows is the one that the statement's text creates."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whitecap.engine.commands.run import run_statement
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.created_rows import with_literal_types
from whitecap.engine.sql.parsing.parse import parse_statement, read_statement
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.storage.requests import Listing, ListTree, ReadRows, Row, RowsOf

TEMPLATES = (
    "CREATE TABLE t USING delta AS SELECT * FROM VALUES :rows",
    "CREATE OR REPLACE TABLE t TBLPROPERTIES ('a' = 'b') AS VALUES :rows",
)

COLUMNS = (
    st.integers(-(2**31) - 1, 2**31),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(codec="ascii"), max_size=8),
    st.dates(),
    st.booleans(),
)
TABLES = st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4).flatmap(
    lambda columns: st.lists(st.tuples(*columns), min_size=1, max_size=5)
)


def _written(statement: Statement) -> tuple[dict[str, bytes], dict[str, list[Row]]]:
    """The objects and the rows of data files, all of which a statement writes."""
    store, table = MemoryStore(), Table("t")
    run(run_statement(statement, {"t": table}), store)
    bodies = {key: store.body(key) for key in store.keys}
    tree = store.answer(ListTree(""))
    assert isinstance(tree, Listing)
    files = [entry.key for entry in tree.entries if entry.key not in bodies]
    return bodies, {key: _rows_of(store, key) for key in files}


def _rows_of(store: MemoryStore, key: str) -> list[Row]:
    answer = store.answer(ReadRows((key,), ()))
    assert isinstance(answer, RowsOf)
    return [tuple(map(repr, row)) for row in answer.rows[0]]


@pytest.mark.parametrize("template", TEMPLATES)
@settings(max_examples=50)
@given(rows=TABLES)
def test_rows_with_types_by_value_make_the_table_that_their_literals_make(
    template: str, rows: list[Row]
) -> None:
    filled = parse_statement(template).with_parameters({"rows": rows})
    typed = with_literal_types(filled)
    assert typed is not None
    assert typed.sql() == filled.sql()
    assert _written(typed) == _written(read_statement(filled.sql()))


@pytest.mark.parametrize(
    "rows", [[], [()], [(1,), ("a",)], [(None,)], [(1, 2), (3,)], [(2**63,)], 7, [7]]
)
def test_rows_whose_types_only_their_literals_tell_are_left_to_the_text(rows: Any) -> None:
    filled = parse_statement(TEMPLATES[0]).with_parameters({"rows": rows})
    assert with_literal_types(filled) is None


def test_a_statement_that_creates_no_table_of_rows_alone_is_left_to_the_text() -> None:
    rows = [(1, date(2026, 1, 1))]
    insert = parse_statement("INSERT INTO t VALUES :rows").with_parameters({"rows": rows})
    noted = parse_statement(
        "CREATE TABLE t TBLPROPERTIES ('a' = :note) AS VALUES :rows"
    ).with_parameters({"rows": rows, "note": "b"})
    assert with_literal_types(insert) is None
    assert with_literal_types(noted) is None

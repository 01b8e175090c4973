"""Statements that only read: in a race they commit nothing, and end well.

Queries are planned and run, so that what Spark would refuse is refused. Of DESCRIBE and SHOW only
those are taken that Delta Lake 4.4 answers for a table of its own.
"""

from __future__ import annotations

import re

from sqlglot import exp

from whitecap.engine.commands.run import time_of
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.query.source_queries import source_of
from whitecap.engine.refusals import table_errors
from whitecap.engine.session.table import Tables, table_named
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.parsing.known_parts import check_parts
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.sql.parsing.query_reading import query_of
from whitecap.engine.sql.parsing.statements import NO_TABLE
from whitecap.engine.storage.requests import Steps

_QUERY = re.compile(r"\s*\(*\s*(?:SELECT|WITH|VALUES)\b", re.I)
_NAME = r"(?P<name>`[^`]+`|[\w.]+)"
_ASKED = (
    rf"(?:DESC|DESCRIBE) (?:HISTORY {_NAME}(?: LIMIT \d+)?)",
    rf"(?:DESC|DESCRIBE) (?:DETAIL |TABLE )?(?:EXTENDED |FORMATTED )?{_NAME}",
    rf"SHOW TBLPROPERTIES {_NAME}(?:\s*\([^()]+\))?",
    rf"SHOW COLUMNS (?:IN|FROM) {_NAME}",
    rf"(?:REFRESH )?TABLE {_NAME}",
)
_PARTITIONS = re.compile(rf"\s*SHOW\s+PARTITIONS\s+{_NAME}\s*;?\s*", re.I)
_ABOUT_TABLES = [re.compile(rf"{form}\s*;?\s*".replace(" ", r"\s+"), re.I) for form in _ASKED]
_EXPLAINED = re.compile(
    r"\s*EXPLAIN\s+(?:(?:EXTENDED|FORMATTED|COST)\s+)?(?P<text>.+)", re.I | re.S
)
_ABOUT_OTHERS = re.compile(
    r"\s*SHOW\s+(?:TABLES|VIEWS|DATABASES|SCHEMAS|FUNCTIONS)\b.*", re.I | re.S
)


def read_only(text: str, tables: Tables) -> Steps[Outcome] | None:
    """What a statement does that only reads; `None` for other statements."""
    explained = _EXPLAINED.fullmatch(text)
    if explained is not None:
        return _explained(explained["text"])
    for form in _ABOUT_TABLES:
        match = form.fullmatch(text.strip())
        if match is not None:
            return _about_table(match["name"].strip("`"), tables)
    partitions = _PARTITIONS.fullmatch(text)
    if partitions is not None:
        return _about_partitions(partitions["name"].strip("`"), tables)
    if _ABOUT_OTHERS.fullmatch(text) is not None:
        return _nothing()
    if _QUERY.match(text) is None:
        return None
    node = parse_node(text.strip().rstrip(";"))
    return _queried(node, tables) if isinstance(node, exp.Query | exp.Values) else None


def _nothing() -> Steps[Outcome]:
    yield from ()
    return NothingToCommit(-1)


def _explained(text: str) -> Steps[Outcome]:
    if _QUERY.match(text) is None:
        parse_statement(text)
    return (yield from _nothing())


def _about_table(name: str, tables: Tables) -> Steps[Outcome]:
    table = table_named(tables, name)
    snapshot = yield from table.at_root(table.latest())
    return NothingToCommit(snapshot.version)


def _about_partitions(name: str, tables: Tables) -> Steps[Outcome]:
    table = table_named(tables, name)
    snapshot = yield from table.at_root(table.latest())
    if not snapshot.partition_columns:
        raise table_errors.show_no_partitions(name)
    return NothingToCommit(snapshot.version)


def _queried(node: exp.Expr, tables: Tables) -> Steps[Outcome]:
    check_parts(node)
    some = next(iter(tables.values()))
    parameters = yield from time_of(node.sql())
    with_no_table = {**tables, NO_TABLE.name: some}
    yield from source_of(query_of(node), NO_TABLE, with_no_table, parameters, some.session)
    return NothingToCommit(-1)

"""The keyword DEFAULT in a statement: where it may stand, and what it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.log.column_keys import CURRENT_DEFAULT
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.refusals import write_errors
from whitecap.engine.remembered import Plans
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.parsing.statements import Insert, Values
from whitecap.engine.storage.requests import Steps


def with_defaults(statement: Insert, table: Table) -> Steps[Insert]:
    """An INSERT of VALUES with what DEFAULT stands for in the table as it is now.

    Raises `DeltaError` where it stands for nothing: of a column that is NOT NULL without a default.
    """
    query = statement.query
    if not isinstance(query, Values):
        return statement
    cells = [cell for row in query.rows for cell in row]
    for cell in cells:
        check_placement(cell)
    if not any(is_default(cell) for cell in cells):
        return statement
    snapshot = yield from table.at_root(table.latest())
    static = {name.lower() for name, value in statement.partition if value is not None}
    names = statement.columns or [n for n in snapshot.schema.names if n.lower() not in static]
    fields = [snapshot.schema.get(name) for name in names]
    rows = tuple(
        tuple(
            _default_node(fields, at) if is_default(cell) else cell for at, cell in enumerate(row)
        )
        for row in query.rows
    )
    return replace(statement, query=replace(query, rows=rows), plans=Plans())


def _default_node(fields: Sequence[Field | None], at: int) -> exp.Expr:
    field = fields[at] if at < len(fields) else None
    text = None if field is None else field.metadata.get(CURRENT_DEFAULT)
    if text is not None:
        return parse_condition(str(text))
    if field is not None and not field.nullable:
        raise write_errors.no_default(field.name)
    return exp.Null()


def check_placement(node: exp.Expr, schema: Schema | None = None) -> None:
    """Raises `DeltaError` for the keyword DEFAULT inside of an expression."""
    inside = any(
        is_default(part) for part in node.find_all(exp.Column, exp.Var) if part is not node
    )
    if inside and (schema is None or schema.get("DEFAULT") is None):
        raise write_errors.default_inside()


def is_default(node: exp.Expr) -> bool:
    """Whether a value is the keyword DEFAULT."""
    word = isinstance(node, exp.Var) or (isinstance(node, exp.Column) and not node.table)
    return word and node.name.upper() == "DEFAULT"

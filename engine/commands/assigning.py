"""Values on their way into a column: the cast, and what Spark says if it fails.

Source: TableOutputResolver.scala (store assignment of INSERT), UpdateExpressionsSupport.scala
(UPDATE and MERGE).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from whitecap.engine.commands import write_errors
from whitecap.engine.commands.generation import DEFAULT
from whitecap.engine.commands.table import Table
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.schema import Field
from whitecap.engine.log.type_changes import text_limit
from whitecap.engine.sql.function_nodes import function_name
from whitecap.engine.sql.functions import NON_DETERMINISTIC
from whitecap.engine.sql.statements import Insert, Values
from whitecap.engine.sql.terms import Term, apply
from whitecap.engine.sql.text import parse_condition
from whitecap.engine.sql.types import TEMPORAL, Session, caster, is_decimal, is_integral, is_numeric
from whitecap.engine.storage.requests import Steps

Overflow = Callable[[str, str, str], DeltaError]


def inserted(term: Term, field: Field, session: Session) -> Term:
    """The term as an INSERT puts it into a column."""
    return _assigned(term, field, session, write_errors.insert_overflow)


def updated(term: Term, field: Field, session: Session) -> Term:
    """The term as UPDATE and MERGE put it into a column."""
    return _assigned(term, field, session, write_errors.write_overflow)


def _assigned(term: Term, field: Field, session: Session, overflow: Overflow) -> Term:
    if _never_fits(term.type, field.type):
        raise write_errors.cannot_cast(term.type, field.type)
    cast = caster(term.type, field.type, session)
    if field.type == "string":
        text = Term(field.type, term.bind) if cast is None else apply(cast, term, field.type)
        return _limited(text, field)
    if cast is None:
        return Term(field.type, term.bind)
    bounded = is_integral(field.type) or is_decimal(field.type)
    if not (bounded and is_numeric(term.type)):
        return apply(cast, term, field.type)

    def fitted(value: Any) -> Any:
        try:
            return cast(value)
        except DeltaError as error:
            raise overflow(term.type, field.type, field.name) from error

    return apply(fitted, term, field.type)


def _limited(term: Term, field: Field) -> Term:
    """A text cut of blanks beyond its column's limit."""
    limit = text_limit(field)
    if limit is None:
        return term
    letters = limit.letters

    def fitted(text: str) -> str:
        return text if len(text) <= letters else text[:letters] + text[letters:].rstrip(" ")

    return apply(fitted, term, field.type)


def _never_fits(from_type: str, to_type: str) -> bool:
    """Days and instants are no numbers, nor numbers days."""
    sides = {from_type in TEMPORAL, to_type in TEMPORAL}
    numbers = is_numeric(from_type) or is_numeric(to_type)
    return sides == {True, False} and numbers


def check_deterministic(node: exp.Expr) -> None:
    """Raises `DeltaError` for a value that differs from call to call."""
    if any(function_name(call) in NON_DETERMINISTIC for call in node.find_all(exp.Func)):
        raise write_errors.non_deterministic(node.sql("databricks"))


def with_defaults(statement: Insert, table: Table) -> Steps[Insert]:
    """An INSERT of VALUES with what DEFAULT stands for in the table as it is now."""
    query = statement.query
    if not isinstance(query, Values) or not any(is_default(c) for row in query.rows for c in row):
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
    return dataclasses.replace(statement, query=dataclasses.replace(query, rows=rows), plans={})


def _default_node(fields: Sequence[Field | None], at: int) -> exp.Expr:
    field = fields[at] if at < len(fields) else None
    text = None if field is None else field.metadata.get(DEFAULT)
    return exp.Null() if text is None else parse_condition(str(text))


def is_default(node: exp.Expr) -> bool:
    """Whether a value is the keyword DEFAULT."""
    word = isinstance(node, exp.Var) or (isinstance(node, exp.Column) and not node.table)
    return word and node.name.upper() == "DEFAULT"

"""Values on their way into a column: the cast, and what Spark says if it fails.

Source: TableOutputResolver.scala (store assignment of INSERT), UpdateExpressionsSupport.scala
(UPDATE and MERGE).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import DeltaError
from whitecap.engine.log.schema import Field
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.terms import Term, convert, failing
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.values.types import Session, is_decimal, is_integral, is_numeric

Overflow = Callable[[str, str, str], DeltaError]


def inserted(term: Term, field: Field, session: Session) -> Term:
    """The term as an INSERT puts it into a column."""
    return _assigned(term, field, session, write_errors.insert_overflow)


def updated(term: Term, field: Field, session: Session) -> Term:
    """The term as UPDATE and MERGE put it into a column."""
    return _assigned(term, field, session, write_errors.write_overflow)


def _assigned(term: Term, field: Field, session: Session, overflow: Overflow) -> Term:
    """Values are cast as in ANSI mode, whatever the session says (storeAssignmentPolicy)."""
    cast = convert(term, field.type, replace(session, ansi=True))
    bounded = is_integral(field.type) or is_decimal(field.type)
    if cast.bind is term.bind or not (bounded and is_numeric(term.type)):
        return cast

    def as_overflow(error: DeltaError) -> DeltaError:
        """Source: CheckOverflowInTableWrite, CheckOverflowInTableInsert."""
        arithmetic = error.exception == "SparkArithmeticException"
        return overflow(term.type, field.type, field.name) if arithmetic else error

    return failing(cast, (DeltaError,), as_overflow)


def check_deterministic(node: exp.Expr) -> None:
    """Raises `DeltaError` for a value that differs from call to call."""
    if is_random(node):
        raise write_errors.non_deterministic(node.sql("databricks"))

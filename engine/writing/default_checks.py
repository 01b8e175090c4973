"""What may be the DEFAULT of a column, checked when it is given.

Source: Spark's ResolveDefaultColumnsUtil.scala (analyze, coerceDefaultValue), Cast.canUpCast.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.log.column_keys import CURRENT_DEFAULT
from whitecap.engine.log.columns.type_changes import text_limit
from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.expressions.terms import Term, apply, convert
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.values.casts import can_cast, try_caster
from whitecap.engine.values.coercion import can_up_cast
from whitecap.engine.values.types import Session


def check_defaults(schema: Schema, session: Session) -> None:
    """The same as `check_default` for every column of a schema that has a default."""
    for column in schema:
        if CURRENT_DEFAULT in column.metadata:
            check_default(column, str(column.metadata[CURRENT_DEFAULT]), session)


def check_default(column: Field, text: str, session: Session) -> None:
    """Raises `DeltaError` or `InvalidInput` for a default that Spark refuses for the column.

    Raises `UnsupportedFeature` for one that no write could fill in here.
    """
    node = parse_condition(text)
    term = _resolved(node, column, session)
    if not can_up_cast(term.type, column.type):
        if is_random(node) or not _fits(term, column.type, session):
            raise _refused("DATA_TYPE", f"{term.type} is no {column.type}", column)
    elif is_random(node):
        raise _refused("NON_DETERMINISTIC", "differs from call to call", column)
    try:
        value = _limited(convert(term, column.type, session), column).bind({}).evaluate(())
    except UnsupportedFeature:
        if not term.foldable:  # the time is not known before a write asks for it
            raise
        return
    limit = text_limit(column)
    if limit is not None and len(value or "") > limit.letters:
        raise write_errors.default_too_long(limit.letters)


def _resolved(node: exp.Expr, column: Field, session: Session) -> Term:
    if node.find(exp.Query) is not None:
        raise _refused("SUBQUERY_EXPRESSION", "a subquery", column)
    try:
        return compile_term(node, Scope((), session))
    except InvalidInput as error:
        refused_as = error.problems[0].refused_as
        if refused_as is None or refused_as[0] == "ParseException":
            raise
        if refused_as[1] == "UNRESOLVED_ROUTINE":
            raise
        of_column = refused_as[1].startswith("UNRESOLVED_COLUMN")
        kind = "NOT_CONSTANT" if of_column else "UNRESOLVED_EXPRESSION"
        raise _refused(kind, error.problems[0].text, column) from error


def _fits(term: Term, to_type: str, session: Session) -> bool:
    """Whether a constant of a type that does not fit has a value that does."""
    if not term.foldable or "boolean" in (term.type, to_type) or not can_cast(term.type, to_type):
        return False
    try:
        value = term.bind({}).value
    except (DeltaError, UnsupportedFeature):
        return False
    cast = try_caster(term.type, to_type, session)
    return value is None or cast is None or cast(value) is not None


def _refused(kind: str, text: str, column: Field) -> InvalidInput:
    exception = "AnalysisException" if kind == "DATA_TYPE" else "ExtendedAnalysisException"
    refused_as = exception, f"INVALID_DEFAULT_VALUE.{kind}"
    return InvalidInput([Problem(f"DEFAULT of {column.name}", text, refused_as=refused_as)])


def _limited(term: Term, field: Field) -> Term:
    """A text cut of blanks beyond its column's limit."""
    limit = text_limit(field)
    if limit is None:
        return term
    letters = limit.letters

    def fitted(text: str) -> str:
        return text if len(text) <= letters else text[:letters] + text[letters:].rstrip(" ")

    return apply(fitted, term, field.type)

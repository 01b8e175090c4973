"""From sqlglot's syntax tree to terms.

One function per kind of node, found by the node's class. What has no entry here is refused with
its text, never guessed.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import Any

from sqlglot import exp

from engine.errors import InvalidInput, Problem, UnsupportedFeature
from engine.sql import operators
from engine.sql.coercion import common_type
from engine.sql.functions import call
from engine.sql.scope import Scope
from engine.sql.terms import (
    Bound,
    Parameters,
    Term,
    apply,
    combine,
    conjunction,
    constant_bound,
    convert,
    disjunction,
    is_null,
    literal,
    negation,
    parameter,
)
from engine.sql.types import PARAMETER, decimal_type, fit_integer, integer_type, is_integral

DIALECT = "databricks"


def spark_type(node: exp.DataType) -> str:
    """A data type node as Spark's simple string."""
    name = node.sql(DIALECT).lower().replace(" ", "")
    aliases = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
    aliases["timestamp_ltz"] = "timestamp"
    if name.startswith(("varchar", "char")):
        return "string"
    return "decimal(10,0)" if name == "decimal" else aliases.get(name, name)


def compile_term(node: exp.Expr, scope: Scope) -> Term:
    """Compile an expression. Raises `InvalidInput` for unknown columns, functions and forms."""
    build = _BUILDERS.get(type(node)) or (_function if isinstance(node, exp.Func) else None)
    if isinstance(node, exp.AggFunc):
        raise UnsupportedFeature(f"aggregates: {node.sql(DIALECT)}")
    if build is None:
        raise InvalidInput([Problem(node.sql(DIALECT), f"{node.key} is not supported here")])
    try:
        return build(node, scope)
    except InvalidInput as error:
        raise InvalidInput([_placed(problem, node) for problem in error.problems]) from error


def _placed(problem: Problem, node: exp.Expr) -> Problem:
    return problem if problem.place else dataclasses.replace(problem, place=node.sql(DIALECT))


def function_name(node: exp.Expr) -> str:
    """A function's name in lower case, as sqlglot or else the user spells it."""
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        return node.sql_name().lower()
    return node.name.lower()


def compile_boolean(node: exp.Expr, scope: Scope) -> Term:
    """Compile a condition. Raises `InvalidInput` if it is not one."""
    term = compile_term(node, scope)
    if term.type in ("boolean", "void", PARAMETER):
        return term
    if term.type == "string":
        return convert(term, "boolean", scope.session)
    raise InvalidInput([Problem(node.sql(DIALECT), f"is {term.type}, not a condition")])


def _literal(node: exp.Literal, _scope: Scope) -> Term:
    if node.is_string:
        return literal(node.this, "string")
    text: str = node.this
    if "e" in text.lower():
        return literal(float(text), "double")
    if "." in text:
        number = Decimal(text)
        return literal(number, decimal_type(number))
    whole = int(text)
    type_name = integer_type(whole)
    return literal(whole if is_integral(type_name) else Decimal(whole), type_name)


def _column(node: exp.Column, scope: Scope) -> Term:
    return scope.resolve(node)


def _placeholder(node: exp.Placeholder, _scope: Scope) -> Term:
    return parameter(node.name, PARAMETER)


def _paren(node: exp.Paren, scope: Scope) -> Term:
    return compile_term(node.this, scope)


def _boolean(node: exp.Boolean, _scope: Scope) -> Term:
    return literal(bool(node.this), "boolean")


def _null(_node: exp.Expr, _scope: Scope) -> Term:
    return literal(None, "void")


def _and(node: exp.And, scope: Scope) -> Term:
    return conjunction(compile_boolean(node.left, scope), compile_boolean(node.right, scope))


def _or(node: exp.Or, scope: Scope) -> Term:
    return disjunction(compile_boolean(node.left, scope), compile_boolean(node.right, scope))


def _not(node: exp.Not, scope: Scope) -> Term:
    return negation(compile_boolean(node.this, scope))


def _sides(node: exp.Expr, scope: Scope) -> tuple[Term, Term]:
    return compile_term(node.this, scope), compile_term(node.expression, scope)


_COMPARISONS: dict[type[exp.Expr], tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    exp.EQ: (operator.eq, operator.eq),
    exp.NEQ: (operator.ne, operator.ne),
    exp.LT: (operator.lt, operator.gt),
    exp.LTE: (operator.le, operator.ge),
    exp.GT: (operator.gt, operator.lt),
    exp.GTE: (operator.ge, operator.le),
}


def _comparison(node: exp.Expr, scope: Scope) -> Term:
    left, right = _sides(node, scope)
    function, mirrored = _COMPARISONS[type(node)]
    if not any(True for _ in node.expression.find_all(exp.Column)):
        return operators.compare(function, left, right, scope.session)
    # The column first: comparing a column with a constant is the cheapest shape to run.
    return operators.compare(mirrored, right, left, scope.session)


def _null_safe(node: exp.NullSafeEQ, scope: Scope) -> Term:
    return operators.null_safe_equal(*_sides(node, scope), scope.session)


def _in(node: exp.In, scope: Scope) -> Term:
    if node.args.get("query"):
        raise InvalidInput([Problem(node.sql(DIALECT), "subqueries are not supported here")])
    if not node.expressions:
        raise InvalidInput([Problem(node.sql(DIALECT), "the list is empty")])
    members = [compile_term(member, scope) for member in node.expressions]
    return operators.is_in(compile_term(node.this, scope), members, scope.session)


def _between(node: exp.Between, scope: Scope) -> Term:
    value = compile_term(node.this, scope)
    low, high = (compile_term(node.args[key], scope) for key in ("low", "high"))
    return conjunction(
        operators.compare(operator.ge, value, low, scope.session),
        operators.compare(operator.le, value, high, scope.session),
    )


def _is(node: exp.Is, scope: Scope) -> Term:
    term = compile_term(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return is_null(term)
    expected = compile_term(node.expression, scope)
    return operators.null_safe_equal(term, expected, scope.session)


def _arithmetic(symbol: str) -> Callable[[Any, Scope], Term]:
    def build(node: exp.Binary, scope: Scope) -> Term:
        return operators.arithmetic(symbol, *_sides(node, scope), scope.session)

    return build


def _whole_division(node: exp.IntDiv, scope: Scope) -> Term:
    return combine(operators.whole_divide, *_sides(node, scope), "bigint")


def _negative(node: exp.Neg, scope: Scope) -> Term:
    if isinstance(node.this, exp.Literal) and node.this.is_int:
        value = -int(node.this.this)
        return literal(value, integer_type(value))
    term = compile_term(node.this, scope)
    if is_integral(term.type):
        return apply(lambda value: fit_integer(-value, term.type), term, term.type)
    return apply(operator.neg, term, term.type)


def _bits(function: Callable[[int, int], int]) -> Callable[[Any, Scope], Term]:
    def build(node: exp.Binary, scope: Scope) -> Term:
        left, right = _sides(node, scope)
        return combine(function, left, right, common_type(left.type, right.type))

    return build


def _like(node: exp.Expr, scope: Scope) -> Term:
    return operators.like(*_sides(node, scope), ignore_case=isinstance(node, exp.ILike))


def _escaped_like(node: exp.Escape, scope: Scope) -> Term:
    inner = node.this
    return operators.like(
        *_sides(inner, scope), node.expression.name, ignore_case=isinstance(inner, exp.ILike)
    )


def _rlike(node: exp.RegexpLike, scope: Scope) -> Term:
    return operators.regexp_like(*_sides(node, scope))


def _cast(node: exp.Cast, scope: Scope) -> Term:
    return convert(compile_term(node.this, scope), spark_type(node.to), scope.session)


def _try_cast(node: exp.TryCast, scope: Scope) -> Term:
    session = type(scope.session)(scope.session.time_zone, ansi=False)
    return convert(compile_term(node.this, scope), spark_type(node.to), session)


def _choice(branches: list[tuple[Term, Term]], default: Term, scope: Scope) -> Term:
    types = [value.type for _, value in branches] + [default.type]
    result = reduce(common_type, types)
    values = [convert(value, result, scope.session) for _, value in branches]
    last = convert(default, result, scope.session)

    def bind(parameters: Parameters) -> Bound:
        pairs = [
            (condition.bind(parameters).evaluate, value.bind(parameters).evaluate)
            for (condition, _), value in zip(branches, values, strict=True)
        ]
        otherwise = last.bind(parameters).evaluate

        def run(row: Any) -> Any:
            for condition, value in pairs:
                if condition(row) is True:
                    return value(row)
            return otherwise(row)

        return Bound(run)

    return Term(result, bind)


def _if(node: exp.If, scope: Scope) -> Term:
    branch = (compile_boolean(node.this, scope), compile_term(node.args["true"], scope))
    default = node.args.get("false") or exp.Null()
    return _choice([branch], compile_term(default, scope), scope)


def _case(node: exp.Case, scope: Scope) -> Term:
    branches = []
    for branch in node.args["ifs"]:
        test = exp.EQ(this=node.this.copy(), expression=branch.this.copy()) if node.this else None
        condition = compile_boolean(test or branch.this, scope)
        branches.append((condition, compile_term(branch.args["true"], scope)))
    return _choice(branches, compile_term(node.args.get("default") or exp.Null(), scope), scope)


def _interval(node: exp.Interval, _scope: Scope) -> Term:
    span = operators.to_datetime_span(int(node.this.name), node.args["unit"].name)
    return Term("interval", lambda _parameters: constant_bound(span))


def _join_text(node: exp.DPipe, scope: Scope) -> Term:
    return call("concat", _sides(node, scope), scope.session)


def _date_shift(node: exp.TsOrDsAdd, scope: Scope) -> Term:
    return call("date_add", _sides(node, scope), scope.session)


def _same(node: exp.Expr, scope: Scope) -> Term:
    return compile_term(node.this, scope)


def _to_date(node: exp.TsOrDsToDate, scope: Scope) -> Term:
    return convert(compile_term(node.this, scope), "date", scope.session)


def _extract(node: exp.Extract, scope: Scope) -> Term:
    return call(node.name.lower(), [compile_term(node.expression, scope)], scope.session)


def _instant_trunc(node: exp.Expr, scope: Scope) -> Term:
    unit = literal(node.args["unit"].name, "string")
    return call("date_trunc", [unit, compile_term(node.this, scope)], scope.session)


def _date_trunc(node: exp.Expr, scope: Scope) -> Term:
    unit = literal(node.args["unit"].name, "string")
    return call("trunc", [compile_term(node.this, scope), unit], scope.session)


def _anonymous(node: exp.Anonymous, scope: Scope) -> Term:
    terms = [compile_term(argument, scope) for argument in node.expressions]
    return call(node.name.lower(), terms, scope.session)


def _function(node: exp.Expr, scope: Scope) -> Term:
    terms: list[Term] = []
    for key in node.arg_types:
        value = node.args.get(key)
        nodes = value if isinstance(value, list) else [value]
        terms.extend(
            compile_term(n, scope) for n in nodes if isinstance(n, exp.Expr) and key != "unit"
        )
    return call(_FUNCTION_NAMES.get(type(node)) or function_name(node), terms, scope.session)


_FUNCTION_NAMES: dict[type[exp.Expr], str] = {
    exp.DateDiff: "date_diff",
    exp.TsOrDsDiff: "date_diff",
    exp.DateSub: "date_sub",
    exp.DateAdd: "date_add",
    exp.StartsWith: "starts_with",
    exp.EndsWith: "ends_with",
    exp.DayOfMonth: "day",
}

_BUILDERS: dict[type[exp.Expr], Callable[[Any, Scope], Term]] = {
    exp.Literal: _literal,
    exp.Column: _column,
    exp.Placeholder: _placeholder,
    exp.Paren: _paren,
    exp.Boolean: _boolean,
    exp.Null: _null,
    exp.And: _and,
    exp.Or: _or,
    exp.Not: _not,
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.NullSafeEQ: _null_safe,
    exp.In: _in,
    exp.Between: _between,
    exp.Is: _is,
    exp.Add: _arithmetic("+"),
    exp.Sub: _arithmetic("-"),
    exp.Mul: _arithmetic("*"),
    exp.Div: _arithmetic("/"),
    exp.Mod: _arithmetic("%"),
    exp.IntDiv: _whole_division,
    exp.Neg: _negative,
    exp.BitwiseAnd: _bits(operator.and_),
    exp.BitwiseOr: _bits(operator.or_),
    exp.BitwiseXor: _bits(operator.xor),
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escaped_like,
    exp.RegexpLike: _rlike,
    exp.Cast: _cast,
    exp.TryCast: _try_cast,
    exp.If: _if,
    exp.Case: _case,
    exp.Interval: _interval,
    exp.DPipe: _join_text,
    exp.TsOrDsAdd: _date_shift,
    exp.TsOrDsToDate: _to_date,
    exp.TimeStrToTime: _same,
    exp.Extract: _extract,
    exp.TimestampTrunc: _instant_trunc,
    exp.DateTrunc: _date_trunc,
    exp.Anonymous: _anonymous,
}

"""Calls of functions in the syntax tree, and forms of their own: CASE, EXTRACT, TRIM and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.building import Builder, Builders, Compiler
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Term, convert
from whitecap.engine.sql.functions.guard import Function
from whitecap.engine.sql.functions.instants import added, between
from whitecap.engine.sql.functions.operators import OPERATORS
from whitecap.engine.sql.functions.spans import interval, is_unit
from whitecap.engine.sql.functions.table import NON_DETERMINISTIC, call, check_name
from whitecap.engine.sql.functions.times import FIELD_NAMES, FIELDS
from whitecap.engine.values.types import is_decimal, is_integral

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ)
"""The operators that hold two values against each other."""

MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.NullSafeEQ: exp.NullSafeEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
"""What a comparison is with its sides exchanged."""

NEGATED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
"""What a comparison is under NOT."""

_WITH_UNITS: dict[str, Callable[[str], Function]] = {
    **dict.fromkeys(("dateadd", "date_add", "timestampadd"), added),
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff"), between),
}
"""Functions of three arguments whose first is a unit of time, by its bare name."""


_WHOLE = re.compile(r"-?[0-9]{1,18}\Z")


def function_name(node: exp.Expr) -> str:
    """A function's name in lower case, as the user spells it."""
    return node.name.lower()


def is_random(node: exp.Expr) -> bool:
    """Whether an expression differs from call to call."""
    return any(function_name(call) in NON_DETERMINISTIC for call in node.find_all(exp.Func))


def _called(node: exp.Anonymous, compiler: Compiler) -> Term:
    name, nodes = function_name(node), node.expressions
    with_unit = _WITH_UNITS.get(name)
    if with_unit is not None and len(nodes) == 3 and is_unit(nodes[0].name):
        function = with_unit(nodes[0].name)
        return function.call(name, compiler.terms(nodes[1:]), compiler.session)
    if name == "date_part" and len(nodes) == 2:
        return _field_by_text(name, nodes, compiler)
    if name in ("timestampadd", "timestampdiff"):
        raise UnsupportedFeature(f"{name}() of these arguments")
    check_name(name)
    if name in OPERATORS:
        return operator_call(name, nodes, compiler)
    return call(name, compiler.terms(nodes), compiler.session)


def operator_call(name: str, nodes: Sequence[exp.Expr], compiler: Compiler) -> Term:
    """An operator; a whole literal beside a decimal is as wide as its digits.

    Source: DecimalPrecision.
    """
    terms = compiler.terms(nodes)
    if any(is_decimal(term.type) for term in terms):
        terms = [_of_digits(term, node) for term, node in zip(terms, nodes, strict=True)]
    return call(name, terms, compiler.session)


def _of_digits(term: Term, node: exp.Expr) -> Term:
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Literal) and inner.is_int and is_integral(term.type):
        return convert(term, f"decimal({len(str(int(inner.this)))},0)")
    return term


def _field_by_text(name: str, nodes: list[exp.Expr], compiler: Compiler) -> Term:
    """date_part: extract, the field's name given as a text."""
    field, source = nodes
    if isinstance(field, exp.Null):
        raise UnsupportedFeature(f"{name}() of NULL")
    if not (isinstance(field, exp.Literal) and field.is_string):
        refused_as = "AnalysisException", "NON_FOLDABLE_ARGUMENT"
        raise InvalidInput([Problem(name, "the field is no text", refused_as=refused_as)])
    return _field(field.name, compiler.term(source), compiler)


def _field(name: str, source: Term, compiler: Compiler) -> Term:
    field = FIELD_NAMES.get(name.lower())
    if field is None:
        refused_as = "AnalysisException", "INVALID_EXTRACT_FIELD"
        raise InvalidInput([Problem(name, "no field of a day or instant", None, refused_as)])
    return FIELDS[field].call(f"extract {field}", [source], compiler.session)


def _extract(node: exp.Extract, compiler: Compiler) -> Term:
    return _field(node.name, compiler.term(node.expression), compiler)


def _if(node: exp.If, compiler: Compiler) -> Term:
    nodes = [node.this, node.args["true"], node.args.get("false")]
    terms = compiler.terms([part for part in nodes if part is not None])
    return call("if", terms, compiler.session)


def _case(node: exp.Case, compiler: Compiler) -> Term:
    nodes: list[exp.Expr] = []
    for branch in node.args["ifs"]:
        asked = node.this
        test = exp.EQ(this=asked.copy(), expression=branch.this.copy()) if asked else branch.this
        nodes += [test, branch.args["true"]]
    default = node.args.get("default")
    return call("case", compiler.terms(nodes + ([default] if default else [])), compiler.session)


def _interval(node: exp.Interval, _compiler: Compiler) -> Term:
    unit, count = node.args.get("unit"), node.this
    sign = -1 if isinstance(count, exp.Neg) else 1
    count = count.this if isinstance(count, exp.Neg) else count
    text = count.name.strip() if isinstance(count, exp.Literal) else ""
    if not isinstance(unit, exp.Var) or not _WHOLE.match(text):
        raise UnsupportedFeature(f"intervals of this form: {node.sql(DIALECT)}")
    return interval(sign * int(text), unit.name)


def _named(name: str, *keys: str) -> Builder:
    """A form that stands for a function of these parts, as far as they are there."""

    def build(node: exp.Expr, compiler: Compiler) -> Term:
        parts = [node.args.get(key) for key in keys]
        return call(name, compiler.terms([part for part in parts if part]), compiler.session)

    return build


FUNCTION_NODES: Builders = {
    exp.Anonymous: _called,
    exp.If: _if,
    exp.Case: _case,
    exp.Interval: _interval,
    exp.Extract: _extract,
    exp.DPipe: _named("concat", "this", "expression"),
    exp.StartsWith: _named("startswith", "this", "expression"),
    exp.CurrentDate: _named("current_date"),
    exp.CurrentTimestamp: _named("current_timestamp"),
}

"""Functions, CASE and IF in the syntax tree: sqlglot gives many a node of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql import operators
from whitecap.engine.sql.building import BUILDERS, DIALECT, compile_boolean, compile_term
from whitecap.engine.sql.coercion import common_type
from whitecap.engine.sql.function_shapes import Build
from whitecap.engine.sql.functions import call
from whitecap.engine.sql.scope import Scope
from whitecap.engine.sql.terms import Bound, Parameters, Term, constant_bound, convert, literal
from whitecap.engine.sql.text_functions import stripped
from whitecap.engine.sql.time_functions import difference, shifted


def function_name(node: exp.Expr) -> str:
    """A function's name in lower case, as sqlglot or else the user spells it."""
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        return node.sql_name().lower()
    return node.name.lower()


def _choice(branches: list[tuple[Term, Term]], default: Term, scope: Scope) -> Term:
    types = [value.type for _, value in branches] + [default.type]
    result = reduce(common_type, types)
    values = [convert(value, result, scope.session) for _, value in branches]
    last = convert(default, result, scope.session)

    def bind(parameters: Parameters) -> Bound:
        pairs = [
            (condition.bind(parameters), value.bind(parameters))
            for (condition, _), value in zip(branches, values, strict=True)
        ]
        otherwise = last.bind(parameters)

        def run(row: Any) -> Any:
            for condition, value in pairs:
                if condition.evaluate(row) is True:
                    return value.evaluate(row)
            return otherwise.evaluate(row)

        parts = [otherwise, *(bound for pair in pairs for bound in pair)]
        return constant_bound(run(())) if all(p.is_constant for p in parts) else Bound(run)

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


def _decode(node: exp.DecodeCase, scope: Scope) -> Term:
    """decode: the result beside the first value that equals the one asked about, NULL too."""
    asked, *rest = node.expressions
    pairs = list(zip(rest[::2], rest[1::2], strict=False))
    default = rest[-1] if len(rest) % 2 else exp.Null()
    branches = [
        (
            compile_boolean(exp.NullSafeEQ(this=asked.copy(), expression=one.copy()), scope),
            compile_term(result, scope),
        )
        for one, result in pairs
    ]
    return _choice(branches, compile_term(default, scope), scope)


def _interval(node: exp.Interval, _scope: Scope) -> Term:
    unit, count = node.args.get("unit"), node.this
    sign = -1 if isinstance(count, exp.Neg) else 1
    count = count.this if isinstance(count, exp.Neg) else count
    if not isinstance(unit, exp.Var) or not isinstance(count, exp.Literal):
        raise UnsupportedFeature(f"intervals of this form: {node.sql(DIALECT)}")
    span = operators.to_datetime_span(sign * int(count.name), unit.name)
    return Term("interval", lambda _parameters: constant_bound(span))


def _both(node: exp.Expr, scope: Scope) -> list[Term]:
    return [compile_term(one, scope) for one in (node.this, node.args["expression"])]


def _join_text(node: exp.DPipe, scope: Scope) -> Term:
    return call("concat", _both(node, scope), scope.session)


def _date_shift(node: exp.TsOrDsAdd, scope: Scope) -> Term:
    return call("date_add", _both(node, scope), scope.session)


def _same(node: exp.Expr, scope: Scope) -> Term:
    return compile_term(node.this, scope)


def _to_day(node: exp.TsOrDsToDate, scope: Scope) -> Term:
    return convert(compile_term(node.this, scope), "date", scope.session)


def _extract(node: exp.Extract, scope: Scope) -> Term:
    part = node.name.lower()
    return call(_PARTS.get(part, part), [compile_term(node.expression, scope)], scope.session)


def _instant_trunc(node: exp.Expr, scope: Scope) -> Term:
    unit = literal(node.args["unit"].name, "string")
    return call("date_trunc", [unit, compile_term(node.this, scope)], scope.session)


def _date_trunc(node: exp.Expr, scope: Scope) -> Term:
    unit = literal(node.args["unit"].name, "string")
    return call("trunc", [compile_term(node.this, scope), unit], scope.session)


def _named(name: str) -> Callable[[Any, Scope], Term]:
    """A node that stands for a function without arguments."""
    return lambda _node, scope: call(name, [], scope.session)


def _trim(node: exp.Trim, scope: Scope) -> Term:
    parts = [node.this, *([node.expression] if node.args.get("expression") else [])]
    side = str(node.args.get("position") or "BOTH").upper()
    return stripped(side)([compile_term(part, scope) for part in parts], scope.session)


def _place(node: exp.StrPosition, scope: Scope) -> Term:
    terms = [compile_term(node.args["substr"], scope), compile_term(node.this, scope)]
    return call("locate", terms, scope.session)


def _of_unit(build: Callable[[str], Build], plain: str) -> Callable[[Any, Scope], Term]:
    """A function that may name a unit; without one it is about days."""

    def term(node: exp.Expr, scope: Scope) -> Term:
        terms = _both(node, scope)
        unit = node.args.get("unit")
        if unit is None or (unit.name.upper() == "DAY" and type(node) in _OF_DAYS):
            return call(plain, terms, scope.session)
        return build(unit.name)(terms, scope.session)

    return term


_OF_DAYS = (exp.DateAdd, exp.DateSub, exp.DateDiff, exp.TsOrDsDiff)


def _part_of_date(terms: list[Term], session: Any) -> Term:
    """date_part: extract, the part's name given as a text."""
    name = terms[0].bind({}).value
    return call(_PARTS.get(str(name).lower(), str(name).lower()), terms[1:], session)


_PARTS = {
    "dow": "day_of_week", "dayofweek": "day_of_week", "doy": "day_of_year", "week": "week_of_year",
    "days": "day", "d": "day", "months": "month", "mon": "month", "years": "year", "y": "year",
    "hours": "hour", "h": "hour", "minutes": "minute", "seconds": "second", "qtr": "quarter",
    "dow_iso": "weekday_iso", "weeks": "week_of_year",
}  # fmt: skip


def _anonymous(node: exp.Anonymous, scope: Scope) -> Term:
    terms = [compile_term(argument, scope) for argument in node.expressions]
    name = node.name.lower()
    if name in ("date_part", "datepart"):
        return _part_of_date(terms, scope.session)
    return call(name, terms, scope.session)


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
    exp.DateSub: "date_sub",
    exp.StartsWith: "starts_with",
    exp.EndsWith: "ends_with",
    exp.DayOfMonth: "day",
}

BUILDERS.update(
    {
        exp.If: _if,
        exp.Case: _case,
        exp.DecodeCase: _decode,
        exp.Interval: _interval,
        exp.DPipe: _join_text,
        exp.TsOrDsAdd: _date_shift,
        exp.TimeStrToTime: _same,
        exp.TsOrDsToDate: _to_day,
        exp.Extract: _extract,
        exp.TimestampTrunc: _instant_trunc,
        exp.DateTrunc: _date_trunc,
        exp.CurrentDate: _named("current_date"),
        exp.CurrentTimestamp: _named("current_timestamp"),
        exp.Localtimestamp: _named("localtimestamp"),
        exp.Trim: _trim,
        exp.StrPosition: _place,
        exp.TimestampAdd: _of_unit(shifted, "date_add"),
        exp.DateAdd: _of_unit(shifted, "date_add"),
        exp.TimestampDiff: _of_unit(difference, "date_diff"),
        exp.DateDiff: _of_unit(difference, "date_diff"),
        exp.TsOrDsDiff: _of_unit(difference, "date_diff"),
        exp.Anonymous: _anonymous,
        exp.Func: _function,
    }
)

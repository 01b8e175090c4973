"""Functions that choose between values, by conditions or by what is there.

Source: Spark's conditionalExpressions.scala, nullExpressions.scala. Only the value that is chosen
is computed, so what is wrong with another one does not matter.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from whitecap.engine.sql.expressions.logic import is_null, negation
from whitecap.engine.sql.expressions.terms import (
    Bound,
    Parameters,
    RowValues,
    Term,
    bound_to,
    convert,
    each,
    in_branch,
    literal,
)
from whitecap.engine.sql.functions.guard import (
    Function,
    Kind,
    as_kind,
    check_count,
    in_common,
)
from whitecap.engine.sql.functions.operators import compare
from whitecap.engine.values.coercion import check_texts, common_of, mismatch
from whitecap.engine.values.keys import sort_key
from whitecap.engine.values.types import FRACTIONAL, Session

_NULL = literal(None, "void")
_CONDITION = Kind(("boolean",), implicit=False)


def choice(branches: Sequence[tuple[Term, Term]], default: Term) -> Term:
    """The value beside the first condition that holds, all values being of one type."""

    def bind(parameters: Parameters) -> Bound:
        pairs = [(c.bind(parameters), in_branch(v, parameters)) for c, v in branches]
        otherwise = in_branch(default, parameters)

        def run(row: RowValues) -> Any:
            for condition, value in pairs:
                if condition.evaluate(row) is True:
                    return value.evaluate(row)
            return otherwise.evaluate(row)

        parts = [otherwise, *(bound for pair in pairs for bound in pair)]
        return bound_to(parts, run)

    parts = [default, *(term for branch in branches for term in branch)]
    return Term(default.type, bind, all(term.foldable for term in parts))


def _branches(terms: Sequence[Term]) -> tuple[list[tuple[Term, Term]], Term]:
    """Conditions with their values, and the default: given last, else NULL."""
    paired = terms[: len(terms) // 2 * 2]
    default = terms[-1] if len(terms) % 2 else _NULL
    return list(zip(paired[::2], paired[1::2], strict=True)), default


def _case_takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
    check_count(name, len(terms), 2, None)
    branches, default = _branches(terms)
    if name == "case" and any(condition.type == "void" for condition, _ in branches):
        raise mismatch("UNEXPECTED_INPUT_TYPE", "a condition of CASE is NULL")
    conditions = [
        as_kind(name, at * 2, c, _CONDITION, session) for at, (c, _) in enumerate(branches)
    ]
    types = [default.type, *(value.type for _, value in branches)]
    common = common_of(types)
    check_texts(types, session)
    values = [convert(value, common, session) for _, value in branches]
    pairs = zip(conditions, values, strict=True)
    return [*(term for pair in pairs for term in pair), convert(default, common, session)]


def _case(terms: Sequence[Term], _session: Session) -> Term:
    return choice(*_branches(terms))


def _if_takes(name: str, terms: Sequence[Term], session: Session) -> list[Term]:
    check_count(name, len(terms), 3, 3)
    return _case_takes(name, terms, session)


def _first_of(terms: Sequence[Term], _session: Session) -> Term:
    """The first value that is there."""

    def bind(parameters: Parameters) -> Bound:
        bounds = [terms[0].bind(parameters), *(in_branch(term, parameters) for term in terms[1:])]

        def run(row: RowValues) -> Any:
            values = (bound.evaluate(row) for bound in bounds)
            return next((value for value in values if value is not None), None)

        return bound_to(bounds, run)

    return Term(terms[0].type, bind, all(term.foldable for term in terms))


def _extreme(choose: Callable[..., Any]) -> Function:
    """The greatest or least value that is there; NaN is greater than all."""

    def build(terms: Sequence[Term], _session: Session) -> Term:
        key = sort_key if terms[0].type in FRACTIONAL else None

        def extreme(*values: Any) -> Any:
            return choose((v for v in values if v is not None), default=None, key=key)

        return each(extreme, terms, terms[0].type)

    return Function(in_common(2, with_texts=False), build)


def _null_if(terms: Sequence[Term], session: Session) -> Term:
    term, unwanted = terms
    equal = compare(operator.eq, term, unwanted, session)
    return choice([(equal, literal(None, term.type))], term)


def _two(name: str, terms: Sequence[Term], _session: Session) -> Sequence[Term]:
    check_count(name, len(terms), 2, 2)
    return terms


def _single(name: str, terms: Sequence[Term], _session: Session) -> Sequence[Term]:
    check_count(name, len(terms), 1, 1)
    return terms


CHOICES: dict[str, Function] = {
    "case": Function(_case_takes, _case),
    "if": Function(_if_takes, _case),
    "coalesce": Function(in_common(1), _first_of),
    "ifnull": Function(in_common(2, 2), _first_of),
    "nvl": Function(in_common(2, 2), _first_of),
    "nullif": Function(_two, _null_if),
    "greatest": _extreme(max),
    "least": _extreme(min),
    "isnull": Function(_single, lambda terms, _session: is_null(terms[0]), any_type=True),
    "isnotnull": Function(_single, lambda terms, _s: negation(is_null(terms[0])), any_type=True),
    "typeof": Function(_single, lambda terms, _session: literal(terms[0].type, "string")),
}
"""By Spark's names; `case` is a CASE without an operand."""

"""Three-valued logic: AND, OR and NOT of terms, and what is NULL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whitecap.engine.sql.expressions.terms import (
    Bound,
    Evaluate,
    Parameters,
    RowValues,
    Term,
    apply,
    constant_bound,
)


def conjunction(left: Term, right: Term) -> Term:
    """AND: false wins over NULL."""
    return _decided_by(False, left, right, both)


def _decided_by(
    truth: bool, left: Term, right: Term, join: Callable[[Evaluate, Evaluate], Evaluate]
) -> Term:
    """AND or OR: a constant decides it or does nothing to it."""

    constant = left.foldable and right.foldable

    def bind(parameters: Parameters) -> Bound:
        first = left.bind(parameters)
        if constant and first.is_constant and first.value is truth:
            return first
        second = right.bind(parameters)
        for bound, opposite in ((first, second), (second, first)):
            if bound.is_constant and bound.value is not None:
                return bound if bound.value is truth else opposite
        return Bound(join(first.evaluate, second.evaluate))

    return Term("boolean", bind, constant)


def both(first: Evaluate, second: Evaluate) -> Evaluate:
    """AND of two conditions; the second is not asked for where the first is false."""

    def run(row: RowValues) -> Any:
        left = first(row)
        if left is False:
            return False
        right = second(row)
        return right if left is True or right is False else None

    return run


def disjunction(left: Term, right: Term) -> Term:
    """OR: true wins over NULL."""
    return _decided_by(True, left, right, either)


def either(first: Evaluate, second: Evaluate) -> Evaluate:
    """OR of two conditions; the second is not asked for where the first is true."""

    def run(row: RowValues) -> Any:
        left = first(row)
        if left is True:
            return True
        right = second(row)
        return right if left is False or right is True else None

    return run


def is_null(term: Term) -> Term:
    """IS NULL: never NULL itself."""

    def bind(parameters: Parameters) -> Bound:
        bound = term.bind(parameters)
        if bound.is_constant:
            return constant_bound(bound.value is None)
        if bound.column is not None:
            index = bound.column
            return Bound(lambda row: row[index] is None)
        evaluate = bound.evaluate
        return Bound(lambda row: evaluate(row) is None)

    return Term("boolean", bind, term.foldable)


def negation(term: Term) -> Term:
    """NOT: NULL stays NULL."""
    return apply(lambda value: not value, term, "boolean")

"""What asks for no parameter is bound once; what asks for one, or fails, is bound each time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.errors import DeltaError
from whitecap.engine.sql.expressions.bound_once import BoundOnce, evaluation
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.predicates.compiler import compile_term

SCOPE = Scope((Relation(frozenset({""}), ("k", "name"), ("bigint", "string")),))
EXPRESSIONS = [
    "k + 1",
    "k + :a",
    "k IN (1, :a, :b)",
    "CASE WHEN k > 2 THEN name ELSE 'none' END",
    "CASE WHEN k > 2 THEN k ELSE :b END",
    "coalesce(name, 'x')",
]


@given(
    st.sampled_from(EXPRESSIONS),
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=4),
    st.tuples(st.integers(-3, 3) | st.none(), st.sampled_from(["a", None])),
)
def test_a_term_has_the_same_value_bound_once_or_each_time(
    text: str, values: list[tuple[int, int]], row: tuple[int | None, str | None]
) -> None:
    term = compile_term(parse_condition(text), SCOPE)
    once = evaluation(term)
    for a, b in values:
        parameters = {"a": a, "b": b}
        assert once(parameters)(row) == term.bind(parameters).evaluate(row)


@pytest.mark.parametrize(
    ("asks", "times"),
    [
        (lambda _: "same", 1),
        (lambda parameters: parameters["a"], 3),
        (lambda parameters: parameters.get("b"), 3),
        (lambda parameters: "b" in parameters, 3),
        (lambda parameters: bool(parameters), 3),
        (lambda parameters: list(parameters), 3),
    ],
)
def test_only_what_asks_for_no_parameter_is_made_once(
    asks: Callable[[Parameters], object], times: int
) -> None:
    made: list[object] = []

    def make(parameters: Parameters) -> int:
        made.append(asks(parameters))
        return len(made)

    once = BoundOnce(make)
    for value in range(3):
        once({"a": value})
    assert len(made) == times


def test_what_fails_fails_each_time() -> None:
    once = evaluation(compile_term(parse_condition("k + 1 / 0"), SCOPE))
    for _ in range(2):
        with pytest.raises(DeltaError, match="DIVIDE_BY_ZERO"):
            once({})((1, "a"))

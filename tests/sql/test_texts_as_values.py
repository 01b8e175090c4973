"""Texts and fractions that become values of another type, as Spark 4.2 was seen to read them."""

from __future__ import annotations

from typing import Any

import pytest

from whitecap.engine.errors import DeltaError
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.values.texts import from_text
from whitecap.engine.values.types import DEFAULT_SESSION


def _value(sql: str) -> Any:
    node = parse_node(f"SELECT {sql}").expressions[0].unalias()
    return compile_term(node, Scope((), DEFAULT_SESSION)).bind({}).value


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\x01", "\x1f"])
@pytest.mark.parametrize(("text", "type_name", "value"), [("1", "int", 1), ("1.5", "double", 1.5)])
def test_blanks_and_control_characters_around_a_number_are_left_out(
    blank: str, text: str, type_name: str, value: Any
) -> None:
    assert from_text(f"{blank}{text}{blank}", type_name) == value


@pytest.mark.parametrize("blank", ["\u00a0", "\u2003"])
@pytest.mark.parametrize(
    ("text", "type_name"),
    [("1", "int"), ("1.5", "double"), ("1", "decimal(5,2)"), ("2026-01-01", "date")],
)
def test_blanks_beyond_ascii_are_part_of_a_text(blank: str, text: str, type_name: str) -> None:
    with pytest.raises(DeltaError, match="CAST_INVALID_INPUT"):
        from_text(f"{blank}{text}", type_name)


def test_the_bound_of_whole_numbers_as_a_fraction_is_the_greatest_of_them() -> None:
    assert _value("CAST(9.223372036854775807E18D AS BIGINT)") == 9223372036854775807
    with pytest.raises(DeltaError, match="CAST_OVERFLOW"):
        _value("CAST(-9.3E18D AS BIGINT)")

"""The guard for values: what functions and operators say to arguments of every type.

Real Spark 4.2 was asked each of these (`make answers`). The engine gives the same value, fails in
the same way, or refuses by name; never otherwise, and never in an error of Python's.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from sqlglot import exp

from tests.sql.observe_values import observed
from tests.sql.random_expressions import COLUMNS, expressions, parameters
from tests.sql.value_answers import kept
from tests.sql.value_engine import engine_answer, outcome
from tests.sql.value_probes import Probe, probes
from whitecap.engine.errors import DeltaError, InvalidInput, InvalidLog, UnsupportedFeature
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.spark_text import AGGREGATES as PARSED_AGGREGATES
from whitecap.engine.sql.expressions.syntax_trees import parse_condition, parse_node
from whitecap.engine.sql.functions.aggregates import AGGREGATES
from whitecap.engine.sql.functions.spark_names import SPARK_FUNCTIONS
from whitecap.engine.sql.functions.table import FUNCTIONS
from whitecap.engine.sql.functions.times import NOW
from whitecap.engine.sql.predicates.compiler import compile_term

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = kept()
BY_FORM: defaultdict[str, dict[Probe, str]] = defaultdict(dict)
for _probe, _answer in KEPT.items():
    BY_FORM[_probe.form][_probe] = _answer
MOST_REFUSED = 3_910
"""Of all probes: nested values and intervals are most of them. Fewer is better."""


def test_every_probe_has_an_answer() -> None:
    assert set(probes()) == set(KEPT)


def test_every_function_and_operator_is_probed() -> None:
    forms = " ".join(BY_FORM).lower()
    operators = {"and", "case", "div", "negative", "not", "or"}
    names = {name for name in FUNCTIONS if name.isidentifier()} - operators
    assert sorted((names | set(AGGREGATES)) - set(re.findall(r"\w+(?=\()", forms))) == []
    signs = [name for name in FUNCTIONS if not name.isidentifier()]
    assert [
        sign for sign in signs if f" {sign} " not in forms and f"{sign} {{0}}" not in forms
    ] == []
    assert set(PARSED_AGGREGATES) == set(AGGREGATES)


@pytest.mark.parametrize("form", BY_FORM)
def test_the_engine_answers_as_spark_does_or_refuses_by_name(form: str) -> None:
    answers = BY_FORM[form]
    ours = {probe: engine_answer(probe) for probe in answers}
    wrong = {
        probe.sql: (answers[probe], ours[probe])
        for probe in answers
        if outcome(answers[probe], ours[probe]) not in ("agreed", "refused")
    }
    assert wrong == {}


def test_most_probes_are_answered() -> None:
    outcomes = Counter(outcome(answer, engine_answer(probe)) for probe, answer in KEPT.items())
    assert outcomes["refused"] <= MOST_REFUSED
    assert outcomes.keys() == {"agreed", "refused"}


@pytest.mark.spark
def test_spark_still_says_what_was_written_down(spark: SparkSession) -> None:
    sample = random.Random(4).sample(sorted(KEPT), 60)
    assert observed(spark, sample) == {probe: KEPT[probe] for probe in sample}


@pytest.mark.parametrize("name", sorted(SPARK_FUNCTIONS))
def test_no_function_of_sparks_is_called_unknown(name: str) -> None:
    for count in range(4):
        answer = engine_answer(Probe(f"{name}({', '.join(['s'] * count)})"))
        assert "UNRESOLVED_ROUTINE" not in answer


def test_words_that_stand_for_days_are_not_called_malformed() -> None:
    for word in ("yesterday", "Today ", "now", "epoch", "tomorrow UTC"):
        assert engine_answer(Probe(f"DATE'{word}'")).startswith("- the word")
        assert engine_answer(Probe(f"day > '{word}'")).startswith("- the word")


_SCHEMA = parse_ddl(", ".join(f"{name} {kind}" for name, kind in COLUMNS.items()))
_SCOPE = Scope((Relation.of(_SCHEMA, "t"),))
_NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_BLANK = (None,) * len(_SCHEMA)


@settings(max_examples=400)
@given(expressions(), parameters())
def test_no_expression_ends_in_an_error_of_pythons(sql: str, given_value: object) -> None:
    try:
        node = parse_condition(sql)
        assert isinstance(node, exp.Expr)
        bound = compile_term(node, _SCOPE).bind({NOW: _NOON, "given": given_value})
        bound.evaluate(_BLANK)
    except InvalidLog:
        raise
    except (DeltaError, InvalidInput, UnsupportedFeature):
        pass


@pytest.mark.parametrize("text", ["(" * 99 + "1" + ")" * 99, "abs(" * 99 + "1" + ")" * 99])
def test_what_is_nested_too_deeply_is_refused_by_name(text: str) -> None:
    with pytest.raises(UnsupportedFeature, match="nested"):
        parse_node(f"SELECT {text}")


def test_long_chains_of_conditions_are_not_deep() -> None:
    text = " OR ".join(f"i = {number}" for number in range(5_000))
    term = compile_term(parse_condition(text), _SCOPE)
    row: list[Any] = list(_BLANK)
    row[list(COLUMNS).index("i")] = 4_999
    assert term.bind({}).evaluate(tuple(row)) is True

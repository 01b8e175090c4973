"""Conditions that Spark's optimizer finds that no row meets, and such that it does not see through.

The answers are those of Spark 4.2.0: whether the plan of `SELECT * FROM t WHERE condition` on a
Delta table is an empty relation.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whitecap.engine.log.schema import Field, Schema
from whitecap.engine.sql.predicates.predicate import parse_predicate
from whitecap.engine.sql.predicates.propagation import propagated
from whitecap.engine.values.types import DEFAULT_SESSION

ANSWERS = json.loads((Path(__file__).parent / "spark_empty_plans.json").read_text())
COLUMNS = {
    "id": "bigint", "n": "int", "m": "int", "k": "string", "s": "string", "d": "date",
    "p": "decimal(10,2)", "b": "boolean",
}  # fmt: skip
SCHEMA = Schema(tuple(Field(name, type_name) for name, type_name in COLUMNS.items()))


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["condition"])
def test_what_no_row_can_meet_is_what_spark_finds(answer: dict[str, object]) -> None:
    parts = (
        part.in_typed_form(SCHEMA, DEFAULT_SESSION, in_filter=True)
        for part in parse_predicate(str(answer["condition"])).conjuncts()
    )
    assert (propagated(list(parts), SCHEMA, DEFAULT_SESSION) is None) is answer["never_true"]

"""What the engine says to a probe, in the words of the kept answers."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from functools import cache

from sqlglot import exp

from tests.sql.value_answers import shown
from tests.sql.value_probes import CHANGING, COLUMNS, NAMES, ROW, Probe
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.query.aggregates import compile_aggregate
from whitecap.engine.query.windows import with_windows
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.syntax_trees import parse_node
from whitecap.engine.sql.functions.times import NOW
from whitecap.engine.sql.predicates.compiler import check_condition, compile_boolean, compile_term

_TYPES = tuple(column.type for column in COLUMNS)
_PROBED = Scope((Relation(frozenset({"probed"}), NAMES, _TYPES),))
_PARAMETERS = {NOW: datetime(2026, 11, 21, 12, tzinfo=UTC)}


@cache
def engine_answer(probe: Probe) -> str:
    """Type and value, or `!` with exception and error class, or `-` with what is not modelled."""
    try:
        return _value(probe)
    except DeltaError as error:
        return f"! {error.exception} {error.error_class}"
    except InvalidInput as error:
        refusal = error.as_refusal()
        return f"! {refusal.exception} {refusal.error_class}" if refusal else f"? {error}"
    except UnsupportedFeature as error:
        return f"- {error}"


def _value(probe: Probe) -> str:
    if probe.form.startswith("WHERE"):
        node = parse_node(f"SELECT 1 FROM probed {probe.sql}").args["where"].this
        check_condition(node, _PROBED)
        compile_boolean(node, _PROBED).bind(_PARAMETERS).evaluate(ROW)
        return "boolean"
    node = parse_node(f"SELECT {probe.sql} AS value FROM probed").expressions[0].unalias()
    if isinstance(node, exp.AggFunc):
        aggregate = compile_aggregate(node, _PROBED, _PARAMETERS)
        return _answer(probe, aggregate.type, aggregate.value([ROW]))
    windows = with_windows([node], _PROBED, _PARAMETERS)
    term = compile_term(windows.items[0], windows.scope)
    (row,) = windows.added([ROW])
    return _answer(probe, term.type, term.bind(_PARAMETERS).evaluate(row))


def _answer(probe: Probe, type_name: str, value: object) -> str:
    return type_name if probe.form in CHANGING else f"{type_name} {shown(value)}"


def outcome(spark: str, engine: str) -> str:
    """How two answers compare: agreed, refused (by name), or what differs."""
    if engine.startswith("-"):
        return "refused"
    if engine == spark or _close(spark, engine):
        return "agreed"
    if engine[0] in "!?" or spark[0] == "!":
        return "other refusal" if engine[0] in "!?" and spark[0] == "!" else "only one refuses"
    return "other type" if engine.split(" ")[0] != spark.split(" ")[0] else "other value"


def _close(spark: str, engine: str) -> bool:
    """Whether both are the same DOUBLE but for the last bits, where Java computes its own."""
    (kind, _, of_spark), (other_kind, _, of_engine) = spark.partition(" "), engine.partition(" ")
    if kind != "double" or other_kind != "double" or "NULL" in (of_spark, of_engine):
        return False
    return math.isclose(float(of_spark), float(of_engine), rel_tol=1e-14)

"""Conditions that no row can meet, as far as Spark's optimizer finds that out before it reads any.

Source: Spark's ConstantPropagation, ConstantFolding, OptimizeIn, PruneFilters and
PropagateEmptyRelation. A column that is compared with a constant takes its place in the other
conditions; intervals that exclude each other (`k > 1 AND k < 0`) are not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.values.types import Session


def is_never_true(parts: Sequence[Predicate], schema: Schema, session: Session) -> bool:
    """Whether conditions, all of which a row must meet, contradict each other."""
    certain = [part for part in parts if part.is_deterministic and not part.asks_queries]
    pins = [pin for part in certain for pin in _pins(part, schema, session)]
    if any(not constants for _, constants in pins):
        return True  # what a column is compared with it cannot have
    values = {name: constants[0] for name, constants in pins if len(constants) == 1}
    row = tuple(values.get(field.name.lower()) for field in schema)
    decided = (p for p in certain if p.columns <= values.keys() and not _asks_null(p.node))
    return any(_is_refused(part, row, schema, session) for part in decided)


def _asks_null(node: exp.Expr) -> bool:
    """IS NULL and IS NOT NULL: no constant takes the column's place in them."""
    node = node.unnest()
    return isinstance(node.this.unnest() if isinstance(node, exp.Not) else node, exp.Is)


def _pins(part: Predicate, schema: Schema, session: Session) -> Iterator[tuple[str, Sequence[Any]]]:
    """The columns that a condition leaves few values, by name in lower case, and these."""
    node = part.node.unnest()
    if isinstance(node, exp.NullSafeEQ):
        equal = exp.EQ(this=node.this.copy(), expression=node.expression.copy())
        part = Predicate.of_node(equal, part.parameters)
    pins: Mapping[str, Sequence[Any]] = part.pins(schema, session)
    may_be_null = isinstance(node, exp.NullSafeEQ)
    yield from ((name.lower(), v) for name, v in pins.items() if v or not may_be_null)


def _is_refused(part: Predicate, row: tuple[Any, ...], schema: Schema, session: Session) -> bool:
    try:
        return part.bind(schema, session)(row) is not True
    except EngineError:
        return False  # what cannot be computed is left for the rows

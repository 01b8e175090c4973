"""Constants in the places of columns that have to equal them, as Spark's optimizer puts them there.

It does so in comparisons only: `k = 'a'` is heard in `m = length(k)`, which leaves one partition of
`m`, but neither in `k LIKE 'b%'` nor in `k IN ('b', 'c')`. Conditions that no row can meet are
found on the way; intervals that exclude each other (`k > 1 AND k < 0`) are not.

Source: Spark's ConstantPropagation, ConstantFolding, OptimizeIn, PruneFilters and
PropagateEmptyRelation; where a constant is heard, observed on Spark 4.2.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import EngineError
from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.functions.function_nodes import COMPARISONS
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.values.types import Session

_NO_COLUMNS = Schema(())

_Constants = Mapping[str, exp.Expr]
"""Constants by the names of columns, in lower case."""


def propagated(
    parts: Sequence[Predicate], schema: Schema, session: Session
) -> Sequence[Predicate] | None:
    """Conditions, all of which a row must meet, with constants heard; `None` if no row can."""
    parts = [conjunct for part in parts for conjunct in part.conjuncts()]
    if any(_differs_from_itself(part.node.unnest()) for part in parts if _is_certain(part)):
        return None
    pinning = [list(_pins(part, schema, session)) if _is_certain(part) else [] for part in parts]
    constants = _constants(pin for pins in pinning for pin in pins)
    if constants is None:
        return None
    heard = [
        conjunct
        for part, pins in zip(parts, pinning, strict=True)
        for conjunct in ((part,) if pins else _hearing(part, constants, session).conjuncts())
    ]
    return None if any(_is_refused(part, session) for part in heard) else heard


class _Pin(Struct, frozen=True):
    """A column, by name in lower case, the values that a condition leaves it, and the first.

    `constant` is in the column's type; a parameter of IN may be several.
    """

    column: str
    values: Sequence[Any]
    constant: exp.Expr | None


def _is_certain(part: Predicate) -> bool:
    return part.is_deterministic and not part.asks_queries


def _differs_from_itself(node: exp.Expr) -> bool:
    compared = node if isinstance(node, exp.LT | exp.GT) else _unequal(node)
    return compared is not None and compared.left == compared.right


def _unequal(node: exp.Expr) -> exp.Binary | None:
    """The comparison, if the condition is that two values are not equal."""
    if isinstance(node, exp.NEQ):
        return node
    denied = node.this.unnest() if isinstance(node, exp.Not) else None
    return denied if isinstance(denied, exp.EQ) else None


def _pins(part: Predicate, schema: Schema, session: Session) -> Iterator[_Pin]:
    """The columns that a condition leaves few values.

    BOOLEAN columns are left out: `b = true` is `b` before its constant can go anywhere.
    """
    node = part.node.unnest()
    may_be_null = isinstance(node, exp.NullSafeEQ)
    if may_be_null:
        node = exp.EQ(this=node.this.copy(), expression=node.expression.copy())
        part = Predicate.of_node(node, part.parameters)
    for name, values in part.pins(schema, session).items():
        if (values or not may_be_null) and not any(isinstance(value, bool) for value in values):
            type_name = schema.fields[schema.index(name)].type
            yield _Pin(name.lower(), values, _constant_of(node, type_name))


def _constant_of(node: exp.Expr, type_name: str) -> exp.Expr | None:
    compared = node.expressions if isinstance(node, exp.In) else node.iter_expressions()
    constant = next(each for each in compared if each.find(exp.Column) is None)
    if isinstance(node, exp.In) and isinstance(constant, exp.Placeholder):
        return None
    return exp.cast(constant.copy(), type_name, dialect=DIALECT)


def _constants(pins: Iterable[_Pin]) -> _Constants | None:
    """The constants, by column; `None` if a column cannot have a value that it would have to."""
    first: dict[str, _Pin] = {}
    for pin in pins:
        if not pin.values:
            return None
        if len(pin.values) == 1 and first.setdefault(pin.column, pin).values != pin.values:
            return None
    return {name: pin.constant for name, pin in first.items() if pin.constant is not None}


def _hearing(part: Predicate, constants: _Constants, session: Session) -> Predicate:
    """The condition with constants in its comparisons, and with what these come to then."""
    if not _is_certain(part) or constants.keys().isdisjoint(part.columns):
        return part
    holder = exp.Paren(this=part.node.copy())
    for comparison in list(holder.find_all(*COMPARISONS)):
        heard = _with_constants(comparison, constants)
        value = _value(Predicate.of_node(heard, part.parameters), session)
        if not _may_be_pin(comparison, value):
            comparison.replace(value if isinstance(value, exp.Boolean) else heard)
    return Predicate.of_node(holder.this, part.parameters)


def _with_constants(comparison: exp.Expr, constants: _Constants) -> exp.Expr:
    heard = comparison.copy()
    for column in list(heard.find_all(exp.Column)):
        constant = constants.get(column.name.lower())
        if constant is not None:
            column.replace(constant.copy())
    return heard


def _may_be_pin(comparison: exp.Expr, value: exp.Expr | None) -> bool:
    """Whether it is, or denies, what may be the very condition that a constant is from."""
    match comparison:
        case exp.EQ() | exp.NullSafeEQ():
            agrees = value == exp.true()
        case exp.NEQ():
            agrees = value == exp.false()
        case _:
            return False
    sides = comparison.iter_expressions()
    return agrees and any(isinstance(side.unnest(), exp.Column) for side in sides)


def _is_refused(part: Predicate, session: Session) -> bool:
    return _is_certain(part) and _value(part, session) in (exp.false(), exp.null())


def _value(part: Predicate, session: Session) -> exp.Expr | None:
    """TRUE, FALSE or NULL, whichever a condition without columns comes to; `None`: none of them.

    What cannot be computed is left for the rows.
    """
    if part.columns:
        return None
    try:
        value = part.bind(_NO_COLUMNS, session)(())
    except EngineError:
        return None
    return exp.null() if value is None else exp.Boolean(this=value)

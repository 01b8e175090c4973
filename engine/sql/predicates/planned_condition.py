"""A condition as its text has it: without parameters, and planned once for each schema.

It is split into conjuncts, and into a partition and a data part, exactly where Delta splits.
Source: `DeltaTableUtils` (splitMetadataAndDataPredicates, extractMetadataPredicates),
`DeltaLog.scala: rewritePartitionFilters`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.expressions.columns import columns_of, unqualified
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.scope import Relation, Scope, letters_of, schema_scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.expressions.terms import Term
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.char_conditions import as_queried, asked_of_rows
from whitecap.engine.sql.predicates.compiler import check_condition, compile_boolean
from whitecap.engine.sql.predicates.datafusion_pruning import BindPruning, PruningCompiler
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and
from whitecap.engine.sql.predicates.pins import Pin, pin_of
from whitecap.engine.sql.predicates.skipping import BindTest, SkippingCompiler
from whitecap.engine.sql.predicates.typed_form import typed_form, unheld_constant
from whitecap.engine.values.casts import text_caster
from whitecap.engine.values.types import Session

T = TypeVar("T")

PartitionCasts = tuple[tuple[str, Callable[[Any], Any] | None], ...]
"""Columns by their names in partition values, with what makes values of the texts there."""

Conditions = tuple["PlannedCondition", ...]


class PlannedCondition:
    """A condition without its parameters: parsed once, compiled once for each schema."""

    __slots__ = (
        "_conjuncts",
        "_last",
        "_plans",
        "_splits",
        "_text",
        "asks_queries",
        "columns",
        "is_certain",
        "is_deterministic",
        "node",
    )

    def __init__(self, node: exp.Expr) -> None:
        self.node = node
        self.columns = columns_of(node)
        self.asks_queries = node.find(exp.Query) is not None
        self.is_deterministic = not is_random(node)
        # Free of subqueries, too: nothing in it is ever widened.
        self.is_certain = self.is_deterministic and not has_subquery(node)
        self._conjuncts: Conditions | None = None
        self._splits: dict[frozenset[str], tuple[Conditions, Conditions]] = {}
        self._text: Template | None = None
        self._plans: dict[tuple[str, Session, tuple[int, ...]], tuple[Any, Any]] = {}
        self._last: dict[str, tuple[Schema, Session, Any]] = {}

    def conjuncts(self) -> Conditions:
        """The conditions that it ANDs, as Spark's optimizer leaves them."""
        if self._conjuncts is None:
            parts = conjuncts_of(self.node)
            as_it_is = parts == [self.node.unnest()]
            self._conjuncts = (self,) if as_it_is else tuple(map(PlannedCondition, parts))
        return self._conjuncts

    def in_typed_form(self, schema: Schema, session: Session, in_filter: bool) -> PlannedCondition:
        """With what the columns' types decide (`sql/predicates/typed_form.py`)."""

        def build(schema: Schema, session: Session) -> PlannedCondition:
            node = typed_form(self.node, schema, session, in_filter=in_filter)
            if in_filter:
                node = as_queried(node, schema)
            return self if node is self.node else PlannedCondition(node)

        kind = "typed in a filter" if in_filter else "typed"
        return self._remembered(kind, schema, session, build)

    def unheld_constant(self, schema: Schema, session: Session) -> exp.Expr | None:
        """The first constant that the type of its column does not hold."""

        def build(schema: Schema, session: Session) -> exp.Expr | None:
            return unheld_constant(self.node, schema, session)

        return self._remembered("constants", schema, session, build)

    def text(self) -> Template:
        """The condition as Spark SQL, cut at its parameters."""
        if self._text is None:
            self._text = Template.of(self.node.sql(DIALECT))
        return self._text

    def split(self, names: frozenset[str]) -> tuple[Conditions, Conditions]:
        """Partition and data conjuncts, and what the latter imply for partition columns."""
        split = self._splits.get(names)
        if split is None:
            partition = [part for part in self.conjuncts() if part.columns <= names]
            data = [part for part in self.conjuncts() if not part.columns <= names]
            for part in data:
                extracted = _extract(part.node, names)
                partition += [] if extracted is None else PlannedCondition(extracted).conjuncts()
            split = self._splits[names] = (tuple(partition), tuple(data))
        return split

    def term(self, schema: Schema, session: Session) -> Term:
        """The condition over rows of a table. Raises `InvalidInput` for an unknown column."""
        return self._remembered("row", schema, session, self._row_term)

    def partition_term(self, schema: Schema, session: Session) -> tuple[Term, PartitionCasts]:
        """The condition over partition values, with what makes these of their texts."""
        return self._remembered("partition", schema, session, self._partition_term)

    def _remembered(
        self, kind: str, schema: Schema, session: Session, build: Callable[[Schema, Session], T]
    ) -> T:
        """What was built for the same columns before: known by identity, so they are kept too."""
        last = self._last.get(kind)
        if last is not None and last[0] is schema and last[1] is session:
            plan: T = last[2]
            return plan
        key = (kind, session, tuple([id(field) for field in schema.fields]))
        entry = self._plans.get(key)
        if entry is None:
            entry = self._plans[key] = (schema.fields, build(schema, session))
        plan = entry[1]
        self._last[kind] = schema, session, plan
        return plan

    def skipping_test(self, columns: Schema, session: Session) -> BindTest | None:
        """The test of statistics of these columns; `None` where they can say nothing."""

        def build(columns: Schema, session: Session) -> BindTest | None:
            return SkippingCompiler(columns, session).build(self.node)

        return self._remembered("skipping", columns, session, build)

    def pruning_test(self, schema: Schema, session: Session) -> BindPruning | None:
        """The test of files by DataFusion's rules; `None` where these can say nothing."""

        def build(schema: Schema, session: Session) -> BindPruning | None:
            return PruningCompiler(schema, session).build(self.node)

        return self._remembered("pruning", schema, session, build)

    def check(self, schema: Schema, session: Session, refused_as: tuple[str, str]) -> None:
        """Raises `InvalidInput` for what is no condition on these columns, looked at once."""

        def build(columns: Schema, session: Session) -> None:
            check_condition(self.node, schema_scope(columns, session=session), refused_as)

        self._remembered(f"check {refused_as}", schema, session, build)

    def pin(self, schema: Schema, session: Session) -> Pin | None:
        """The column that it pins to some values, if it is one conjunct that does."""
        return self._remembered("pin", schema, session, self._pin)

    def _pin(self, schema: Schema, session: Session) -> Pin | None:
        return pin_of(self.node, schema, session)

    def _row_term(self, schema: Schema, session: Session) -> Term:
        node = asked_of_rows(self.node, schema)
        return compile_boolean(node, schema_scope(schema, session=session))

    def _partition_term(self, schema: Schema, session: Session) -> tuple[Term, PartitionCasts]:
        """Compiled over the referenced columns only.

        A column that the partition schema lacks is read raw from the value map, as Delta does.
        """
        names = sorted(self.columns)
        fields = [schema.get(name) for name in names]
        types = [field.type if field else "string" for field in fields]
        letters = letters_of(fields)
        relation = Relation(frozenset({""}), tuple(names), tuple(types), letters=letters)
        casts = tuple(
            (field.physical_name if field else name, text_caster(kind, session))
            for name, field, kind in zip(names, fields, types, strict=True)
        )
        return compile_boolean(unqualified(self.node), Scope((relation,), session)), casts


@lru_cache(maxsize=4096)
def planned_condition(sql: str) -> PlannedCondition:
    """The condition of a text in Spark SQL. Raises `InvalidInput` naming the place."""
    return PlannedCondition(parse_condition(sql))


def has_subquery(node: exp.Expr) -> bool:
    """Whether a query stands in a node in parentheses or after EXISTS."""
    return node.find(exp.Subquery, exp.Exists) is not None


def _extract(node: exp.Expr, names: frozenset[str]) -> exp.Expr | None:
    """What a condition implies for columns of these names alone; `None` if nothing.

    Source: DeltaTableUtils.extractMetadataPredicates: an AND gives what its sides give, an OR
    only if both sides give something.
    """
    node = node.unnest()
    if isinstance(node, exp.And):
        sides = [_extract(node.left, names), _extract(node.right, names)]
        return join_and(side for side in sides if side is not None)
    if isinstance(node, exp.Or):
        left, right = _extract(node.left, names), _extract(node.right, names)
        if left is None or right is None:
            return None
        return exp.Or(this=left.copy(), expression=right.copy())
    return node if columns_of(node) <= names and not has_subquery(node) else None

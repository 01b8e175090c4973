"""Predicates: conditions of reads, as the transaction records them and evaluates them.

A predicate keeps its syntax tree, so that it can be split into conjuncts and into a partition and
a data part, exactly where Delta splits. Source: `DeltaTableUtils` (splitMetadataAndDataPredicates,
extractMetadataPredicates), `DeltaLog.scala: rewritePartitionFilters`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any

from sqlglot import exp

from whitecap.engine.log.schema import Schema
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.columns import columns_of, unqualified
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.scope import Relation, Scope, schema_scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters, Term
from whitecap.engine.sql.expressions.text import parse_condition
from whitecap.engine.sql.functions.nodes import is_random
from whitecap.engine.sql.predicates.compiler import NOT_BOOLEAN, check_condition, compile_boolean
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and
from whitecap.engine.sql.predicates.pins import Pin, PinnedValues, pin_of, pinned
from whitecap.engine.sql.predicates.skipping import BindTest, SkippingCompiler, StatisticsTest
from whitecap.engine.values.casts import text_caster
from whitecap.engine.values.types import DEFAULT_SESSION, Session

_NO_PARAMETERS: Parameters = {}


class _Template:
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
        # Deterministic and free of subqueries: nothing in it is ever widened.
        self.is_deterministic = not is_random(node)
        self.is_certain = self.is_deterministic and not _has_subquery(node)
        self._conjuncts: tuple[_Template, ...] | None = None
        self._splits: dict[frozenset[str], tuple[tuple[_Template, ...], tuple[_Template, ...]]] = {}
        self._text: Template | None = None
        self._plans: dict[tuple[str, Session, tuple[int, ...]], tuple[Any, Any]] = {}
        self._last: dict[str, tuple[Schema, Session, Any]] = {}

    def conjuncts(self) -> tuple[_Template, ...]:
        if self._conjuncts is None:
            parts = conjuncts_of(self.node)
            as_it_is = parts == [self.node.unnest()]
            self._conjuncts = (self,) if as_it_is else tuple(_Template(part) for part in parts)
        return self._conjuncts

    def text(self) -> Template:
        if self._text is None:
            self._text = Template.of(self.node.sql(DIALECT))
        return self._text

    def split(self, names: frozenset[str]) -> tuple[tuple[_Template, ...], tuple[_Template, ...]]:
        """Partition and data conjuncts, and what the latter imply for partition columns."""
        split = self._splits.get(names)
        if split is None:
            partition = [part for part in self.conjuncts() if part.columns <= names]
            data = [part for part in self.conjuncts() if not part.columns <= names]
            for part in data:
                extracted = _extract(part.node, names)
                partition += [] if extracted is None else _Template(extracted).conjuncts()
            split = self._splits[names] = (tuple(partition), tuple(data))
        return split

    def term(self, schema: Schema, session: Session) -> Term:
        return self._remembered("row", schema, session, self._row_term)  # type: ignore[no-any-return]

    def partition_term(self, schema: Schema, session: Session) -> tuple[Term, _Casts]:
        return self._remembered("partition", schema, session, self._partition_term)  # type: ignore[no-any-return]

    def _remembered(
        self, kind: str, schema: Schema, session: Session, build: Callable[..., Any]
    ) -> Any:
        """What was built for the same columns before: known by identity, so they are kept too."""
        last = self._last.get(kind)
        if last is not None and last[0] is schema and last[1] is session:
            return last[2]
        key = (kind, session, tuple([id(field) for field in schema.fields]))
        entry = self._plans.get(key)
        if entry is None:
            entry = self._plans[key] = (schema.fields, build(schema, session))
        self._last[kind] = schema, session, entry[1]
        return entry[1]

    def skipping_test(
        self, schema: Schema, partition_columns: tuple[str, ...], session: Session
    ) -> BindTest | None:
        def build(columns: Schema, session: Session) -> BindTest | None:
            partitions = {name.lower() for name in partition_columns}
            data = Schema(tuple(f for f in columns if f.name.lower() not in partitions))
            return SkippingCompiler(data, session).build(self.node)

        return self._remembered(f"skipping {partition_columns}", schema, session, build)  # type: ignore[no-any-return]

    def check(self, schema: Schema, session: Session, refused_as: tuple[str, str]) -> None:
        """Once for the same columns: what passed passes again."""

        def build(columns: Schema, session: Session) -> None:
            check_condition(self.node, schema_scope(columns, session=session), refused_as)

        self._remembered(f"check {refused_as}", schema, session, build)

    def pin(self, schema: Schema, session: Session) -> Pin | None:
        return self._remembered("pin", schema, session, self._pin)  # type: ignore[no-any-return]

    def _pin(self, schema: Schema, session: Session) -> Pin | None:
        return pin_of(self.node, schema, session)

    def _row_term(self, schema: Schema, session: Session) -> Term:
        return compile_boolean(self.node, schema_scope(schema, session=session))

    def _partition_term(self, schema: Schema, session: Session) -> tuple[Term, _Casts]:
        """Compiled over the referenced columns only.

        A column that the partition schema lacks is read raw from the value map, as Delta does.
        """
        names = sorted(self.columns)
        fields = [schema.get(name) for name in names]
        types = [field.type if field else "string" for field in fields]
        relation = Relation(frozenset({""}), tuple(names), tuple(types))
        casts = tuple(
            (field.physical_name if field else name, text_caster(kind, session))
            for name, field, kind in zip(names, fields, types, strict=True)
        )
        return compile_boolean(unqualified(self.node), Scope((relation,), session)), casts


_Casts = tuple[tuple[str, Callable[[Any], Any] | None], ...]


class Predicate:
    """A condition over one table's columns. Immutable; equal if its text is equal."""

    __slots__ = ("_evaluators", "_parameters", "_pinned", "_sql", "_template")

    def __init__(
        self, template: _Template, parameters: Parameters = _NO_PARAMETERS, sql: str | None = None
    ) -> None:
        self._template = template
        self._parameters = parameters
        self._sql = sql
        self._evaluators: dict[int, tuple[Term, Evaluate]] = {}
        self._pinned: tuple[Schema, Session, list[PinnedValues | None]] | None = None

    @classmethod
    def of_node(cls, node: exp.Expr, parameters: Parameters = _NO_PARAMETERS) -> Predicate:
        """A predicate of a syntax tree."""
        return cls(_Template(node), parameters)

    def with_parameters(self, parameters: Parameters) -> Predicate:
        """The same condition with other parameter values; nothing is parsed or compiled again."""
        return Predicate(self._template, parameters)

    @property
    def node(self) -> exp.Expr:
        """The syntax tree, parameters not filled in."""
        return self._template.node

    @property
    def parameters(self) -> Parameters:
        """The values of its parameters."""
        return self._parameters

    @property
    def sql(self) -> str:
        """The condition as Spark SQL, parameters filled in."""
        if self._sql is None:
            self._sql = self._template.text().render(self._parameters)
        return self._sql

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns it refers to, in lower case."""
        return self._template.columns

    @property
    def is_deterministic(self) -> bool:
        """Whether no function in it is non-deterministic."""
        return self._template.is_deterministic

    @property
    def asks_queries(self) -> bool:
        """Whether a query stands in it."""
        return self._template.asks_queries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Predicate) and self.sql == other.sql

    def __hash__(self) -> int:
        return hash(self.sql)

    def __repr__(self) -> str:
        return f"Predicate({self.sql!r})"

    def conjuncts(self) -> tuple[Predicate, ...]:
        """The conditions that it ANDs. Source: Spark's splitConjunctivePredicates."""
        parts = self._template.conjuncts()
        if parts == (self._template,):
            return (self,)
        return tuple(Predicate(part, self._parameters) for part in parts)

    def is_over(self, columns: Iterable[str]) -> bool:
        """Whether it refers to no other columns than these (`isPredicatePartitionColumnsOnly`)."""
        return self.columns <= {column.lower() for column in columns}

    def widened(self) -> Predicate:
        """With non-deterministic parts taken as TRUE.

        Source: ConflictCheckerPredicateElimination.scala: AND and OR are descended, any other
        node with a non-deterministic descendant becomes TRUE.
        """
        if self._template.is_certain:
            return self
        return Predicate.of_node(_widen(self.node), self._parameters)

    def evaluate_partition(
        self,
        values: Mapping[str, str | None],
        partition_schema: Schema,
        settings: Settings | None = None,
    ) -> bool | None:
        """The condition for a file's partition values; `None` is SQL's NULL.

        Values are texts cast to the column's type. Raises `DeltaError` where a text does not
        parse, as Spark does in ANSI mode. Source: DeltaLog.scala: rewritePartitionFilters.
        """
        term, casts = self._template.partition_term(partition_schema, session_of(settings))
        row = tuple(_typed(values.get(name), cast) for name, cast in casts)
        return self._evaluator(term)(row)  # type: ignore[no-any-return]

    def bind(self, schema: Schema, session: Session = DEFAULT_SESSION) -> Evaluate:
        """The condition over rows of a table. Raises `InvalidInput` for an unknown column."""
        return self._evaluator(self._template.term(schema, session))

    def check(
        self,
        schema: Schema,
        session: Session = DEFAULT_SESSION,
        refused_as: tuple[str, str] = NOT_BOOLEAN,
    ) -> None:
        """Raises `InvalidInput` or `UnsupportedFeature` for what is no condition on a table.

        Whether the table has rows or not, and before any part of the condition is used.
        """
        self._template.check(schema, session, refused_as)

    def skipping_test(
        self,
        schema: Schema,
        partition_columns: tuple[str, ...] = (),
        session: Session = DEFAULT_SESSION,
    ) -> StatisticsTest | None:
        """Whether a file's statistics let it match; `None` where they can say nothing."""
        bind = self._template.skipping_test(schema, partition_columns, session)
        return None if bind is None else bind(self._parameters)

    def pins(self, schema: Schema, session: Session = DEFAULT_SESSION) -> dict[str, list[Any]]:
        """The columns that the condition pins to some values, NULL never among them."""
        return dict(pin for pin in self._pins(schema, session) if pin is not None)

    def leading_pins(
        self, schema: Schema, session: Session = DEFAULT_SESSION
    ) -> tuple[list[tuple[int, list[Any]]], bool]:
        """The positions of columns that it pins, with their values, before it asks anything else.

        And whether it asks nothing else. A row whose column has another value, and no NULL, is
        refused before any other part of the condition is computed.
        """
        pins = self._pins(schema, session)
        leading = [(schema.index(pin[0]), pin[1]) for pin in takewhile(bool, pins) if pin]
        return leading, len(leading) == len(pins)

    def _pins(self, schema: Schema, session: Session) -> list[PinnedValues | None]:
        """What each part pins, `None` where it does not: worked out once."""
        if self._pinned is None or self._pinned[:2] != (schema, session):
            pins = (part.pin(schema, session) for part in self._template.conjuncts())
            self._pinned = schema, session, pinned(pins, self._parameters)
        return self._pinned[2]

    def _evaluator(self, term: Term) -> Evaluate:
        entry = self._evaluators.get(id(term))
        if entry is None:
            entry = self._evaluators[id(term)] = (term, term.bind(self._parameters).evaluate)
        return entry[1]


def _typed(text: str | None, cast: Callable[[Any], Any] | None) -> Any:
    return text if text is None or cast is None else cast(text)


@lru_cache(maxsize=64)
def _session(time_zone: str, ansi: bool) -> Session:
    return Session(time_zone, ansi)


def session_of(settings: Settings | None) -> Session:
    """What casts depend on, from a session's configuration."""
    if settings is None:
        return DEFAULT_SESSION
    return _session(settings.session_time_zone, settings.ansi)


def _widen(node: exp.Expr) -> exp.Expr:
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        left, right = _widen(node.left), _widen(node.right)
        return _simplified(type(node), left, right)
    return exp.true() if _has_subquery(node) or is_random(node) else node.copy()


def _has_subquery(node: exp.Expr) -> bool:
    return node.find(exp.Subquery, exp.Exists) is not None


def _simplified(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    truths = [isinstance(side, exp.Boolean) and side.this is True for side in (left, right)]
    if kind is exp.Or and any(truths):
        return exp.true()
    if kind is exp.And and any(truths):
        return right if truths[0] else left
    return kind(this=exp.paren(left), expression=exp.paren(right))


@lru_cache(maxsize=4096)
def _template(sql: str) -> _Template:
    return _Template(parse_condition(sql))


def parse_predicate(sql: str, parameters: Parameters = _NO_PARAMETERS) -> Predicate:
    """Parse a condition in Spark SQL. Raises `InvalidInput` naming the place."""
    return Predicate(_template(sql), parameters, sql=None if parameters else sql)


TRUE = parse_predicate("true")


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
    return node if columns_of(node) <= names and not _has_subquery(node) else None


def split_conditions(
    conditions: Iterable[Predicate], partition_columns: Iterable[str]
) -> tuple[list[Predicate], list[Predicate]]:
    """Partition and data predicates of conditions, as DELETE and UPDATE hand them to the scan.

    Source: DeltaTableUtils.splitMetadataAndDataPredicates.
    """
    names = frozenset(column.lower() for column in partition_columns)
    partition: list[Predicate] = []
    data: list[Predicate] = []
    for condition in conditions:
        of_partitions, of_data = condition._template.split(names)
        partition += [Predicate(part, condition._parameters) for part in of_partitions]
        data += [Predicate(part, condition._parameters) for part in of_data]
    return partition, data

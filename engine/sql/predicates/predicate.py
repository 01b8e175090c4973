"""Predicates: conditions of reads, as the transaction records them and evaluates them.

A predicate is a condition (`planned_condition`) with the values of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log.schema import Schema
from whitecap.engine.settings import Settings
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters, Term
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.predicates.asked_statistics import StatisticsTest
from whitecap.engine.sql.predicates.char_conditions import as_written, names_char
from whitecap.engine.sql.predicates.compiler import NOT_BOOLEAN
from whitecap.engine.sql.predicates.datafusion_pruning import PruningTest
from whitecap.engine.sql.predicates.pins import PinnedValues, pinned
from whitecap.engine.sql.predicates.planned_condition import (
    PlannedCondition,
    has_subquery,
    planned_condition,
)
from whitecap.engine.values.types import DEFAULT_SESSION, Session

_NO_PARAMETERS: Parameters = {}


class Predicate:
    """A condition over one table's columns. Immutable; equal if its text is equal."""

    __slots__ = ("_condition", "_evaluators", "_parameters", "_pinned", "_sql")

    def __init__(
        self,
        condition: PlannedCondition,
        parameters: Parameters = _NO_PARAMETERS,
        sql: str | None = None,
    ) -> None:
        self._condition = condition
        self._parameters = parameters
        self._sql = sql
        self._evaluators: dict[int, tuple[Term, Evaluate]] = {}
        self._pinned: tuple[Schema, Session, list[PinnedValues | None]] | None = None

    @classmethod
    def of_node(cls, node: exp.Expr, parameters: Parameters = _NO_PARAMETERS) -> Predicate:
        """A predicate of a syntax tree."""
        return cls(PlannedCondition(node), parameters)

    def with_parameters(self, parameters: Parameters) -> Predicate:
        """The same condition with other parameter values; nothing is parsed or compiled again."""
        return Predicate(self._condition, parameters)

    @property
    def node(self) -> exp.Expr:
        """The syntax tree, parameters not filled in."""
        return self._condition.node

    @property
    def parameters(self) -> Parameters:
        """The values of its parameters."""
        return self._parameters

    @property
    def sql(self) -> str:
        """The condition as Spark SQL, parameters filled in."""
        if self._sql is None:
            self._sql = self._condition.text().render(self._parameters)
        return self._sql

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns it refers to, in lower case."""
        return self._condition.columns

    @property
    def is_deterministic(self) -> bool:
        """Whether no function in it is non-deterministic."""
        return self._condition.is_deterministic

    @property
    def asks_queries(self) -> bool:
        """Whether a query stands in it."""
        return self._condition.asks_queries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Predicate) and self.sql == other.sql

    def __hash__(self) -> int:
        return hash(self.sql)

    def __repr__(self) -> str:
        return f"Predicate({self.sql!r})"

    def as_written(self, schema: Schema) -> Predicate:
        """The same over the texts of CHAR columns as they were written, filling up no constants."""
        if not names_char(self.node, schema):
            return self
        return Predicate(PlannedCondition(as_written(self.node)), self._parameters, self._sql)

    def conjuncts(self) -> tuple[Predicate, ...]:
        """The conditions that it ANDs. Source: Spark's splitConjunctivePredicates."""
        parts = self._condition.conjuncts()
        if parts == (self._condition,):
            return (self,)
        return tuple(Predicate(part, self._parameters) for part in parts)

    def in_typed_form(
        self, schema: Schema, session: Session, *, in_filter: bool = False
    ) -> Predicate:
        """The condition with what Spark decides of it by its columns' types.

        `in_filter`: it is a query's, where NULL is FALSE. Source: `sql/predicates/typed_form.py`.
        """
        condition = self._condition.in_typed_form(schema, session, in_filter)
        return self if condition is self._condition else Predicate(condition, self._parameters)

    def is_over(self, columns: Iterable[str]) -> bool:
        """Whether it refers to no other columns than these (`isPredicatePartitionColumnsOnly`)."""
        return self.columns <= {column.lower() for column in columns}

    def widened(self) -> Predicate:
        """With non-deterministic parts taken as TRUE.

        Source: ConflictCheckerPredicateElimination.scala: AND and OR are descended, any other
        node with a non-deterministic descendant becomes TRUE.
        """
        if self._condition.is_certain:
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
        term, casts = self._condition.partition_term(partition_schema, session_of(settings))
        row = tuple(_typed(values.get(name), cast) for name, cast in casts)
        return self._evaluator(term)(row)  # type: ignore[no-any-return]

    def bind(self, schema: Schema, session: Session = DEFAULT_SESSION) -> Evaluate:
        """The condition over rows of a table. Raises `InvalidInput` for an unknown column."""
        return self._evaluator(self._condition.term(schema, session))

    def check(
        self,
        schema: Schema,
        session: Session = DEFAULT_SESSION,
        refused_as: tuple[str, str] = NOT_BOOLEAN,
    ) -> None:
        """Raises `InvalidInput` or `UnsupportedFeature` for what is no condition on a table.

        Whether the table has rows or not, and before any part of the condition is used.
        """
        self._condition.check(schema, session, refused_as)

    def check_constants(self, schema: Schema, session: Session) -> None:
        """Raises `UnsupportedFeature` for a constant that the type of its column does not hold."""
        constant = self._condition.unheld_constant(schema, session)
        if constant is not None:
            raise UnsupportedFeature(
                f"{constant.sql(DIALECT)} in {self.sql}: delta-rs casts a constant to the type of"
                " what it is compared with, and so compares with another one; what it makes of"
                " such a condition is not modelled"
            )

    def skipping_test(
        self, columns: Schema, session: Session = DEFAULT_SESSION
    ) -> StatisticsTest | None:
        """Whether statistics of these columns let a file match; `None` where they say nothing."""
        bind = self._condition.skipping_test(columns, session)
        return None if bind is None else bind(self._parameters)

    def pruning_test(
        self, schema: Schema, session: Session = DEFAULT_SESSION
    ) -> PruningTest | None:
        """Whether a file may match by DataFusion's rules; `None` where they say nothing."""
        bind = self._condition.pruning_test(schema, session)
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
            pins = (part.pin(schema, session) for part in self._condition.conjuncts())
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


def logged(predicates: Sequence[Predicate]) -> list[str]:
    """Predicates as an operation's parameters show them."""
    return [f"({predicate.sql})" for predicate in predicates]


def _widen(node: exp.Expr) -> exp.Expr:
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        left, right = _widen(node.left), _widen(node.right)
        return _simplified(type(node), left, right)
    return exp.true() if has_subquery(node) or is_random(node) else node.copy()


def _simplified(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    truths = [isinstance(side, exp.Boolean) and side.this is True for side in (left, right)]
    if kind is exp.Or and any(truths):
        return exp.true()
    if kind is exp.And and any(truths):
        return right if truths[0] else left
    return kind(this=exp.paren(left), expression=exp.paren(right))


def parse_predicate(sql: str, parameters: Parameters = _NO_PARAMETERS) -> Predicate:
    """Parse a condition in Spark SQL. Raises `InvalidInput` naming the place."""
    return Predicate(planned_condition(sql), parameters, sql=None if parameters else sql)


TRUE = parse_predicate("true")


def split_conditions(
    conditions: Iterable[Predicate], partition_columns: Iterable[str]
) -> tuple[list[Predicate], list[Predicate]]:
    """Partition and data predicates of conditions, as DELETE and UPDATE hand them to the scan.

    Source: DeltaTableUtils.splitMetadataAndDataPredicates.
    """
    names = frozenset(column.lower() for column in partition_columns)
    partition: list[Predicate] = []
    data: list[Predicate] = []
    for predicate in conditions:
        of_partitions, of_data = predicate._condition.split(names)
        partition += [Predicate(part, predicate._parameters) for part in of_partitions]
        data += [Predicate(part, predicate._parameters) for part in of_data]
    return partition, data

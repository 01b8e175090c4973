"""Conditions that ask queries, as the conflict check evaluates them: by the queries' answers.

A scan keeps such a condition as a partition predicate where its columns allow, and leaves out no
file by it. Its queries were planned with the statement, on the snapshots that it reads, so what
others write meanwhile changes no answer. A part whose queries may answer otherwise a second time
counts as TRUE.

What a query compares with the row around it is evaluated for a file's partition too: all names in
it are looked for among the partition values, those of the query's own columns as well, and are
NULL where no partition column is called so.

Source: ConflictCheckerPredicateElimination.scala, DeltaLog.scala: rewritePartitionFilters; observed
on Delta Lake 4.4.0 (tests/conformance/cases/asked_conditions.json).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from sqlglot import exp

from whitecap.engine.errors import DeltaError
from whitecap.engine.query.certain_queries import CertainQueries, asks_members
from whitecap.engine.query.correlation import TakenApart, columns_around, taken_apart
from whitecap.engine.query.planner import Planner
from whitecap.engine.query.query_checks import check_in_query, typed_literal, value_of
from whitecap.engine.query.rows import Rows
from whitecap.engine.refusals import commit_errors
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.predicates.normal_form import join_and
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.values.keys import keyed_rows


class PartitionAnswers(Struct, frozen=True):
    """What is known of partitions by asking, and how the check ends instead, if it cannot ask."""

    predicates: tuple[Predicate, ...] = ()
    refusal: DeltaError | None = None


class AskedConditions(Struct, frozen=True):
    """The conditions of one statement that ask queries.

    `places`: its queries where they stand in its tree, since there the rows of tables are known.
    `widens`: whether uncertain parts count as TRUE, as the session says.
    """

    planner: Planner
    certain: CertainQueries
    places: Mapping[exp.Expr, exp.Expr]
    widens: bool

    @classmethod
    def of(cls, statement: exp.Expr, planner: Planner, widens: bool) -> AskedConditions:
        """Those of a statement, for whose tables the planner has rows."""
        places: dict[exp.Expr, exp.Expr] = {q: q for q in statement.find_all(exp.Query)}
        return cls(planner, CertainQueries(planner), places, widens)

    def answered(self, conditions: Sequence[exp.Expr], columns: Sequence[str]) -> PartitionAnswers:
        """What the conditions say of a file's partition; `columns`: those of partitions.

        A condition that speaks of other columns of the table says nothing.
        """
        names = {column.lower() for column in columns}
        heard = [
            node
            for node in conditions
            if all(column.name.lower() in names for column in self._columns(node))
        ]
        predicates = (unqualified(self._answered(node)) for node in heard)
        return PartitionAnswers(
            tuple(Predicate.of_node(node, self.planner.parameters) for node in predicates),
            commit_errors.in_query_too_wide() if any(map(self._is_too_wide, heard)) else None,
        )

    def _is_too_wide(self, condition: exp.Expr) -> bool:
        """Whether it looks for a value in a query to which Spark has added columns."""
        searched = (asked for asked in _asked(condition) if asks_members(asked))
        return any(taken_apart(self._place(a), self.planner).is_wider for a in searched)

    def _columns(self, condition: exp.Expr) -> Iterator[exp.Column]:
        yield from columns_outside_queries(condition)
        for asked in _asked(condition):
            yield from columns_around(self._place(asked), self.planner)

    def _answered(self, node: exp.Expr) -> exp.Expr:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And | exp.Or):
            left, right = self._answered(node.left), self._answered(node.right)
            return type(node)(this=exp.paren(left), expression=exp.paren(right))
        kept = all(self._is_kept(asked, asked is node) for asked in _asked(node))
        return self._with_answers(node) if kept else exp.true()

    def _is_kept(self, asked: exp.Expr, is_whole: bool) -> bool:
        """Whether the check asks a query; `is_whole`: it is a condition, and not within another.

        Only where it is one may it speak of the row around it. An EXISTS that does not has a LIMIT
        by then.
        """
        query = self._place(asked)
        apart = taken_apart(query, self.planner)
        if not self.widens or not apart.stands_alone:
            return apart.stands_alone
        may_ask = is_whole if apart.around else not isinstance(asked, exp.Exists)
        return may_ask and query in self.certain

    def _with_answers(self, node: exp.Expr) -> exp.Expr:
        holder = exp.Paren(this=node.copy())
        for asked in list(_asked(holder)):
            asked.replace(self._answer(asked))
        return holder

    def _answer(self, asked: exp.Expr) -> exp.Expr:
        apart = taken_apart(self._place(asked), self.planner)
        if isinstance(asked, exp.Subquery):
            return value_of(apart.rows(), asked)
        answer = (
            _has_rows(apart) if not isinstance(asked, exp.In) else _membership(asked, apart.rows())
        )
        return exp.paren(join_and((answer, *map(_is_true, apart.around))) or answer)

    def _place(self, asked: exp.Expr) -> exp.Expr:
        """The query that is asked, in the statement's tree."""
        query = asked.args["query"] if asks_members(asked) else asked.this
        while isinstance(query, exp.Subquery):
            query = query.this
        return self.places[query]


def _asked(node: exp.Expr) -> Iterator[exp.Expr]:
    """The outermost parts of a condition that ask a query each."""
    return (part for part in node.walk(prune=_asks) if _asks(part))


def _asks(part: exp.Expr) -> bool:
    return asks_members(part) or isinstance(part, exp.Exists | exp.Subquery)


def _is_true(condition: exp.Expr) -> exp.Expr:
    """A row that a comparison with NULL leaves open is none of the query's."""
    return exp.NullSafeEQ(this=exp.paren(condition.copy()), expression=exp.true())


def _has_rows(apart: TakenApart) -> exp.Expr:
    return exp.true() if apart.rows().of(()) else exp.false()


def _membership(asked: exp.In, rows: Rows) -> exp.Expr:
    """A value among answers: FALSE where there are none."""
    check_in_query(asked, rows)
    members = dict.fromkeys(value for (value,) in keyed_rows(rows.types, rows.of(())))
    if not members:
        return exp.false()
    literals = [typed_literal(value, rows.types[0]) for value in members]
    return exp.In(this=asked.this.copy(), expressions=literals)

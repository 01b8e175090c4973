"""A MERGE, compiled for the schemas of its target and source.

Source: MergeIntoCommandBase.scala (getTargetOnlyPredicates), DeltaMergeInto.scala (resolution of
clauses). Conditions are compiled over a joined row: the target's values, then the source's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import nan

from sqlglot import exp

from whitecap.engine.errors import DeltaError, InvalidInput, Problem
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.schema import Schema
from whitecap.engine.query.sources import Projection, Source
from whitecap.engine.refusals import command_errors, write_errors
from whitecap.engine.sql.expressions.bound_once import BoundOnce, evaluation
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.scope import UNRESOLVED, Relation, Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate, Term, apply, column, convert
from whitecap.engine.sql.functions.nodes import is_random
from whitecap.engine.sql.parsing.statements import Act, Match, Merge, MergeClause, TableName
from whitecap.engine.sql.predicates.compiler import (
    CLAUSE_NOT_BOOLEAN,
    JOIN_NOT_BOOLEAN,
    NOT_BOOLEAN,
    check_condition,
    compile_boolean,
    compile_term,
)
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and
from whitecap.engine.sql.predicates.pins import Pin, pin_of
from whitecap.engine.sql.predicates.predicate import TRUE, Predicate
from whitecap.engine.values.coercion import compared_type
from whitecap.engine.values.types import FRACTIONAL, Session
from whitecap.engine.writing.assigning import is_default, updated
from whitecap.engine.writing.generation import (
    Completion,
    Counted,
    check_given,
    completed,
    completion,
    counted_columns,
    default_term,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One WHEN: its condition, and what makes a row with its generated columns, if it does.

    Both are given a joined row, or the target's where there is no other.
    """

    act: Act
    condition: BoundOnce[Evaluate] | None
    make: BoundOnce[Projection] | None = None


@dataclass(frozen=True, slots=True)
class JoinKey:
    """One equality of ON between a target and a source expression, in their common type."""

    target: BoundOnce[Evaluate]
    source: BoundOnce[Evaluate]
    target_column: str | None
    """The target's column, where the expression is nothing but a column that is not cast.

    None of fractions: NaN equals itself in SQL, but in no index.
    """


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a MERGE does, but for its parameters' values."""

    on: Template
    """The ON condition as the operation's parameters show it."""
    predicates: tuple[Predicate, ...]
    keys: tuple[JoinKey, ...]
    residual: Term
    pins: tuple[Pin, ...]
    """What ON asks beside the keys, if that is only what columns of the target have."""
    matched: tuple[Clause, ...]
    not_matched: tuple[Clause, ...]
    not_matched_by_source: tuple[Clause, ...]
    source_width: int
    """How many columns the source has."""
    counted: Counted
    """The identity columns that some INSERT gives no value for."""

    @property
    def is_insert_only(self) -> bool:
        """Whether no row of the target changes."""
        return not self.matched and not self.not_matched_by_source

    @property
    def is_matched_only(self) -> bool:
        """Whether only rows of the target with a match are concerned."""
        return not self.not_matched and not self.not_matched_by_source


def plan_merge(
    statement: Merge,
    schema: Schema,
    source: Source,
    session: Session,
    *,
    evolves: bool,
    takes_random: bool,
) -> MergePlan:
    """The plan, compiled once for these columns; `evolves` if the source may lack columns.

    Raises `DeltaError` for conditions that Delta does not take; some dialects take random ones.
    """

    def plan() -> MergePlan:
        _check_conditions(statement, takes_random)
        return _resolved(_Planner(statement, schema, source, session, evolves))

    key = source.names, source.types, session, evolves, takes_random
    return statement.plans.of(schema, key, plan)


class _Planner:
    def __init__(
        self, statement: Merge, schema: Schema, source: Source, session: Session, evolves: bool
    ) -> None:
        self.statement = statement
        self.evolves = evolves
        self.schema = schema
        self.source = source
        self.session = session
        self.target = Relation.of(schema, *statement.table.names)
        self.other = source.relation(_source_names(statement), offset=len(schema))
        self.joined = Scope((self.target, self.other), session)
        self.alone = Scope((self.target,), session)

    def plan(self) -> MergePlan:
        self._check_conditions()
        conjuncts = conjuncts_of(self.statement.on)
        keys = [self._join_key(node) for node in conjuncts]
        rest = [node for node, key in zip(conjuncts, keys, strict=True) if key is None]
        residual = join_and(rest)
        return MergePlan(
            Template.of(self.statement.on.sql(DIALECT)),
            self._predicates(conjuncts),
            tuple(key for key in keys if key is not None),
            compile_boolean(exp.true() if residual is None else residual, self.joined),
            self._pins(rest),
            self._clauses(Match.MATCHED),
            self._clauses(Match.NOT_MATCHED),
            self._clauses(Match.NOT_MATCHED_BY_SOURCE),
            len(self.source.names),
            counted_columns(self.schema, self._inserted_columns()),
        )

    def _check_conditions(self) -> None:
        """Raises `InvalidInput` for an ON or a clause that is no condition."""
        on = self.statement.on
        is_null = isinstance(on.unnest(), exp.Null)
        check_condition(on, self.joined, NOT_BOOLEAN if is_null else JOIN_NOT_BOOLEAN)
        for clause in self.statement.clauses:
            if clause.condition is not None and not isinstance(clause.condition.unnest(), exp.Null):
                check_condition(clause.condition, self._scope_of(clause.match), CLAUSE_NOT_BOOLEAN)

    def _scope_of(self, match: Match) -> Scope:
        """The columns that a clause may name: of both rows, or of the only one."""
        match match:
            case Match.NOT_MATCHED:
                return Scope((self.other,), self.session)
            case Match.NOT_MATCHED_BY_SOURCE:
                return self.alone
        return self.joined

    def _of(self, match: Match) -> list[MergeClause]:
        return [clause for clause in self.statement.clauses if clause.match is match]

    def _predicates(self, on: Sequence[exp.Expr]) -> tuple[Predicate, ...]:
        """What the scan of the target is told. Source: getTargetOnlyPredicates."""
        if self._of(Match.NOT_MATCHED_BY_SOURCE):
            return (TRUE,)
        predicates = [_predicate(node) for node in on if self._is_target_only(node)]
        if not self._of(Match.NOT_MATCHED):
            predicates.append(self._any_clause(self._of(Match.MATCHED)))
        return tuple(predicates)

    def _any_clause(self, clauses: Iterable[MergeClause]) -> Predicate:
        """The OR of what clauses ask of the target; one that asks nothing makes it TRUE."""
        parts: list[exp.Expr] = []
        for clause in clauses:
            nodes = [] if clause.condition is None else conjuncts_of(clause.condition)
            own = join_and(node for node in nodes if self._is_target_only(node))
            if own is None:
                return TRUE
            parts.append(own)
        return _predicate(reduce(lambda a, b: exp.Or(this=a.copy(), expression=b.copy()), parts))

    def _is_target_only(self, node: exp.Expr) -> bool:
        positions = [self.joined.find(c.name, c.table)[0] for c in node.find_all(exp.Column)]
        return all(position < len(self.schema) for position in positions)

    def _pins(self, nodes: Sequence[exp.Expr]) -> tuple[Pin, ...]:
        if not all(map(self._is_target_only, nodes)):
            return ()
        pins = [pin_of(unqualified(node), self.schema, self.session) for node in nodes]
        pinned = tuple(pin for pin in pins if pin is not None)
        return pinned if len(pinned) == len(pins) else ()

    def _is_source_only(self, node: exp.Expr) -> bool:
        positions = [self.joined.find(c.name, c.table)[0] for c in node.find_all(exp.Column)]
        return bool(positions) and min(positions) >= len(self.schema)

    def _join_key(self, node: exp.Expr) -> JoinKey | None:
        """The node as an equality between target and source, `None` if it is none."""
        if not isinstance(node, exp.EQ):
            return None
        for target, source in ((node.left, node.right), (node.right, node.left)):
            if (
                target.find(exp.Column)
                and self._is_target_only(target)
                and self._is_source_only(source)
            ):
                return self._equality(target, source)
        return None

    def _equality(self, target: exp.Expr, source: exp.Expr) -> JoinKey:
        left, right = compile_term(target, self.joined), compile_term(source, self.joined)
        common = compared_type(left.type, right.type)
        name = target.name if isinstance(target, exp.Column) and left.type == common else None
        left, right = (convert(term, common, self.session) for term in (left, right))
        if common in FRACTIONAL:
            left, right, name = _with_one_nan(left), _with_one_nan(right), None
        return JoinKey(evaluation(left), evaluation(right), name)

    def _clauses(self, match: Match) -> tuple[Clause, ...]:
        scope = self._scope_of(match)
        return tuple(self._clause(clause, scope) for clause in self._of(match))

    def _clause(self, clause: MergeClause, scope: Scope) -> Clause:
        condition = clause.condition
        test = None if condition is None else evaluation(compile_boolean(condition, scope))
        if clause.act is Act.DELETE:
            return Clause(clause.act, test)
        make = self._updated if clause.act is Act.UPDATE else self._inserted
        complete = completion(self.schema, self._given(clause), self.session)
        return Clause(clause.act, test, _making(make(clause, scope), complete))

    def _given(self, clause: MergeClause) -> Sequence[str]:
        """The columns that a clause gives values for."""
        if clause.assignments is None:
            return self.source.names
        return [name for name, _ in clause.assignments]

    def _updated(self, clause: MergeClause, scope: Scope) -> tuple[Term, ...]:
        if clause.assignments is None:
            return self._star("UPDATE")
        terms = [column(at, f.type) for at, f in enumerate(self.schema)]
        return self._assigned(terms, clause.assignments, scope, write_errors.column_set_twice)

    def _assigned(
        self,
        terms: list[Term],
        assignments: Sequence[tuple[str, exp.Expr]],
        scope: Scope,
        twice: Callable[[str], DeltaError],
    ) -> tuple[Term, ...]:
        seen: set[str] = set()
        for name, node in assignments:
            at = self.alone.place(name)
            if name.lower() in seen:
                raise twice(name)
            seen.add(name.lower())
            if is_default(node):
                text, refused_as = "DEFAULT is not known to MERGE", write_errors.MERGE_UNRESOLVED
                raise InvalidInput([Problem(name, text, refused_as=refused_as)])
            terms[at] = updated(compile_term(node, scope), self.schema.fields[at], self.session)
        return tuple(terms)

    def _inserted(self, clause: MergeClause, scope: Scope) -> tuple[Term, ...]:
        if clause.assignments is None:
            return self._star("INSERT")
        terms = [default_term(field, self.session) for field in self.schema]
        return self._assigned(terms, clause.assignments, scope, write_errors.merge_column_twice)

    def _inserted_columns(self) -> tuple[str, ...]:
        inserts = [
            {name.lower() for name in self._given(clause)} for clause in self._of(Match.NOT_MATCHED)
        ]
        given = [c.name for c in self.schema if all(c.name.lower() in names for names in inserts)]
        if inserts:
            check_given(self.schema, given)
        return tuple(given)

    def _star(self, act: str) -> tuple[Term, ...]:
        """Every target column from the source's column of its name.

        Where it is missing: with schema evolution the target's own value, or its default.
        """
        terms = []
        for at, field in enumerate(self.schema):
            try:
                position, type_name = Scope((self.other,)).find(field.name, "")
            except InvalidInput as error:
                if not self.evolves and identity_of(field) is None:
                    raise _unresolved(field.name, act, self.source) from error
                keeps = act == "UPDATE"
                left_out = column(at, field.type) if keeps else default_term(field, self.session)
                terms.append(left_out)
            else:
                terms.append(updated(column(position, type_name), field, self.session))
        return tuple(terms)


def _check_conditions(statement: Merge, takes_random: bool) -> None:
    """Raises `DeltaError` for conditions that Delta does not take."""
    conditions: list[tuple[str, exp.Expr | None]] = [("search condition", statement.on)]
    conditions += [(f"{c.act.value} condition", c.condition) for c in statement.clauses]
    for what, node in conditions:
        if node is None:
            continue
        if node.find(exp.Query) is not None:
            raise command_errors.subquery(f"{what} of MERGE operation", node.sql(DIALECT))
        if not takes_random and is_random(node):
            raise write_errors.merge_not_deterministic(what, node.sql(DIALECT))


def _resolved(planner: _Planner) -> MergePlan:
    """The plan; columns that are not there are refused as Delta's own resolution of MERGE does."""
    try:
        return planner.plan()
    except InvalidInput as error:
        first, *others = error.problems
        if first.refused_as != UNRESOLVED:
            raise
        problem = dataclasses.replace(first, refused_as=write_errors.MERGE_UNRESOLVED)
        raise InvalidInput([problem, *others]) from error


def _with_one_nan(fraction: Term) -> Term:
    """The same object for every NaN: it equals itself where rows are joined, as it does in Spark.

    Source: NormalizeFloatingNumbers.scala.
    """
    return apply(lambda value: value if value == value else nan, fraction, fraction.type)


def _making(terms: Sequence[Term], complete: Completion | None) -> BoundOnce[Projection]:
    """What makes a row: of one that is wider than any, so that none is taken for the new one."""
    return BoundOnce(lambda parameters: completed(terms, parameters, -1, complete))


def _source_names(statement: Merge) -> tuple[str, ...]:
    source = statement.source
    return source.names if isinstance(source, TableName) else (source.alias,)


def _predicate(node: exp.Expr) -> Predicate:
    return Predicate.of_node(unqualified(node))


def _unresolved(name: str, act: str, source: Source) -> DeltaError:
    """Source: DeltaErrors / ResolveDeltaMergeInto: INSERT * and UPDATE * need every column."""
    columns = ", ".join(source.names)
    text = f"Cannot resolve {name} in {act} clause given columns {columns}."
    exception, error_class = write_errors.MERGE_UNRESOLVED
    return DeltaError.of_class(exception, error_class, text)

"""A MERGE, compiled for the schemas of its target and source.

Source: MergeIntoCommandBase.scala, DeltaMergeInto.scala.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.commands.rows.merge_clauses import Clause, ClauseCompiler
from whitecap.engine.commands.rows.merge_on import (
    JoinCondition,
    check_constants,
    join_condition,
    scan_predicates,
)
from whitecap.engine.commands.rows.merge_scopes import MergedColumns, MergeScopes
from whitecap.engine.dialects.dialect import Dialect
from whitecap.engine.errors import InvalidInput
from whitecap.engine.refusals import write_errors
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.scope import UNRESOLVED, Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.functions.function_nodes import is_random
from whitecap.engine.sql.parsing.statements import Act, Match, Merge
from whitecap.engine.sql.predicates.compiler import (
    CLAUSE_NOT_BOOLEAN,
    JOIN_NOT_BOOLEAN,
    NOT_BOOLEAN,
    check_condition,
)
from whitecap.engine.sql.predicates.predicate import Predicate
from whitecap.engine.values.types import Session
from whitecap.engine.writing.generation import Counted

_SHOWN_AS = {
    Match.MATCHED: "matchedPredicates",
    Match.NOT_MATCHED: "notMatchedPredicates",
    Match.NOT_MATCHED_BY_SOURCE: "notMatchedBySourcePredicates",
}
"""Source: DeltaOperations.scala (Merge)."""


class ShownClauses(Struct, frozen=True):
    """The clauses of one kind as the operation's parameters name and show them."""

    name: str
    clauses: tuple[tuple[str, Template | None], ...]
    """Of each what it does, and its condition if it has one."""

    @classmethod
    def of(cls, statement: Merge, match: Match) -> Self:
        """Those of a statement."""
        clauses = statement.of(match)
        conditions = (
            None if each.condition is None else Template.of(each.condition.sql(DIALECT))
            for each in clauses
        )
        acts = (each.act.value.lower() for each in clauses)
        return cls(_SHOWN_AS[match], tuple(zip(acts, conditions, strict=True)))

    def render(self, parameters: Mapping[str, Any]) -> list[dict[str, str]]:
        """With the parameters' values. Source: DeltaOperations.scala (MergePredicate)."""
        return [
            {"actionType": act}
            if condition is None
            else {"predicate": f"({condition.render(parameters)})", "actionType": act}
            for act, condition in self.clauses
        ]


class MergePlan(Struct, frozen=True):
    """What a MERGE does, but for its parameters' values."""

    on: Template
    """The ON condition as the operation's parameters show it."""
    shown_clauses: tuple[ShownClauses, ...]
    """What these say of the clauses."""
    predicates: tuple[Predicate, ...]
    """What the scan of the target is told."""
    join: JoinCondition
    matched: tuple[Clause, ...]
    not_matched: tuple[Clause, ...]
    not_matched_by_source: tuple[Clause, ...]
    source_width: int
    """How many columns the source has."""
    counted: Counted
    """The identity columns that some INSERT gives no value for."""

    def shown(self, parameters: Mapping[str, Any]) -> dict[str, list[Any]]:
        """The operation's parameters."""
        clauses = {each.name: each.render(parameters) for each in self.shown_clauses}
        return {"predicate": [f"({self.on.render(parameters)})"], **clauses}

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
    columns: MergedColumns,
    session: Session,
    *,
    evolves: bool,
    dialect: Dialect,
) -> MergePlan:
    """The plan, compiled once for these columns; `evolves` if the source may lack columns.

    Raises `DeltaError` for conditions that Delta does not take; some dialects take random ones.
    """

    def plan() -> MergePlan:
        _check_parts(statement, takes_random=dialect.resolves_rows)
        scopes = MergeScopes.of(statement, columns, session)
        resolved = _resolved(statement, scopes, evolves, dialect)
        if dialect.merge_loses_char_columns:
            _check_char_columns(statement, scopes)
        if dialect.narrows_constants:
            check_constants(statement, scopes)
        return resolved

    key = (*columns.key, session, evolves, dialect.name)
    return statement.plans.of(columns.schema, key, plan)


def _check_parts(statement: Merge, *, takes_random: bool) -> None:
    """Raises `DeltaError` for conditions with something in them that Delta does not take."""
    conditions: list[tuple[str, exp.Expr | None]] = [("search condition", statement.on)]
    conditions += [(f"{c.act.value} condition", c.condition) for c in statement.clauses]
    for what, node in conditions:
        if node is None:
            continue
        if node.find(exp.Query) is not None:
            raise write_errors.subquery(f"{what} of MERGE operation", node.sql(DIALECT))
        if not takes_random and is_random(node):
            raise write_errors.merge_not_deterministic(what, node.sql(DIALECT))


def _check_char_columns(statement: Merge, scopes: MergeScopes) -> None:
    """Raises `DeltaError` for a condition or a value that names a CHAR column of either side."""
    _check_no_char([statement.on], scopes.joined)
    for clause in statement.clauses:
        parts = [] if clause.condition is None else [clause.condition]
        parts += [value for _, value in clause.assignments or ()]
        _check_no_char(parts, scopes.of_clause(clause.match))
        if clause.assignments is None and clause.act is not Act.DELETE:
            names = filter(scopes.source_only.has, scopes.schema.names)
            _check_no_char([exp.column(name, quoted=True) for name in names], scopes.source_only)


def _check_no_char(parts: Sequence[exp.Expr], scope: Scope) -> None:
    for column in (node for part in parts for node in part.find_all(exp.Column)):
        if scope.resolve(column).letters is not None:
            raise write_errors.merge_lost_column(column.sql(DIALECT))


def _resolved(statement: Merge, scopes: MergeScopes, evolves: bool, dialect: Dialect) -> MergePlan:
    """The plan; columns that are not there are refused as Delta's own resolution of MERGE does."""
    try:
        _check_types(statement, scopes)
        return _compiled(statement, scopes, evolves, dialect)
    except InvalidInput as error:
        first, *others = error.problems
        if first.refused_as != UNRESOLVED:
            raise
        problem = replace(first, refused_as=write_errors.MERGE_UNRESOLVED)
        raise InvalidInput([problem, *others]) from error


def _check_types(statement: Merge, scopes: MergeScopes) -> None:
    """Raises `InvalidInput` for an ON or a clause that is no condition."""
    on = statement.on
    is_null = isinstance(on.unnest(), exp.Null)
    check_condition(on, scopes.joined, NOT_BOOLEAN if is_null else JOIN_NOT_BOOLEAN)
    for clause in statement.clauses:
        if clause.condition is not None and not isinstance(clause.condition.unnest(), exp.Null):
            check_condition(clause.condition, scopes.of_clause(clause.match), CLAUSE_NOT_BOOLEAN)


def _compiled(statement: Merge, scopes: MergeScopes, evolves: bool, dialect: Dialect) -> MergePlan:
    compiler = ClauseCompiler(scopes, evolves)
    return MergePlan(
        Template.of(statement.on.sql(DIALECT)),
        tuple(ShownClauses.of(statement, match) for match in Match),
        scan_predicates(statement, scopes, dialect.checks),
        join_condition(statement, scopes),
        compiler.clauses(statement, Match.MATCHED),
        compiler.clauses(statement, Match.NOT_MATCHED),
        compiler.clauses(statement, Match.NOT_MATCHED_BY_SOURCE),
        len(scopes.source.names),
        compiler.counted(statement),
    )

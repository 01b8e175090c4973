"""Other words for a condition: what it means for generated partition columns, said of these too.

A query with `at >= '2026-01-02'` reads the partitions of `day`, the DATE of `at`, from that day on.
UPDATE, DELETE and MERGE read all of them, unless their condition says it of `day` as well.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.column_names import quoted_if_needed
from whitecap.engine.errors import EngineError
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.query.partition_filters import implied_conditions
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change
from whitecap.engine.races.explain.conditions import Condition, condition_of
from whitecap.engine.races.explain.wordings import added_conjuncts
from whitecap.engine.sql.expressions.rendering import sql_literal
from whitecap.engine.sql.expressions.scope import Scope
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.predicates.compiler import compile_term
from whitecap.engine.sql.predicates.normal_form import conjuncts_of
from whitecap.engine.sql.predicates.predicate import parse_predicate, session_of
from whitecap.engine.values.types import Session


def state_partitions(case: RaceCase) -> Change | None:
    """Say of generated partition columns what each condition says of what they follow from."""
    added = [_implied(case, sql) for sql in case.statements]
    return added_conjuncts(
        case,
        added,
        "state_partitions",
        "Say in the condition what it means for the generated partition columns",
    )


def _implied(case: RaceCase, sql: str) -> list[str]:
    """What a statement's condition implies and does not say."""
    condition = condition_of(sql)
    if condition is None or not condition.text:
        return []
    session = session_of(case.dialect.adjusted(case.settings))
    conjuncts = conjuncts_of(parse_condition(condition.text))
    texts = [_of_target(node, condition).sql(DIALECT) for node in conjuncts]
    schema = schema_string(parse_ddl(case.table.schema))
    columns = case.table.partition_columns
    try:
        implied = implied_conditions(map(parse_predicate, texts), schema, columns, session)
    except EngineError:
        return []  # a condition that nobody can ask
    stated = [_stated(text, condition.prefix, session) for text in implied]
    return [text for text in dict.fromkeys(stated) if text not in texts]


def _of_target(node: exp.Expr, condition: Condition) -> exp.Expr:
    """A condition with the columns of the table that is written as they are called there."""
    qualifier = condition.prefix.rstrip(".").lower()

    def bare(part: exp.Expr) -> exp.Expr:
        is_ours = isinstance(part, exp.Column) and part.table.lower() == qualifier
        return exp.Column(this=part.this.copy()) if is_ours else part

    return node.transform(bare)


def _stated(text: str, prefix: str, session: Session) -> str:
    """What is implied, in words for people: with literals, and of rows that have a value."""

    def stated(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            return exp.var(prefix + quoted_if_needed(part.name))
        if isinstance(part, exp.Cast | exp.Func) and part.find(exp.Column) is None:
            value = compile_term(part, Scope((), session)).bind({}).value
            return exp.var(sql_literal(value))
        return part

    node = parse_condition(text).unnest()
    sides = list(node.flatten()) if isinstance(node, exp.Or) else [node]
    kept = [side.unnest() for side in sides if not _is_undecided(side.unnest())]
    joined = " OR ".join(side.transform(stated).sql(DIALECT) for side in kept)
    return f"({joined})" if len(kept) > 1 else joined


def _is_undecided(node: exp.Expr) -> bool:
    """Whether a condition asks if another is NULL: that one itself is then not met by a row."""
    return isinstance(node, exp.Is) and not isinstance(node.this.unnest(), exp.Column)

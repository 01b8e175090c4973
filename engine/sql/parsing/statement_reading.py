"""From sqlglot's syntax tree of a statement to our statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.spark_text import DIALECT, IN_PARENTHESES, NAMED_INSIDE
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR
from whitecap.engine.sql.parsing.query_reading import (
    alias_columns,
    predicate_of,
    query_of,
    table_name,
    where_of,
)
from whitecap.engine.sql.parsing.shared_columns import with_shared_columns
from whitecap.engine.sql.parsing.statements import (
    Act,
    Delete,
    Insert,
    Match,
    Merge,
    MergeClause,
    Query,
    Statement,
    TableName,
    Truncate,
    Update,
)
from whitecap.engine.sql.predicates.predicate import Predicate


def statement_of(node: exp.Expr, template: Template) -> Statement | None:
    """The statement of a syntax tree, `None` for a kind that is not modelled.

    Raises `InvalidInput` or `UnsupportedFeature` for what is wrong or missing inside it.
    """
    reader = _READERS.get(type(node))
    with_shared_columns(node)
    return None if reader is None else reader(node, template)


_MYSQL_INSERT = re.compile(r"\s*INSERT\s+INTO\s+(?:TABLE\s+)?\S+\s+SET\b", re.I)


def _insert(node: exp.Insert, template: Template) -> Statement:
    if _MYSQL_INSERT.match(template.texts[0]):
        text = "INSERT takes VALUES or a query, no SET"
        raise InvalidInput([Problem("SET", text, refused_as=SYNTAX_ERROR)])
    target = node.this
    columns = tuple(c.name for c in target.expressions) if isinstance(target, exp.Schema) else ()
    table_node = target.this if isinstance(target, exp.Schema) else target
    table = table_name(table_node)
    source = _with_common(node, node.args.get("source") or node.expression)
    by_name, overwrite = bool(node.args.get("by_name")), bool(node.args.get("overwrite"))
    if (columns and by_name) or (where_of(node) is not None and (columns or overwrite)):
        text = "BY NAME and REPLACE WHERE take no columns, REPLACE WHERE no OVERWRITE"
        raise InvalidInput([Problem("INSERT", text, refused_as=SYNTAX_ERROR)])
    return Insert(
        table,
        template,
        query_of(source),
        columns,
        by_name,
        overwrite,
        _partition_values(_partition(table_node)),
        None if (where := where_of(node)) is None else Predicate.of_node(where),
    )


def _with_common(node: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The statement's query, with the queries that the statement names before it, as its own."""
    named = node.args.get("with_")
    if named is None:
        return query
    node.set("with_", None)
    names = {cte.alias.lower() for cte in named.expressions}
    if isinstance(query, exp.Table):
        if query.name.lower() not in names:
            return query
        alias = query.args.get("alias") or exp.TableAlias(this=exp.to_identifier(query.name))
        inner = exp.select("*").from_(exp.table_(query.name))
        inner.set("with_", named.copy())
        return exp.Subquery(this=inner, alias=alias)
    inside = query.this if isinstance(query, exp.Subquery) else query
    own = inside.args.get("with_")
    mine = [] if own is None else own.expressions
    inside.set("with_", exp.With(expressions=[*named.expressions, *mine]))
    return query


def _partition(table: exp.Table) -> list[exp.Expr]:
    partition = table.args.get("partition")
    return [] if partition is None else list(partition.expressions)


def _partition_values(nodes: Iterable[exp.Expr]) -> tuple[tuple[str, exp.Expr | None], ...]:
    """Names and values of a PARTITION clause. Raises `InvalidInput` for a name that comes twice."""
    pairs = tuple(_partition_value(node) for node in nodes)
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        refused_as = "ParseException", "DUPLICATE_KEY"
        raise InvalidInput([Problem("PARTITION", "names a column twice", refused_as=refused_as)])
    return pairs


_COMPUTED = (exp.Binary, exp.Anonymous)
"""What is no constant in Spark's grammar."""


def _partition_value(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    if isinstance(node, exp.EQ) and not isinstance(node.expression, _COMPUTED):
        return node.this.name, node.expression
    if not isinstance(node, exp.Column | exp.Identifier):
        text = "takes columns and constants for them"
        raise InvalidInput([Problem("PARTITION", text, refused_as=SYNTAX_ERROR)])
    return node.name, None


def _delete(node: exp.Delete, template: Template) -> Statement:
    table = _target(node.this)
    return Delete(table, template, predicate_of(where_of(node), table))


def _update(node: exp.Update, template: Template) -> Statement:
    table = _target(node.this)
    assignments = _assignments(node.expressions, table)
    if not assignments:
        raise InvalidInput([Problem(node.sql(DIALECT), "sets no column")])
    plain = tuple((name, unqualified(value, table.names)) for name, value in assignments)
    return Update(table, template, plain, predicate_of(where_of(node), table))


def _assignments(nodes: Iterable[exp.Expr], table: TableName) -> tuple[tuple[str, exp.Expr], ...]:
    pairs = []
    for node in nodes:
        if not isinstance(node, exp.EQ):
            raise InvalidInput([Problem(node.sql(DIALECT), "is not an assignment")])
        pairs.append((_assigned_column(node.this, table), node.expression))
    return tuple(pairs)


def _assigned_column(node: exp.Expr, table: TableName) -> str:
    """Its name, with what is no name of the table before it: a mistake, or a struct."""
    column = unqualified(node, table.names)
    if not isinstance(column, exp.Column):
        raise UnsupportedFeature(f"assigning {node.sql(DIALECT)}")
    return f"{column.table}.{column.name}" if column.table else column.name


def _truncate(node: exp.TruncateTable, template: Template) -> Statement:
    table = node.expressions[0]
    partition = isinstance(table, exp.Table) and table.args.get("partition") is not None
    return Truncate(table_name(table), template, partition or bool(node.args.get("partition")))


def _target(node: exp.Expr) -> TableName:
    """The table that a statement writes. Raises `InvalidInput` for one of its versions."""
    if isinstance(node, exp.Table) and node.args.get("version"):
        text = "only the newest version can be written"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])
    return table_name(node)


def _without_renaming(node: exp.Expr) -> exp.Expr:
    """The table of a MERGE. Raises `InvalidInput` for aliases of its columns."""
    if alias_columns(node):
        refused_as = "ParseException", "COLUMN_ALIASES_NOT_ALLOWED"
        text = "its columns cannot be renamed here"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=refused_as)])
    return node


def _merge(node: exp.Merge, template: Template) -> Statement:
    table = _target(_without_renaming(node.this))
    on = node.args["on"]
    if not isinstance(on, exp.Expr):
        raise InvalidInput([Problem("MERGE", "ON is missing", refused_as=SYNTAX_ERROR)])
    using = _with_common(node, node.args["using"])
    source = _source(using)
    clauses = tuple(_clause(when, table) for when in node.args["whens"].expressions)
    for match in Match:
        _check_order([clause for clause in clauses if clause.match is match])
    kinds = [list(Match).index(clause.match) for clause in clauses]
    if kinds != sorted(kinds) or (isinstance(using, exp.Table) and using.args.get("version")):
        text = (
            "clauses come as MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE, sources without VERSION"
        )
        raise InvalidInput([Problem("MERGE", text, refused_as=SYNTAX_ERROR)])
    return Merge(table, template, source, on, clauses, not_spark=_not_spark(using))


def _source(using: exp.Expr) -> TableName | Query:
    if isinstance(using, exp.Table):
        return table_name(_without_renaming(using))
    return query_of(using)


def _not_spark(using: exp.Expr) -> str:
    """What of a MERGE's source Spark's parser refuses."""
    if isinstance(using, exp.Values):
        if not using.meta[IN_PARENTHESES]:
            return "VALUES stands without parentheses"
        if using.meta.get(NAMED_INSIDE):
            return ""
    return "the alias of MERGE's source names columns" if alias_columns(using) else ""


_KINDS = {
    Match.MATCHED: "MATCHED",
    Match.NOT_MATCHED: "NOT_MATCHED_BY_TARGET",
    Match.NOT_MATCHED_BY_SOURCE: "NOT_MATCHED_BY_SOURCE",
}


def _check_order(clauses: list[MergeClause]) -> None:
    """Raises `InvalidInput` for a clause after one of its kind that takes all rows."""
    if any(clause.condition is None for clause in clauses[:-1]):
        refused_as = "ParseException", f"NON_LAST_{_KINDS[clauses[0].match]}_CLAUSE_OMIT_CONDITION"
        text = "only the last clause of its kind may come without a condition"
        raise InvalidInput([Problem(clauses[0].match.value, text, refused_as=refused_as)])


def _clause(when: exp.When, table: TableName) -> MergeClause:
    matched, by_source = bool(when.args.get("matched")), bool(when.args.get("source"))
    match = Match.MATCHED if matched else Match.NOT_MATCHED
    if by_source and not matched:
        match = Match.NOT_MATCHED_BY_SOURCE
    then = when.args["then"]
    condition = when.args.get("condition")
    if isinstance(then, exp.Update):
        assignments = _set_clause(then, table)
        columns = [node.this for node in then.expressions if isinstance(node, exp.EQ)]
        clause = MergeClause(match, Act.UPDATE, condition, assignments, _qualified(columns))
    elif isinstance(then, exp.Insert):
        assignments = _insert_clause(then, table)
        named = () if assignments is None else then.this.expressions
        clause = MergeClause(match, Act.INSERT, condition, assignments, _qualified(named))
    else:
        clause = MergeClause(match, Act.DELETE, condition)
        if then.name.upper() != "DELETE":
            raise _no_such_action(when)
    takes_all = clause.act is Act.UPDATE and clause.assignments is None
    if (clause.act is Act.INSERT) != (match is Match.NOT_MATCHED) or (takes_all and by_source):
        raise _no_such_action(when)
    return clause


def _qualified(columns: Iterable[exp.Expr]) -> tuple[str, ...]:
    return tuple(column.name for column in columns if column.args.get("table"))


def _no_such_action(when: exp.When) -> InvalidInput:
    return InvalidInput([Problem(when.sql(DIALECT), "no such action", refused_as=SYNTAX_ERROR)])


def _set_clause(then: exp.Update, table: TableName) -> tuple[tuple[str, exp.Expr], ...] | None:
    if isinstance(then.expressions, exp.Star):
        raise InvalidInput([Problem("UPDATE *", "SET is missing", refused_as=SYNTAX_ERROR)])
    if any(isinstance(node, exp.Star) for node in then.expressions):
        _check_alone(then, *then.expressions)
        return None
    return _assignments(then.expressions, table)


def _check_alone(then: exp.Expr, star: exp.Expr, *others: exp.Expr) -> None:
    """Raises `InvalidInput` for a MERGE's star with anything beside it, as EXCEPT."""
    if others or any(star.args.values()):
        text = "a star stands alone here"
        raise InvalidInput([Problem(then.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])


def _insert_clause(then: exp.Insert, table: TableName) -> tuple[tuple[str, exp.Expr], ...] | None:
    if isinstance(then.this, exp.Star):
        _check_alone(then, then.this)
        return None
    if not (isinstance(then.this, exp.Expr) and isinstance(then.expression, exp.Expr)):
        text = "needs columns and a value for each"
        raise InvalidInput([Problem(then.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])
    names, values = then.this.expressions, then.expression.expressions
    if any(isinstance(node, exp.Star) for node in (*names, *values)):
        text = "a star stands without parentheses"
        raise InvalidInput([Problem(then.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])
    if len(names) != len(values):
        raise InvalidInput(
            [Problem(then.sql(DIALECT), f"{len(names)} columns, {len(values)} values")]
        )
    columns = (_assigned_column(name, table) for name in names)
    return tuple(zip(columns, values, strict=True))


_READERS: dict[type[exp.Expr], Callable[[Any, Template], Statement]] = {
    exp.Insert: _insert,
    exp.Delete: _delete,
    exp.Update: _update,
    exp.Merge: _merge,
    exp.TruncateTable: _truncate,
}

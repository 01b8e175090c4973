"""From sqlglot's syntax tree of a statement to our statements."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.spark_text import DIALECT, IN_PARENTHESES, NAMED_INSIDE
from whitecap.engine.sql.expressions.text import SYNTAX_ERROR, whole_number
from whitecap.engine.sql.parsing.statements import (
    Act,
    Delete,
    Insert,
    Match,
    Merge,
    MergeClause,
    PlainRead,
    Query,
    Select,
    Statement,
    TableName,
    Truncate,
    Update,
    Values,
    whole_table,
)
from whitecap.engine.sql.predicates.predicate import Predicate


def statement_of(node: exp.Expr, template: Template) -> Statement | None:
    """The statement of a syntax tree, `None` for a kind that is not modelled.

    Raises `InvalidInput` or `UnsupportedFeature` for what is wrong or missing inside it.
    """
    reader = _READERS.get(type(node))
    return None if reader is None else reader(node, template)


def table_name(node: exp.Expr) -> TableName:
    """The table of a syntax tree, with its alias and time travel.

    Raises `InvalidInput` where sqlglot found no table: it is lenient about what comes there.
    """
    if not isinstance(node, exp.Table):
        raise InvalidInput([Problem("line 1", "a table name is missing")])
    if node.args.get("joins"):
        raise UnsupportedFeature(f"several tables at once: {node.sql(DIALECT)}")
    path = ".".join(part.name for part in node.parts)
    version = node.args.get("version")
    if version is not None and version.this != "VERSION":
        raise UnsupportedFeature(f"time travel by timestamp: {node.sql(DIALECT)}")
    alias = node.args.get("alias")
    if alias is not None and isinstance(alias.this, exp.Parameter):
        raise UnsupportedFeature(f"time travel by @: {node.sql(DIALECT)}")
    at = None if version is None else whole_number(version.expression, node)
    return TableName(path, node.alias, at)


def limit_of(node: exp.Expr) -> int | None:
    """How many rows a SELECT gives at most, `None` for all.

    Raises `InvalidInput` for a text, `UnsupportedFeature` for what has to be computed.
    """
    limit = node.args.get("limit")
    if limit is None:
        return None
    count = limit.expression
    if isinstance(count, exp.Literal) and not count.is_int:
        refused_as = "ExtendedAnalysisException", "INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"
        raise InvalidInput([Problem("LIMIT", f"{count} is no number of rows", None, refused_as)])
    return whole_number(count, node)


def _predicate(node: exp.Expr | None, table: TableName) -> Predicate | None:
    """A condition on one table: its columns may be qualified by the table's names.

    Another qualifier stays: whether it is a table that is not there or a struct, schemas tell.
    """
    return None if node is None else Predicate.of_node(unqualified(node, table.names))


def _where(node: exp.Expr) -> exp.Expr | None:
    where = node.args.get("where")
    return where.this if isinstance(where, exp.Where) else where


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
    if (columns and by_name) or (_where(node) is not None and (columns or overwrite)):
        text = "BY NAME and REPLACE WHERE take no columns, REPLACE WHERE no OVERWRITE"
        raise InvalidInput([Problem("INSERT", text, refused_as=SYNTAX_ERROR)])
    return Insert(
        table,
        template,
        query_of(source),
        columns,
        by_name,
        overwrite,
        tuple(_partition_value(part) for part in _partition(table_node)),
        _predicate(_where(node), table),
    )


def _with_common(node: exp.Expr, query: exp.Expr) -> exp.Expr:
    """The statement's query, with the queries that the statement names before it."""
    named = node.args.get("with_")
    if named is None:
        return query
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


def _partition_value(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    if isinstance(node, exp.EQ):
        return node.this.name, node.expression
    return node.name, None


def _delete(node: exp.Delete, template: Template) -> Statement:
    table = table_name(node.this)
    return Delete(table, template, _predicate(_where(node), table))


def _update(node: exp.Update, template: Template) -> Statement:
    table = table_name(node.this)
    assignments = _assignments(node.expressions, table)
    if not assignments:
        raise InvalidInput([Problem(node.sql(DIALECT), "sets no column")])
    plain = tuple((name, unqualified(value, table.names)) for name, value in assignments)
    return Update(table, template, plain, _predicate(_where(node), table))


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


def _written(node: exp.Expr) -> TableName:
    """The table of a statement that writes. Raises `InvalidInput` for aliases of its columns."""
    if _alias_columns(node):
        refused_as = "ParseException", "COLUMN_ALIASES_NOT_ALLOWED"
        text = "its columns cannot be renamed here"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=refused_as)])
    return table_name(node)


def _merge(node: exp.Merge, template: Template) -> Statement:
    table = _written(node.this)
    using = _with_common(node, node.args["using"])
    source = _written(using) if isinstance(using, exp.Table) else query_of(using)
    clauses = tuple(_clause(when, table) for when in node.args["whens"].expressions)
    for match in Match:
        _check_order([clause for clause in clauses if clause.match is match])
    kinds = [list(Match).index(clause.match) for clause in clauses]
    if kinds != sorted(kinds) or (isinstance(using, exp.Table) and using.args.get("version")):
        text = (
            "clauses come as MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE, sources without VERSION"
        )
        raise InvalidInput([Problem("MERGE", text, refused_as=SYNTAX_ERROR)])
    return Merge(table, template, source, node.args["on"], clauses, not_spark=_not_spark(using))


def _not_spark(using: exp.Expr) -> str:
    """What of a MERGE's source Spark's parser refuses."""
    if isinstance(using, exp.Values):
        if not using.meta[IN_PARENTHESES]:
            return "VALUES stands without parentheses"
        if using.meta.get(NAMED_INSIDE):
            return ""
    return "the alias of MERGE's source names columns" if _alias_columns(using) else ""


def _check_order(clauses: list[MergeClause]) -> None:
    """Raises `InvalidInput` for a clause after one of its kind that takes all rows."""
    if any(clause.condition is None for clause in clauses[:-1]):
        kind = clauses[0].match.value.removeprefix("WHEN ").replace(" ", "_")
        refused_as = "ParseException", f"NON_LAST_{kind}_CLAUSE_OMIT_CONDITION"
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
        clause = MergeClause(match, Act.UPDATE, condition, assignments)
    elif isinstance(then, exp.Insert):
        clause = MergeClause(match, Act.INSERT, condition, _insert_clause(then))
    else:
        clause = MergeClause(match, Act.DELETE, condition)
        if then.name.upper() != "DELETE":
            raise _no_such_action(when)
    takes_all = clause.act is Act.UPDATE and clause.assignments is None
    if (clause.act is Act.INSERT) != (match is Match.NOT_MATCHED) or (takes_all and by_source):
        raise _no_such_action(when)
    return clause


def _no_such_action(when: exp.When) -> InvalidInput:
    return InvalidInput([Problem(when.sql(DIALECT), "no such action", refused_as=SYNTAX_ERROR)])


def _set_clause(then: exp.Update, table: TableName) -> tuple[tuple[str, exp.Expr], ...] | None:
    if isinstance(then.expressions, exp.Star):
        raise InvalidInput([Problem(then.sql(DIALECT), "SET is missing", refused_as=SYNTAX_ERROR)])
    if any(isinstance(node, exp.Star) for node in then.expressions):
        return None
    return _assignments(then.expressions, table)


def _insert_clause(then: exp.Insert) -> tuple[tuple[str, exp.Expr], ...] | None:
    if isinstance(then.this, exp.Star):
        return None
    if not (isinstance(then.this, exp.Expr) and isinstance(then.expression, exp.Expr)):
        text = "needs columns and a value for each"
        raise InvalidInput([Problem(then.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])
    names, values = then.this.expressions, then.expression.expressions
    if len(names) != len(values):
        raise InvalidInput(
            [Problem(then.sql(DIALECT), f"{len(names)} columns, {len(values)} values")]
        )
    return tuple((name.name, value) for name, value in zip(names, values, strict=True))


def query_of(node: exp.Expr | None) -> Query:
    """The query of a syntax tree: rows, columns of one table, or any other."""
    match node:
        case exp.Values():
            return values_of(node)
        case exp.Table():
            return whole_table(table_name(node))
        case exp.Subquery():
            return _aliased(query_of(node.this), node)
        case exp.Select():
            return _select(node)
        case exp.SetOperation():
            return Select(node)
    if node is None:
        raise InvalidInput([Problem("INSERT", "has neither VALUES nor a query")])
    raise UnsupportedFeature(f"queries of this form: {node.sql(DIALECT)}")


def _aliased(query: Query, node: exp.Expr) -> Query:
    alias, columns = node.alias, _alias_columns(node)
    return dataclasses.replace(query, alias=alias, columns=columns or query.columns)


def _alias_columns(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    return tuple(c.name for c in alias.args.get("columns") or ()) if alias else ()


_QUERY_IN_VALUES = (
    "ExtendedAnalysisException",
    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES",
)


def values_of(node: exp.Values) -> Values:
    """The literal rows of a syntax tree, or the parameter that holds them."""
    alias, columns = node.alias, _alias_columns(node)
    name = _rows_parameter(node)
    if name is not None:
        return Values((), name, alias, columns)
    rows = tuple(
        tuple(row.expressions) if isinstance(row, exp.Tuple) else (row,) for row in node.expressions
    )
    if node.find(exp.Query) is not None:
        text = "a query has no place among literal rows"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=_QUERY_IN_VALUES)])
    return Values(rows, None, alias, columns)


def _rows_parameter(node: exp.Values) -> str | None:
    """The parameter that holds all rows of a VALUES; `None` where the rows are written out.

    Raises `UnsupportedFeature` for one beside other rows.
    """
    named = [row for row in node.expressions if isinstance(row, exp.Placeholder)]
    if named and len(node.expressions) > 1:
        raise UnsupportedFeature(f"a parameter beside other rows: {node.sql(DIALECT)}")
    return named[0].name if named else None


_PLAIN_SELECT = frozenset({"expressions", "from_", "where", "limit", "kind", "hint"})


def _select(node: exp.Select) -> Query:
    if not node.expressions:
        raise InvalidInput([Problem(node.sql(DIALECT), "selects no column")])
    source = node.args.get("from_")
    if source is None or not _is_plain(node):
        rows = None if source is None else source.this
        return values_of(rows) if isinstance(rows, exp.Values) and _is_whole(node) else Select(node)
    table = table_name(source.this)
    return Select(node, PlainRead(table, _predicate(_where(node), table), limit_of(node)))


def _is_plain(node: exp.Select) -> bool:
    """Whether it takes rows of one table one by one."""
    if any(value and key not in _PLAIN_SELECT for key, value in node.args.items()):
        return False
    if not _is_named(node.args["from_"].this):
        return False
    complicated = (exp.AggFunc, exp.Subquery, exp.Exists, exp.Window)
    return node.find(*complicated) is None and not any(
        query is not node for query in node.find_all(exp.Query)
    )


def _is_named(node: exp.Expr) -> bool:
    """Whether it is a table, not a function that gives one."""
    return isinstance(node, exp.Table) and not isinstance(node.this, exp.Func)


def _is_whole(node: exp.Select) -> bool:
    """Whether it takes all columns and rows of what it selects from."""
    only_source = not any(v for k, v in node.args.items() if k not in ("expressions", "from_"))
    return only_source and _is_star(node)


def _is_star(node: exp.Select) -> bool:
    star = node.expressions[0]
    return (
        len(node.expressions) == 1 and isinstance(star, exp.Star) and not star.args.get("except_")
    )


_READERS: dict[type[exp.Expr], Callable[[Any, Template], Statement]] = {
    exp.Insert: _insert,
    exp.Delete: _delete,
    exp.Update: _update,
    exp.Merge: _merge,
    exp.TruncateTable: _truncate,
}

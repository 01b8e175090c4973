"""From sqlglot's syntax tree of a query to ours: tables, rows, and what a query reads."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.columns import unqualified
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import whole_number
from whitecap.engine.sql.parsing.statements import (
    PlainRead,
    Query,
    Select,
    TableName,
    Values,
    whole_table,
)
from whitecap.engine.sql.predicates.predicate import Predicate


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
    if isinstance(count, exp.Neg):
        refused_as = "ExtendedAnalysisException", "INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE"
        raise InvalidInput([Problem("LIMIT", "is negative", None, refused_as)])
    return whole_number(count, node)


def predicate_of(node: exp.Expr | None, table: TableName) -> Predicate | None:
    """A condition on one table: its columns may be qualified by the table's names.

    Another qualifier stays: whether it is a table that is not there or a struct, schemas tell.
    """
    return None if node is None else Predicate.of_node(unqualified(node, table.names))


def where_of(node: exp.Expr) -> exp.Expr | None:
    """The condition of a WHERE, `None` without one."""
    where = node.args.get("where")
    return where.this if isinstance(where, exp.Where) else where


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
    alias, columns = node.alias, alias_columns(node)
    return replace(query, alias=alias, columns=columns or query.columns)


def alias_columns(node: exp.Expr) -> tuple[str, ...]:
    """The names that an alias gives to columns, `AS q(a, b)`; none if it names none."""
    alias = node.args.get("alias")
    return tuple(c.name for c in alias.args.get("columns") or ()) if alias else ()


_QUERY_IN_VALUES = (
    "ExtendedAnalysisException",
    "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES",
)


def values_of(node: exp.Values) -> Values:
    """The literal rows of a syntax tree, or the parameter that holds them."""
    alias, columns = node.alias, alias_columns(node)
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
    if source is None or not is_plain(node):
        rows = None if source is None else source.this
        return values_of(rows) if isinstance(rows, exp.Values) and _is_whole(node) else Select(node)
    table = table_name(source.this)
    return Select(node, PlainRead(table, predicate_of(where_of(node), table), limit_of(node)))


def is_plain(node: exp.Select) -> bool:
    """Whether a query with a FROM takes rows of one table one by one."""
    if any(value and key not in _PLAIN_SELECT for key, value in node.args.items()):
        return False
    source = node.args["from_"].this
    if not _is_named(source) or source.alias_column_names:
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

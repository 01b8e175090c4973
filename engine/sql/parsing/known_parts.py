"""Which parts of SQL something here reads: sqlglot parses more, and what nobody reads is refused.

A part that were passed over in silence would give other rows than Spark's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR

_QUERY = {"with_", "kind", "hint"}
_PARTS: dict[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from_", "joins", "where", "group", "having", "order", "limit"}
    | {"distinct"}
    | _QUERY,
    exp.Union: {"this", "expression", "distinct", "with_"},
    exp.Except: {"this", "expression", "distinct", "with_"},
    exp.Intersect: {"this", "expression", "distinct", "with_"},
    exp.Subquery: {"this", "alias", "with_"},
    exp.Table: {"this", "db", "catalog", "alias", "partition", "version", "joins"},
    exp.Join: {"this", "side", "kind", "on", "using"},
    exp.Group: {"expressions"},
    exp.Distinct: {"expressions"},
    exp.With: {"expressions"},
    exp.Window: {"this", "partition_by", "order", "over"},
    exp.Limit: {"expression"},
    exp.Fetch: set(),
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Insert: {"this", "expression", "source", "overwrite", "by_name", "where", "with_"}
    | {"alias", "is_function"},
    exp.Merge: {"this", "using", "on", "whens", "with_"},
}
_NOT_SPARK: dict[type[exp.Expr], set[str]] = {
    exp.Delete: {"this", "where", "tables"},
    exp.Update: {"this", "expressions", "where"},
}
"""Statements of other databases: Spark's parser refuses their further parts."""


def check_parts(tree: exp.Expr) -> None:
    """Raises `UnsupportedFeature` for a part that nothing reads.

    Raises `InvalidInput` for one that Spark's grammar does not have.
    """
    for node in tree.walk():
        parts = _PARTS.get(type(node), _NOT_SPARK.get(type(node)))
        if parts is not None:
            _check_names(node, parts)
        _check_values(node)


def _check_names(node: exp.Expr, parts: set[str]) -> None:
    for name, value in node.args.items():
        if value and name not in parts:
            _refuse(node, name)


def _refuse(node: exp.Expr, name: str) -> None:
    part = name.strip("_").upper()
    if type(node) in _NOT_SPARK and name != "with_":
        text = f"{part} is no part of {node.key.upper()} in Spark"
        raise InvalidInput([Problem(node.sql(DIALECT), text, refused_as=SYNTAX_ERROR)])
    raise UnsupportedFeature(f"{part} in {node.key.upper()}: {node.sql(DIALECT)}")


_KINDS_OF_JOIN = ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI")


def _check_once(names: Sequence[str]) -> None:
    """Raises `InvalidInput` for names in a WITH that come twice."""
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    refused_as = "ParseException", "DUPLICATED_CTE_NAMES"
    problems = [Problem("WITH", f"names {name} twice", refused_as=refused_as) for name in twice]
    if problems:
        raise InvalidInput(problems)


def _check_values(node: exp.Expr) -> None:
    """NULLs come first in ascending order and last in descending; DISTINCT counts one column.

    A WITH gives a name once, and joins are those of Spark.
    """
    if isinstance(node, exp.With):
        _check_once([cte.alias.lower() for cte in node.expressions])
    if isinstance(node, exp.Join) and node.kind not in _KINDS_OF_JOIN:
        text = f"no join of Spark: {node.kind}"
        raise InvalidInput([Problem(node.sql(DIALECT).strip(), text, refused_as=SYNTAX_ERROR)])
    if isinstance(node, exp.Ordered):
        descending, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        if descending == first:
            raise UnsupportedFeature(f"another place of NULLs: {node.sql(DIALECT)}")
    if (
        isinstance(node, exp.Distinct)
        and isinstance(node.parent, exp.AggFunc)
        and len(node.expressions) > 1
    ):
        raise UnsupportedFeature(f"several columns in {node.parent.sql(DIALECT)}")

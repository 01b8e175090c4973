"""What positions and names of a SELECT list stand for, elsewhere in its query."""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem


def unaliased(node: exp.Expr) -> exp.Expr:
    """An item of a SELECT list without its name."""
    return node.this if isinstance(node, exp.Alias) else node


def by_position(node: exp.Expr, select: exp.Select, clause: str) -> exp.Expr:
    """A column of the SELECT list by its number or alias, else the expression itself.

    Raises `InvalidInput` for a number that no column has; `clause` is GROUP or ORDER.
    """
    if isinstance(node, exp.Literal) and node.is_int:
        at = int(node.this) - 1
        if not 0 <= at < len(select.expressions):
            refused_as = "AnalysisException", f"{clause}_BY_POS_OUT_OF_RANGE"
            raise InvalidInput([Problem(node.this, "no such position", refused_as=refused_as)])
        return unaliased(select.expressions[at])
    if isinstance(node, exp.Column) and not node.table:
        aliased = (n for n in select.expressions if isinstance(n, exp.Alias))
        return next((n.this for n in aliased if n.alias == node.name), node)
    return node


def by_aliases(condition: exp.Expr, select: exp.Select) -> exp.Expr:
    """A condition on groups with what the SELECT list names in the place of its names."""

    def named(part: exp.Expr) -> exp.Expr:
        is_of_group = isinstance(part, exp.Column) and part.find_ancestor(exp.AggFunc) is None
        return by_position(part, select, "GROUP") if is_of_group else part

    return condition.transform(named)

"""What positions and names of a SELECT list stand for, elsewhere in its query."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem


def unaliased(node: exp.Expr) -> exp.Expr:
    """An item of a SELECT list without its name."""
    return node.this if isinstance(node, exp.Alias) else node


def item_called(select: exp.Select, name: str, names: Sequence[str] = ()) -> exp.Expr | None:
    """What a query computes under a name; under a star, the column itself.

    `names`: what its columns are called instead. `None` if that cannot be told by the query alone.
    """
    items = select.expressions
    if names:
        lowered = [other.lower() for other in names]
        is_there = name.lower() in lowered and len(items) == len(names)
        return unaliased(items[lowered.index(name.lower())]) if is_there else None
    for item in items:
        if isinstance(item, exp.Alias | exp.Column) and item.alias_or_name.lower() == name.lower():
            return unaliased(item)
    stars = [item for item in items if item.is_star]
    if len(stars) != 1 or _leaves_out(stars[0]):
        return None
    return exp.column(name, stars[0].table if isinstance(stars[0], exp.Column) else None)


def _leaves_out(star: exp.Expr) -> bool:
    return any(part.args.get("except_") for part in star.find_all(exp.Star))


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

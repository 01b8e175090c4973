"""What positions and names of a SELECT list stand for, elsewhere in its query."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.sql.expressions.columns import (
    columns_outside_queries,
    in_lower_case,
    unqualified,
)

_AMBIGUOUS_ITEM = "AnalysisException", "AMBIGUOUS_LATERAL_COLUMN_ALIAS"
_NOT_INSIDE: Sequence[tuple[type[exp.Expr], str]] = (
    (exp.Window, "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_WINDOW"),
    (exp.AggFunc, "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_AGGREGATE_FUNC"),
)


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
    if len(stars) != 1 or leaves_out(stars[0], name):
        return None
    return exp.column(name, stars[0].table if isinstance(stars[0], exp.Column) else None)


def left_out(star: exp.Expr) -> list[str]:
    """The columns that a star, of a table or of all, is EXCEPT."""
    kept_back = (part.args.get("except_") or () for part in star.find_all(exp.Star))
    return [column.name for part in kept_back for column in part]


def leaves_out(star: exp.Expr, name: str) -> bool:
    """Whether a star, of a table or of all, is one EXCEPT a column of this name."""
    return any(column.lower() == name.lower() for column in left_out(star))


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
    return _aliased(node, select) or node


def _aliased(node: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """What the SELECT list computes under the name that an expression is, if it is one."""
    if not isinstance(node, exp.Column) or node.table:
        return None
    aliased = (item for item in select.expressions if isinstance(item, exp.Alias))
    return next((item.this for item in aliased if item.alias.lower() == node.name.lower()), None)


def by_lateral_aliases(
    node: exp.Expr, before: Sequence[tuple[str, exp.Expr]], is_column: Callable[[str], bool]
) -> exp.Expr:
    """An item of a SELECT list with what items before it compute in the place of their names.

    `before`: these, by their names. A column that the query selects from goes before. Raises
    `InvalidInput` for a name of several items, and for one inside of an aggregate or a window.
    Source: ResolveLateralColumnAliasReference.scala.
    """

    def computed(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.table or is_column(part.name):
            return part
        at = _only_place(part.name, [name for name, _ in before])
        if at is None:
            return part
        _check_no_aggregate_around(part)
        item = by_lateral_aliases(before[at][1], before[:at], is_column)
        return item.copy() if isinstance(item, exp.Column) else exp.paren(item.copy())

    return node.transform(computed)


def _check_no_aggregate_around(column: exp.Column) -> None:
    for kind, error_class in _NOT_INSIDE:
        around = column.find_ancestor(kind)
        if around is not None:
            refused_as = "AnalysisException", error_class
            text = f"an item of the SELECT list inside of {around.key.upper()}"
            raise InvalidInput([Problem(column.name, text, refused_as=refused_as)])


def _only_place(name: str, names: Sequence[str]) -> int | None:
    places = [at for at, other in enumerate(names) if other.lower() == name.lower()]
    if len(places) > 1:
        text = f"names {len(places)} items of the SELECT list"
        raise InvalidInput([Problem(name, text, refused_as=_AMBIGUOUS_ITEM)])
    return places[0] if places else None


def group_keys(select: exp.Select, is_column: Callable[[str], bool]) -> list[exp.Expr]:
    """What a query groups by. A name is that of a column that it selects from, else an alias.

    Raises `InvalidInput` for a position that no column has. Source: Spark's
    ResolveReferencesInAggregate.scala.
    """
    group = select.args.get("group")
    return [
        key
        if isinstance(key, exp.Column) and is_column(key.name)
        else by_position(key, select, "GROUP")
        for key in (group.expressions if group is not None else ())
    ]


def by_aliases(condition: exp.Expr, select: exp.Select, keys: Sequence[exp.Expr]) -> exp.Expr:
    """A condition on groups with what the SELECT list names in the place of its names.

    Keys go before: what is one of these stays, and so do queries. Source: SPARK-31519.
    """

    def named(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Query) or key_at(part, keys) is not None:
            return part.copy()
        is_of_group = part.find_ancestor(exp.AggFunc) is None
        return (_aliased(part, select) if is_of_group else None) or part

    return condition.transform(named)


def key_at(node: exp.Expr, keys: Sequence[exp.Expr]) -> int | None:
    """The place of the key that an expression is, be it with other qualifiers than here."""
    if node in keys:
        return keys.index(node)
    places = [at for at, key in enumerate(keys) if are_same(node, key)]
    return places[0] if len(places) == 1 else None


def are_same(left: exp.Expr, right: exp.Expr) -> bool:
    """Whether both are the same but for the case of names, and qualifiers that only one has."""
    if type(left) is not type(right):
        return False
    columns = zip(columns_outside_queries(left), columns_outside_queries(right), strict=False)
    tables = ((a.table.lower(), b.table.lower()) for a, b in columns)
    is_of_same = all(a == b or not (a and b) for a, b in tables)
    return is_of_same and in_lower_case(unqualified(left)) == in_lower_case(unqualified(right))

"""Which conditions of a query the scan of one of its tables is given, as Spark pushes them down.

Down to a table come the conditions that speak of it alone: those of its own SELECT, and those of
the queries around it, through the columns that it hands to them. An outer join keeps them from the
side whose rows may be missing, unless one of them refuses rows that are.

Source: Spark's PushPredicateThroughJoin, PushPredicateThroughNonJoin, EliminateOuterJoin,
PushDownPredicates through Aggregate, Window and Union, InferFiltersFromConstraints; observed on
Delta Lake 4.4.0 (tests/conformance/cases/pushed_conditions.json).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from whitecap.engine.query.pushdown.column_types import (
    ColumnsOf,
    names_in,
    nothing_known,
    types_in,
)
from whitecap.engine.query.pushdown.handed import asks_around, below_groups, in_terms_of
from whitecap.engine.query.pushdown.inferred import inferred_from
from whitecap.engine.query.pushdown.met import met_by
from whitecap.engine.query.pushdown.relations import (
    joins_of,
    on_of,
    relations_in,
    relations_of,
    selecting,
)
from whitecap.engine.query.pushdown.semi_joins import KINDS, heard_inside, heard_outside
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.predicates.normal_form import conjuncts_of, join_and
from whitecap.engine.sql.predicates.not_null import columns_never_null, refuses_null

_FILLED = {"LEFT": (False, True), "RIGHT": (True, False), "FULL": (True, True)}
"""Whether a join puts NULLs in the place of missing rows of its left and of its right side."""
_SIDES = {(False, False): "", **{filled: side for side, filled in _FILLED.items()}}


@dataclass(frozen=True, slots=True)
class Pushing:
    """What conditions are pushed down with: the columns that are known, with their types.

    `as_written`: neither parts of them nor what follows from them, which Spark pushes down when
    it infers and takes outer joins away no more.
    """

    columns_of: ColumnsOf = nothing_known
    as_written: bool = False


UNTYPED = Pushing()
"""Where no columns are known: nothing follows from equal ones, nor goes into a UNION."""


def conditions_on(relation: exp.Expr, pushing: Pushing) -> Iterator[exp.Expr]:
    """The conditions that queries have on a relation alone; its columns may be qualified."""
    select = selecting(relation)
    if select is None or _renames(relation) or _share_names(relations_in(select)):
        return
    parts, joins = list(_heard(relation, select, pushing)), joins_of(select)
    fills_up = any(join.side for join in joins)
    of_joins = [part for join in joins for part in on_of(join)]
    for part in parts:
        share = _share(part, relation, is_alone=not joins)
        # Of what does not stand in an ON Spark takes no part through an outer join.
        only_whole = pushing.as_written or (fills_up and part not in of_joins)
        if share is part or (share is not None and not only_whole):
            yield share
    if joins and not pushing.as_written:
        type_of = types_in(select, pushing.columns_of, relation)
        yield from inferred_from(parts, lambda column: _is_of(column, relation), type_of, select)


def _renames(relation: exp.Expr) -> bool:
    """Whether it gives a table's columns, or those of a query in a WITH, other names."""
    return isinstance(relation, exp.Table) and bool(relation.alias_column_names)


def _share_names(relations: Sequence[exp.Expr]) -> bool:
    """Whether a name means several: the own table of a SEMI join may be called as another one."""
    names = [relation.alias_or_name.lower() for relation in relations]
    return len(set(names)) < len(names)


def _heard(relation: exp.Expr, select: exp.Select, pushing: Pushing) -> Iterable[exp.Expr]:
    """The conditions that hold for a relation, as far as its join hears of them."""
    parts, join = _holding(relation, select, pushing), relation.parent
    is_alone = len(relations_in(select)) == 2
    if isinstance(join, exp.Join) and join.kind in KINDS and not is_alone:
        return heard_inside(join, parts)
    return parts


def _holding(relation: exp.Expr, select: exp.Select, pushing: Pushing) -> Iterator[exp.Expr]:
    """The conditions that hold wherever a row of the relation is of use."""
    joins = joins_of(select)
    own = next((at for at, join in enumerate(joins) if join.this is relation), -1)
    after = list(_after_joins(select, pushing))
    sides = list(_sides(select, after))
    is_there = not _may_lack_rows(sides, own) or _refuses_missing(after, relation)
    is_hidden = own >= 0 and joins[own].kind in KINDS
    for part in after:
        if _speaks_of(part, relation):
            may_hold = is_there and (_is_qualified(part) or not is_hidden)
        else:
            may_hold = not (any(sides) and (_is_mixed(part) or _stays_above(part, select, sides)))
        if may_hold:
            yield part
    for at, join in enumerate(joins):
        on = [*on_of(join), *_met_beside(select, sides, own, at)]
        if sides[at] == "SEMI" and at != own and (own, at) != (-1, 0):
            on = heard_outside(join, on, relation)
        lacks_rows = at > own and _may_lack_rows(sides[:at], own)
        if _reaches(sides, own, at) and (not lacks_rows or _refuses_missing(on, relation)):
            yield from (part for part in on if at == own or _is_heard(part, at < own, is_hidden))


def _stays_above(part: exp.Expr, select: exp.Select, sides: Sequence[str]) -> bool:
    """Whether an outer join keeps a condition from a table whose rows it may put NULLs for."""
    places = enumerate(relations_in(select), start=-1)
    return any(_may_lack_rows(sides, place) for place, each in places if _speaks_of(part, each))


def _met_beside(select: exp.Select, sides: Sequence[str], own: int, at: int) -> Iterator[exp.Expr]:
    """What the rows that a join puts beside a relation's meet by themselves."""
    others = list(enumerate(relations_in(select), start=-1))
    beside = [each for place, each in others if place == at > own]
    if at == own:
        beside = [each for place, each in others if place < at and _is_whole(sides[:at], place)]
    for each in beside:
        yield from met_by(each)


def _is_whole(sides: Sequence[str], own: int) -> bool:
    """Whether these joins hand on the rows of a relation, and no others in their place."""
    is_hidden = own >= 0 and sides[own] in KINDS
    return not is_hidden and not _may_lack_rows(sides, own)


def _is_heard(part: exp.Expr, is_before: bool, is_hidden: bool) -> bool:
    """Whether what another join's ON says may be about a relation, and not of its own tables.

    Nothing is inferred for the right side of a SEMI or ANTI join from later ones.
    """
    return _is_qualified(part) if is_before else not is_hidden


def _is_qualified(part: exp.Expr) -> bool:
    return all(column.table for column in columns_outside_queries(part))


def _is_mixed(part: exp.Expr) -> bool:
    """Whether it speaks of several relations: an outer join below infers nothing from it."""
    return len({column.table.lower() for column in columns_outside_queries(part)}) > 1


def _sides(select: exp.Select, after: Sequence[exp.Expr]) -> Iterator[str]:
    """LEFT, RIGHT, FULL, SEMI, ANTI, or nothing for an inner join: of each join of a query.

    An outer one fills no side up of which a later condition refuses missing rows.
    """
    left = _refuses_missing(after, select.args["from_"].this)
    for join in joins_of(select):
        right = _refuses_missing(after, join.this)
        if join.kind in KINDS:
            yield join.kind
        else:
            fills_left, fills_right = _FILLED.get(join.side, (False, False))
            yield _SIDES[fills_left and not left, fills_right and not right]
        left = left or right


def _refuses_missing(conditions: Iterable[exp.Expr], relation: exp.Expr) -> bool:
    """Whether one of the conditions does not hold where a relation has no row.

    Names without qualifier may be those of another one.
    """
    name = relation.alias_or_name.lower()

    def refuses(part: exp.Expr) -> bool:
        if all(column.table.lower() == name for column in columns_outside_queries(part)):
            return refuses_null(part)
        return any(column.table.lower() == name for column in columns_never_null(part))

    return any(map(refuses, conditions))


def _may_lack_rows(sides: Sequence[str], own: int) -> bool:
    """Whether one of these joins puts NULLs in the place of a relation's rows."""
    beside = [sides[own]] if 0 <= own < len(sides) else []
    return beside in (["LEFT"], ["FULL"]) or any(
        side in ("RIGHT", "FULL") for side in sides[own + 1 :]
    )


def _reaches(sides: Sequence[str], own: int, at: int) -> bool:
    """Whether what a join's ON says is heard at a relation's place, no outer join being between."""
    between = sides[at + 1 : own]
    return _hands_on(sides[at], own - at) and not {"RIGHT", "FULL"}.intersection(between)


def _hands_on(side: str, before: int) -> bool:
    """Whether what a join's ON says holds for a relation that stands so many joins later.

    At 0 it is the right side of this join, below 0 it is part of the left one.
    """
    if before > 0:
        return side in ("", "SEMI")
    return side in (("", "LEFT", "SEMI", "ANTI") if before == 0 else ("", "RIGHT", "SEMI"))


def _after_joins(select: exp.Select, pushing: Pushing) -> Iterator[exp.Expr]:
    """The conditions on the rows that a query's joins give."""
    where, having = select.args.get("where"), select.args.get("having")
    if where is not None:
        yield from conjuncts_of(where.this)
    of_groups = [] if having is None else conjuncts_of(having.this)
    columns = names_in(select, pushing.columns_of)
    handed = (below_groups(select, part, columns) for part in of_groups)
    yield from (
        part for part in (*handed, *_handed_from_around(select, pushing)) if part is not None
    )


def _handed_from_around(select: exp.Select, pushing: Pushing) -> Iterator[exp.Expr | None]:
    """What the queries around say of the rows that a query gives."""
    whole, names = _whole(select)
    if names is None:
        return
    alias = None if whole.parent is None else whole.parent.args.get("alias")
    renamed = [column.name for column in alias.args.get("columns") or ()] if alias else []
    casts = {} if whole is select else _casts(select, whole, renamed or names, pushing.columns_of)
    if casts is None:
        return
    inner = replace(pushing, as_written=pushing.as_written or bool(joins_of(select)))
    for part in _on_all(relations_of(whole), inner):
        yield in_terms_of(select, part, renamed or names, casts)


def _casts(
    select: exp.Select, whole: exp.Expr, names: Sequence[str], columns_of: ColumnsOf
) -> Mapping[str, str] | None:
    """The types to which a UNION casts columns of one side, by their names outside in lower case.

    `None` if it is not known what it casts.
    """
    own, common = columns_of(select), columns_of(whole)
    names = names or list(own)
    if not own or not len(names) == len(own) == len(common):
        return None
    columns = zip(names, own.values(), common.values(), strict=True)
    return {name.lower(): wider for name, narrow, wider in columns if narrow != wider}


def _whole(select: exp.Select) -> tuple[exp.Expr, Sequence[str] | None]:
    """The UNION that a query is a side of, else itself, and the names of its columns there.

    No names: as the query calls them. `None`: nothing comes through, or the names are not written.
    """
    query: exp.Expr = select
    while (combined := _set_operation(query)) is not None:
        query, is_right = combined
        if query.args.get("limit") or (is_right and not isinstance(query, exp.Union)):
            return query, None
    first = query
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.left if isinstance(first, exp.SetOperation) else first.this
    items = first.expressions
    has_stars = any(item.is_star for item in items)
    names = None if has_stars else [item.alias_or_name for item in items]
    return query, () if first is select else names


def _set_operation(query: exp.Expr) -> tuple[exp.SetOperation, bool] | None:
    """The UNION or the like that a query is a side of, be it in parentheses; whether its right."""
    holder = query.parent
    while isinstance(holder, exp.Subquery) and _is_parenthesis(holder):
        query, holder = holder, holder.parent
    return (holder, query is holder.right) if isinstance(holder, exp.SetOperation) else None


def _is_parenthesis(query: exp.Subquery) -> bool:
    return not any(value for key, value in query.args.items() if key != "this")


def _on_all(relations: Sequence[exp.Expr], pushing: Pushing) -> list[exp.Expr]:
    """What holds of every row that one of these relations needs, without qualifiers."""
    said = [[unqualified(part) for part in conditions_on(each, pushing)] for each in relations]
    return [_either(parts) for parts in product(*said)] if said else []


def _either(parts: Sequence[exp.Expr]) -> exp.Expr:
    """One of these conditions holds."""
    different = list(dict.fromkeys(parts))
    return exp.or_(*different) if len(different) > 1 else different[0]


def _share(condition: exp.Expr, relation: exp.Expr, is_alone: bool) -> exp.Expr | None:
    """What a condition says of a relation alone: itself, or what is common to the sides of an OR.

    Source: PushExtraPredicateThroughJoin, extractPredicatesWithinOutputSet.
    """
    if _concerns(condition, relation, is_alone):
        return condition
    condition = condition.unnest()
    if not isinstance(condition, exp.And | exp.Or):
        return None
    sides = [_share(side, relation, is_alone) for side in (condition.left, condition.right)]
    shares = [exp.paren(side.copy()) for side in sides if side is not None]
    if isinstance(condition, exp.And):
        return join_and(shares)
    return exp.Or(this=shares[0], expression=shares[1]) if len(shares) == 2 else None


def _concerns(condition: exp.Expr, relation: exp.Expr, is_alone: bool) -> bool:
    """Whether a condition may speak of a relation's columns alone, but for queries in it.

    A name without qualifier that is no column of the relation is found out where its columns are.
    """
    columns = columns_outside_queries(condition)
    if not columns:
        return is_alone and condition.find(exp.Query) is not None
    if not is_alone and asks_around(condition, relation.alias_or_name):
        return False
    return all(_is_of(column, relation) for column in columns)


def _speaks_of(condition: exp.Expr, relation: exp.Expr) -> bool:
    return any(_is_of(column, relation) for column in columns_outside_queries(condition))


def _is_of(column: exp.Column, relation: exp.Expr) -> bool:
    return column.table.lower() in ("", relation.alias_or_name.lower())

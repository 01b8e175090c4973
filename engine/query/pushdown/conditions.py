"""Which conditions of a query the scan of one of its tables is given, as Spark pushes them down.

Down to a table come the conditions that speak of it alone: those of its own SELECT, and those of
the queries around it, through the columns that it hands to them. An outer join keeps them from the
side whose rows may be missing, unless one of them refuses rows that are.

Source: Spark's PushPredicateThroughJoin, PushDownPredicates; observed on Delta Lake 4.4.0
(tests/conformance/cases/pushed_conditions.json). The package says what comes from which module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.query.pushdown.column_types import (
    ColumnsOf,
    names_in,
    nothing_known,
    types_in,
)
from whitecap.engine.query.pushdown.constant_columns import with_constants
from whitecap.engine.query.pushdown.constraints import constraints_of
from whitecap.engine.query.pushdown.extra_predicates import may_be_of, said_alone, speaks_of
from whitecap.engine.query.pushdown.inferred import inferred_from
from whitecap.engine.query.pushdown.non_joins import Projected, below_groups
from whitecap.engine.query.pushdown.outer_joins import FIRST, Joined, refuses_missing
from whitecap.engine.query.pushdown.relations import (
    joins_of,
    on_of,
    relations_in,
    relations_of,
    selecting,
)
from whitecap.engine.query.pushdown.semi_joins import KINDS, heard_inside, heard_outside
from whitecap.engine.query.pushdown.set_operations import casts_of, spelt_out, whole_of
from whitecap.engine.sql.expressions.columns import columns_outside_queries, unqualified
from whitecap.engine.sql.parsing.common_tables import named_as
from whitecap.engine.sql.predicates.normal_form import conjuncts_of
from whitecap.engine.sql.predicates.not_null import never_null


class Pushing(Struct, frozen=True):
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
    parts = list(_heard(relation, select, pushing))
    yield from _alone(parts, relation, select, pushing)
    if joins_of(select) and not pushing.as_written:
        type_of = types_in(select, pushing.columns_of, relation)
        yield from inferred_from(parts, lambda column: may_be_of(column, relation), type_of, select)


def _alone(
    parts: Iterable[exp.Expr], relation: exp.Expr, select: exp.Select, pushing: Pushing
) -> Iterator[exp.Expr]:
    """What conditions say of a relation alone.

    Of what does not stand in an ON Spark takes no part through an outer join.
    """
    joins = joins_of(select)
    fills_up = any(join.side for join in joins)
    of_joins = [part for join in joins for part in on_of(join)]
    for part in parts:
        alone = said_alone(part, relation, is_alone=not joins)
        only_whole = pushing.as_written or (fills_up and part not in of_joins)
        if alone is part or (alone is not None and not only_whole):
            yield alone


def _renames(relation: exp.Expr) -> bool:
    """Whether it gives the columns of a query in a WITH other names."""
    if not isinstance(relation, exp.Table) or not relation.alias_column_names:
        return False
    return named_as(relation) is not None


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
    after = list(_after_joins(select, pushing))
    joined = Joined.of(select, after)
    after = [with_constants(part, joined.present()) for part in after]
    yield from _said_after(joined, after, relation)
    for at in range(len(joined.joins)):
        yield from _said_in_on(joined, at, relation)


def _said_after(
    joined: Joined, after: Sequence[exp.Expr], relation: exp.Expr
) -> Iterator[exp.Expr]:
    """What conditions on the joined rows say, as far as it holds for a relation's."""
    own = joined.place_of(relation)
    is_there = not joined.may_lack_rows(own) or refuses_missing(after, relation)
    for part in after:
        if not speaks_of(part, relation):
            may_hold = not any(joined.sides) or not _stays_above(part, joined)
        else:
            may_hold = is_there and (_is_qualified(part) or not joined.is_hidden(own))
        if may_hold:
            yield part


def _stays_above(part: exp.Expr, joined: Joined) -> bool:
    """Whether outer joins keep a condition from tables: one that they may put NULLs for, or two."""
    tables = {column.table.lower() for column in columns_outside_queries(part)}
    return len(tables) > 1 or any(
        joined.may_lack_rows(place) for place, each in joined.relations if speaks_of(part, each)
    )


def _said_in_on(joined: Joined, at: int, relation: exp.Expr) -> Iterator[exp.Expr]:
    """What a join's ON says, and each row that it puts beside a relation's."""
    own, join = joined.place_of(relation), joined.joins[at]
    on = [with_constants(part, joined.present(at)) for part in on_of(join)]
    on += _constraints_beside(joined, own, at)
    if joined.sides[at] == "SEMI" and at != own and (own, at) != (FIRST, 0):
        on = heard_outside(join, on, relation)
    lacks_rows = at > own and joined.may_lack_rows(own, until=at)
    if joined.reaches(own, at) and (not lacks_rows or refuses_missing(on, relation)):
        is_hidden = joined.is_hidden(own)
        yield from (part for part in on if at == own or _is_heard(part, at < own, is_hidden))


def _constraints_beside(joined: Joined, own: int, at: int) -> Iterator[exp.Expr]:
    """What each row that a join puts beside a relation's meets."""
    for place, each in joined.relations:
        is_left = place < at == own and joined.is_whole(place, until=at)
        if is_left or place == at > own:
            yield from constraints_of(each)


def _is_heard(part: exp.Expr, is_before: bool, is_hidden: bool) -> bool:
    """Whether what another join's ON says may be about a relation, and not of its own tables.

    Nothing is inferred for the right side of a SEMI or ANTI join from later ones.
    """
    return _is_qualified(part) if is_before else not is_hidden


def _is_qualified(part: exp.Expr) -> bool:
    return all(column.table for column in columns_outside_queries(part))


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
    whole, names = whole_of(select, pushing.columns_of)
    if names is None:
        return
    alias = None if whole.parent is None else whole.parent.args.get("alias")
    renamed = [column.name for column in alias.args.get("columns") or ()] if alias else []
    names = renamed or names
    casts = casts_of(select, whole, names, pushing.columns_of)
    if casts is None:
        return
    query = spelt_out(select, list(pushing.columns_of(select))) if names else select
    projected = Projected(query, names, casts, names_in(select, pushing.columns_of))
    inner = replace(pushing, as_written=pushing.as_written or bool(joins_of(select)))
    for part in _on_all(relations_of(whole), inner):
        yield from _below(projected, part)


def _below(projected: Projected, condition: exp.Expr) -> Iterator[exp.Expr | None]:
    """What comes through a query: the condition, or else that its columns have values."""
    whole = projected.below(condition)
    if whole is not None:
        yield whole
    else:
        yield from (projected.below(part.node) for part in never_null(condition))


def _on_all(relations: Sequence[exp.Expr], pushing: Pushing) -> list[exp.Expr]:
    """What holds of every row that one of these relations needs, without qualifiers."""
    said = [[unqualified(part) for part in conditions_on(each, pushing)] for each in relations]
    return [_either(parts) for parts in product(*said)] if said else []


def _either(parts: Sequence[exp.Expr]) -> exp.Expr:
    """One of these conditions holds."""
    different = list(dict.fromkeys(parts))
    return exp.or_(*different) if len(different) > 1 else different[0]

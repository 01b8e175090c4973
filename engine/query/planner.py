"""Queries over several relations: joins, subqueries, aggregates, unions.

A query is planned once into functions of rows; the rows of its tables are given. A row of a scope
is what an enclosing query's row holds, then the row of each relation of this one. Meant for the
sources of writes, not for analysis: everything is done in memory, by nested loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.query.aggregates import Grouping
from whitecap.engine.query.inline_tables import literal_rows
from whitecap.engine.query.query_checks import (
    check_in_query,
    check_no_having,
    check_same_width,
    first_column,
    renamed,
    value_of,
)
from whitecap.engine.query.rows import (
    JoinedRows,
    Rows,
    RowsInside,
    casts_between,
    combined,
    cut_rows,
    distinct_rows,
    numbers_of,
)
from whitecap.engine.query.select_parts import has_aggregate, item_name, select_items
from whitecap.engine.query.sources import projection
from whitecap.engine.query.windows import with_windows
from whitecap.engine.sql.expressions.logic import both, either
from whitecap.engine.sql.expressions.scope import Relation, Scope
from whitecap.engine.sql.expressions.select_list import (
    by_lateral_aliases,
    by_position,
    group_keys,
    unaliased,
)
from whitecap.engine.sql.expressions.spark_text import DIALECT
from whitecap.engine.sql.expressions.terms import Evaluate, Parameters, Term, convert
from whitecap.engine.sql.parsing.common_tables import named_as
from whitecap.engine.sql.parsing.query_reading import values_of
from whitecap.engine.sql.predicates.compiler import (
    JOIN_NOT_BOOLEAN,
    NOT_BOOLEAN,
    check_condition,
    compile_boolean,
    compile_term,
)
from whitecap.engine.storage.requests import Row
from whitecap.engine.values.coercion import check_texts, mixed
from whitecap.engine.values.keys import keyed, sort_key
from whitecap.engine.values.types import Session

_UNION_TYPES = "ExtendedAnalysisException", "INCOMPATIBLE_COLUMN_TYPE"
_IN_TYPES = "ExtendedAnalysisException", "DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH"

_Item = tuple[str, exp.Expr]
"""What a column of a SELECT list is called, and what it is."""

TableRows = Mapping[int, Rows]
"""The rows of each table in a query, by the `id` of its node."""


class Planner(Struct):
    """Plans the queries of one statement."""

    tables: TableRows
    parameters: Parameters
    session: Session
    common: dict[int, Rows] = field(default_factory=dict)
    """The rows of queries that a WITH names, by the `id` of its part."""

    def plan(self, node: exp.Expr, outer: Scope) -> Rows:
        """Plan a query. Raises `UnsupportedFeature` for forms that are not modelled."""
        self._plan_common(node, outer)
        match node:
            case exp.Subquery():
                return self.plan(node.this, outer)
            case exp.Select():
                return self._select(node, outer)
            case exp.Union() | exp.Except() | exp.Intersect():
                return self._set_operation(node, outer)
            case exp.Values():
                return self._values(node)
        raise UnsupportedFeature(f"queries of this form: {node.sql(DIALECT)}")

    def _plan_common(self, node: exp.Expr, outer: Scope) -> None:
        """Plan the queries that a WITH of this one names."""
        named = node.args.get("with_")
        for query in named.expressions if named is not None else ():
            self.common[id(query)] = self._planned_common(query, outer)

    def _planned_common(self, query: exp.CTE, outer: Scope) -> Rows:
        rows = self.plan(query.this, outer).for_first(outer.width)
        columns = [column.name for column in query.args["alias"].args.get("columns") or ()]
        return replace(rows, names=renamed(rows.names, columns, query.alias))

    def _common(self, query: exp.CTE) -> Rows:
        """The rows of a query that a WITH names, also where only a part of it was planned."""
        if id(query) not in self.common:
            self.common[id(query)] = self._planned_common(query, Scope((), self.session))
        return self.common[id(query)]

    # FROM -----------------------------------------------------------------------------------

    def relation(self, node: exp.Expr, outer: Scope) -> Rows:
        """The rows of a table or query that another one selects from."""
        if isinstance(node, exp.Table):
            return self._table(node)
        return self.plan(node, outer)

    def _table(self, node: exp.Table) -> Rows:
        rows = self.tables.get(id(node)) or numbers_of(node)
        if rows is not None:
            return rows
        query = named_as(node)
        if query is None:
            raise UnsupportedFeature(f"the rows of {node.name} in this place")
        return self._common(query)

    def _from(self, node: exp.Select, outer: Scope) -> tuple[Scope, RowsInside]:
        source = node.args.get("from_")
        if source is None:
            return outer, lambda row: [row]
        first = self.relation(source.this, outer)
        scope = _with_relation(outer, source.this, first, outer.depth + 1)
        rows_of = _each(first)
        for join in node.args.get("joins") or ():
            scope, rows_of = self._join(join, outer, scope, rows_of)
        return scope, rows_of

    def _join(
        self, join: exp.Join, outer: Scope, left: Scope, left_rows: RowsInside
    ) -> tuple[Scope, RowsInside]:
        right = self.relation(join.this, outer)
        scope = _with_relation(left, join.this, right, outer.depth + 1)
        test = self._on(join, left, scope)
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        joined = JoinedRows(left_rows, right, test, side, kind, left.width)
        return (left if joined.keeps_left_alone else scope), joined

    def _on(self, join: exp.Join, left: Scope, scope: Scope) -> Evaluate:
        node = join.args.get("on")
        if node is not None:
            return self.whole_condition(node, scope, JOIN_NOT_BOOLEAN)
        alias = join.this.alias_or_name
        pairs = [
            exp.EQ(this=first_column(name.name, left), expression=exp.column(name.name, alias))
            for name in join.args.get("using") or ()
        ]
        return self.condition(exp.and_(*pairs) if pairs else exp.true(), scope)

    # SELECT ---------------------------------------------------------------------------------

    def _select(self, node: exp.Select, outer: Scope) -> Rows:
        scope, rows_of = self._from(node, outer)
        where = node.args.get("where")
        keep = None if where is None else self.whole_condition(where.this, scope)

        def kept(row: Row) -> list[Row]:
            candidates = rows_of(row)
            return candidates if keep is None else [r for r in candidates if keep(r) is True]

        grouped = node.args.get("group") is not None or has_aggregate(node)
        if not grouped:
            check_no_having(node)
        made = self._grouped(node, scope, kept) if grouped else self._plain(node, scope, kept)
        return cut_rows(node, made)

    def _plain(self, node: exp.Select, scope: Scope, rows_of: RowsInside) -> Rows:
        items = self._items(select_items(node.expressions, scope), scope)
        windows = with_windows([item for _, item in items], scope, self.parameters)
        terms = [self._term(item, windows.scope) for item in windows.items]
        project = projection(terms, self.parameters, windows.scope.width)
        order = self._order(node, items, scope)

        def rows(row: Row) -> list[Row]:
            windowed = windows.added(rows_of(row))
            return [project(r) for r in (order(windowed) if order else windowed)]

        return _relation(items, terms, rows)

    def _grouped(self, node: exp.Select, scope: Scope, rows_of: RowsInside) -> Rows:
        keys = group_keys(node, scope.has)
        terms = [self._term(key, scope) for key in keys]
        grouping = Grouping(keys, terms, scope, self.parameters)
        items = self._items(((item_name(n), unaliased(n)) for n in node.expressions), scope)
        nodes = [grouping.item(item) for _, item in items]
        having = grouping.having(node)
        of_group = Scope((grouping.relation,), self.session)
        terms = [self._term(n, of_group) for n in nodes]
        project = projection(terms, self.parameters, len(grouping.relation.columns))
        test = None if having is None else self._test_of_groups(having, node, of_group)
        grouped = grouping.bound()

        def rows(row: Row) -> list[Row]:
            groups = grouped(rows_of(row))
            return [project(group) for group in groups if test is None or test(group) is True]

        return _relation(items, terms, rows)

    def _test_of_groups(self, having: exp.Expr, node: exp.Select, scope: Scope) -> Evaluate:
        return self.knowing(having, node.args["having"]).whole_condition(having, scope)

    def knowing(self, copy: exp.Expr, node: exp.Expr) -> Planner:
        """The planner for a copy of a part of a query: tables are known by their places."""
        places = zip(node.find_all(exp.Table), copy.find_all(exp.Table), strict=True)
        tables = {**self.tables, **{id(new): self._table(old) for old, new in places}}
        return replace(self, tables=tables, common=dict(self.common))

    def _items(self, items: Iterable[_Item], scope: Scope) -> list[_Item]:
        """The items of a SELECT list without queries, and none of which names others."""
        resolved = [(name, self.resolved(item, scope)) for name, item in items]
        return [
            (name, by_lateral_aliases(item, resolved[:at], scope.has))
            for at, (name, item) in enumerate(resolved)
        ]

    def _order(
        self, node: exp.Select, items: Sequence[_Item], scope: Scope
    ) -> Callable[[Sequence[Row]], Sequence[Row]] | None:
        order = node.args.get("order")
        if order is None:
            return None
        named = ((by_position(key.this, node, "ORDER"), key) for key in order.expressions)
        meant = ((by_lateral_aliases(item, items, scope.has), key) for item, key in named)
        keys = [(self._term(item, scope), bool(key.args.get("desc"))) for item, key in meant]
        bounds = [(term.bind(self.parameters).evaluate, descending) for term, descending in keys]

        def ordered(rows: Sequence[Row]) -> Sequence[Row]:
            for evaluate, descending in reversed(bounds):
                rows = sorted(rows, key=lambda r: sort_key(evaluate(r)), reverse=descending)
            return rows

        return ordered

    # Set operations and literal rows ---------------------------------------------------------

    def _set_operation(self, node: exp.SetOperation, outer: Scope) -> Rows:
        left, right = self.plan(node.left, outer), self.plan(node.right, outer)
        check_same_width(left, right)
        pairs = list(zip(left.types, right.types, strict=True))
        types = tuple(mixed(*pair, _UNION_TYPES) for pair in pairs)
        for pair in pairs:
            check_texts(pair, self.session)
        sides = [(side, casts_between(side.types, types, self.session)) for side in (left, right)]

        def rows(row: Row) -> list[Row]:
            left_rows, right_rows = (
                [
                    tuple(cast(value) for cast, value in zip(casts, r, strict=True))
                    for r in side.of(row)
                ]
                for side, casts in sides
            )
            return combined(node, types, left_rows, right_rows)

        both = Rows(left.names, types, rows)
        return distinct_rows(both) if node.args.get("distinct") else both

    def _values(self, node: exp.Values) -> Rows:
        names, types, rows = literal_rows(values_of(node), self.parameters, self.session)
        return Rows(names, types, lambda _outer: rows)

    def _term(self, node: exp.Expr, scope: Scope) -> Term:
        return compile_term(node, scope).typed_by(self.parameters)

    # Conditions -----------------------------------------------------------------------------

    def whole_condition(
        self, node: exp.Expr, scope: Scope, refused_as: tuple[str, str] = NOT_BOOLEAN
    ) -> Evaluate:
        """Plan a condition that must be one as it stands. Raises `InvalidInput` if it is not."""
        if node.find(exp.Query) is None:
            check_condition(node, scope, refused_as)
        return self.condition(node, scope)

    def condition(self, node: exp.Expr, scope: Scope) -> Evaluate:
        """Plan a condition over the rows of a scope; it may have subqueries."""
        node = node.unnest()
        if node.find(exp.Query) is None:
            return compile_boolean(node, scope).bind(self.parameters).evaluate
        match node:
            case exp.And():
                return both(self.condition(node.left, scope), self.condition(node.right, scope))
            case exp.Or():
                return either(self.condition(node.left, scope), self.condition(node.right, scope))
            case exp.Not():
                inner = self.condition(node.this, scope)
                return lambda row: None if (truth := inner(row)) is None else not truth
            case exp.Exists():
                query = self.plan(node.this, scope)
                return lambda row: bool(query.of(row))
            case exp.In() if "query" in node.args:
                return self._in_query(node, scope)
        return compile_boolean(self.resolved(node, scope), scope).bind(self.parameters).evaluate

    def _in_query(self, node: exp.In, scope: Scope) -> Evaluate:
        query = self.plan(node.args["query"], scope)
        check_in_query(node, query)
        term = self._term(node.this, scope)
        common = mixed(term.type, query.types[0], _IN_TYPES)
        check_texts((term.type, query.types[0]), self.session)
        needle = keyed(common, convert(term, common, self.session).bind(self.parameters).evaluate)
        member_of = keyed(common, *casts_between(query.types, (common,), self.session))

        def member(row: Row) -> bool | None:
            value, members = needle(row), [member_of(r[0]) for r in query.of(row)]
            if value is not None and value in members:
                return True
            return None if members and (value is None or None in members) else False

        return member

    def resolved(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        """The expression with EXISTS and single-valued subqueries replaced by their values."""

        if isinstance(node, _VALUED):
            return self._value(node)
        queries = _valued(node)
        if not queries:
            return node
        copy = node.copy()
        for query, place in zip(queries, _valued(copy), strict=True):
            place.replace(self._value(query))
        return copy

    def _value(self, query: exp.Subquery | exp.Exists) -> exp.Expr:
        """The value of a subquery, as a literal. Tables are known by the original nodes."""
        try:
            planned = self.plan(query.this, Scope((), self.session))
        except InvalidInput as error:
            text = f"a subquery that depends on the row around it: {query.sql(DIALECT)}"
            raise UnsupportedFeature(text) from error
        return value_of(planned, query)


_VALUED = (exp.Subquery, exp.Exists)


def _valued(node: exp.Expr) -> list[exp.Subquery | exp.Exists]:
    """The outermost subqueries of an expression that have a value."""
    parts = node.walk(prune=lambda part: isinstance(part, (*_VALUED, exp.Query)))
    return [part for part in parts if isinstance(part, _VALUED)]


def _relation(items: Sequence[_Item], terms: Sequence[Term], rows: RowsInside) -> Rows:
    names, types = tuple(name for name, _ in items), tuple(term.type for term in terms)
    return Rows(names, types, rows, letters=tuple(term.letters for term in terms))


def _with_relation(scope: Scope, node: exp.Expr, rows: Rows, depth: int) -> Scope:
    alias = node.args.get("alias")
    columns = [c.name for c in alias.args.get("columns") or ()] if alias else []
    names = frozenset({node.alias_or_name.lower()})
    column_names = renamed(rows.names, columns, node.alias_or_name)
    return scope.beside(Relation(names, column_names, rows.types, scope.width, depth, rows.letters))


def _each(rows: Rows) -> RowsInside:
    return lambda row: [row + r for r in rows.of(row)]

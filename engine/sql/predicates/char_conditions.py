"""Conditions on CHAR columns, by who asks: a query, or a DELETE or UPDATE.

A query reads texts filled up with blanks, and asks partitions and statistics so too. A DELETE or
UPDATE asks these of the texts as they were written, without the blanks, and fills up constants all
the same: `p = 'ab'` of a CHAR(4) finds no partition. Of the files that are left it asks the rows,
once more planned as a query: what the optimizer has made a comparison by then is filled up too.

OPTIMIZE and REORG resolve their conditions by themselves, and fill up nothing.

Source: Spark's ApplyCharTypePadding, Delta's DeleteCommand and UpdateCommand; observed on Delta
Lake 4.4.0 with Spark 4.2.0.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.log.columns.type_changes import char_letters
from whitecap.engine.log.schema import Schema
from whitecap.engine.sql.expressions.columns import columns_outside_queries
from whitecap.engine.sql.expressions.filled_texts import UNFILLED
from whitecap.engine.sql.functions.function_nodes import COMPARISONS
from whitecap.engine.sql.predicates.normal_form import halves


def as_queried(node: exp.Expr, schema: Schema) -> exp.Expr:
    """The condition over CHAR columns as a query reads them; itself where there are none."""
    if not names_char(node, schema):
        return node
    holder = exp.Paren(this=node.copy())
    for column in columns_outside_queries(holder):
        letters = char_letters(schema.get(column.name))
        if letters is not None:
            column.replace(_filled(column.copy(), letters))
    return holder.unnest()


def asked_of_rows(node: exp.Expr, schema: Schema) -> exp.Expr:
    """The condition as a DELETE or UPDATE asks it of rows; itself where it is no other."""
    return node.transform(_compared) if names_char(node, schema) else node


def as_written(node: exp.Expr) -> exp.Expr:
    """The condition with nothing filled up: who parses it by himself compares texts as they are."""
    copy = node.copy()
    for part in copy.find_all(*COMPARISONS, exp.In):
        part.meta[UNFILLED] = True
    return copy


def names_char(node: exp.Expr, schema: Schema) -> bool:
    """Whether a condition asks a CHAR column."""
    names = [field.name for field in schema if char_letters(field) is not None]
    lower = {name.lower() for name in names}
    return bool(lower) and any(c.name.lower() in lower for c in node.find_all(exp.Column))


def _filled(column: exp.Expr, letters: int) -> exp.Pad:
    number, blank = exp.Literal.number(letters), exp.Literal.string(" ")
    return exp.Pad(this=column, expression=number, fill_pattern=blank, is_left=False)


def _compared(node: exp.Expr) -> exp.Expr:
    """BETWEEN, and a LIKE whose pattern is a plain text, as the comparisons that they become."""
    if isinstance(node, exp.Between):
        low, high = map(_unmarked, halves(node))
        return exp.Paren(this=exp.And(this=low, expression=high))
    if isinstance(node, exp.Like) and not node.args.get("negate") and _is_plain(node.expression):
        return exp.EQ(this=node.this.copy(), expression=node.expression.copy())
    return _unmarked(node)


def _is_plain(pattern: exp.Expr) -> bool:
    return isinstance(pattern, exp.Literal) and not set(pattern.name) & set("%_\\")


def _unmarked(node: exp.Expr) -> exp.Expr:
    node.meta.pop(UNFILLED, None)
    return node

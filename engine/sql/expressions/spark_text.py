"""Spark SQL as sqlglot reads and writes it: Databricks' dialect, functions as users spell them.

sqlglot turns many functions into others that mean the same in some database, with their arguments
counted and changed. Here a function stays a call by its name, and the table of functions says what
there is; only what Spark's own grammar or analyzer makes something else of is no call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.databricks import Databricks

from whitecap.engine.errors import UnfitLibrary

AGGREGATES = ("avg", "count", "count_if", "max", "min", "sum")
"""Functions of all rows of a group; others are refused as any function that is not modelled."""

_CASTS = (
    *("bigint", "binary", "boolean", "date", "decimal", "double", "float", "int", "smallint"),
    *("string", "timestamp", "tinyint"),
)
_FORMS = ("CAST", "EXTRACT", "OVERLAY", "TRY_CAST")
CALLED = "called"
"""Under this name a cast that is written as a function says which."""

CallReader = Callable[[list[exp.Expr]], exp.Expr]


IN_PARENTHESES = "in parentheses"
"""Of a VALUES, in its node's `meta`: whether parentheses are around it."""

NAMED_INSIDE = "named inside"
"""Of a VALUES: whether its columns have their names inside of the parentheses."""


def _aggregate(name: str) -> CallReader:
    return lambda nodes: exp.AnonymousAggFunc(this=name, expressions=nodes)


def _cast(name: str, type_name: str) -> CallReader:
    """A cast, if it is written with one argument."""

    def read(nodes: list[exp.Expr]) -> exp.Expr:
        if len(nodes) != 1:
            return exp.Anonymous(this=name, expressions=nodes)
        cast = exp.cast(nodes[0], exp.DataType.build(type_name, dialect="databricks"))
        cast.meta[CALLED] = name
        return cast

    return read


def _starts_with(nodes: list[exp.Expr]) -> exp.Expr:
    """Statistics know it."""
    if len(nodes) != 2:
        return exp.Anonymous(this="startswith", expressions=nodes)
    return exp.StartsWith(this=nodes[0], expression=nodes[1])


def _if(nodes: list[exp.Expr]) -> exp.Expr:
    """The optimizer knows it."""
    if len(nodes) != 3:
        return exp.Anonymous(this="if", expressions=nodes)
    return exp.If(this=nodes[0], true=nodes[1], false=nodes[2])


def _typed_literal(_parser: Any, text: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """DATE '2026-01-01': a literal of its type, which is read with the statement."""
    cast = exp.Cast(this=text, to=kind)
    cast.meta[CALLED] = "literal"
    return cast


def _substring(name: str) -> Callable[[Any], exp.Expr]:
    """With commas a call like any other, else substring(text FROM place FOR count)."""

    def read(parser: Any) -> exp.Expr:
        nodes = parser._parse_csv(parser._parse_bitwise)
        for word in (TokenType.FROM, TokenType.FOR):
            if len(nodes) in (1, 2) and parser._match(word):
                nodes.append(parser._parse_bitwise())
        return exp.Anonymous(this=name, expressions=nodes)

    return read


def _position(parser: Any) -> exp.Expr:
    """position(part IN text), or with commas."""
    nodes = parser._parse_csv(parser._parse_bitwise)
    if len(nodes) == 1 and parser._match(TokenType.IN):
        nodes.append(parser._parse_bitwise())
    return exp.Anonymous(this="position", expressions=nodes)


def _trim(parser: Any) -> exp.Expr:
    """trim([BOTH | LEADING | TRAILING] [letters] FROM text), or with commas."""
    side = parser._match_texts(("BOTH", "LEADING", "TRAILING")) and parser._prev.text.upper()
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim")
    nodes = (
        []
        if parser._curr.token_type is TokenType.FROM
        else parser._parse_csv(parser._parse_bitwise)
    )
    if len(nodes) < 2 and parser._match(TokenType.FROM):
        nodes.append(parser._parse_bitwise())
    return exp.Anonymous(this=name, expressions=nodes)


_TESTED = (exp.Null, exp.Boolean)
"""What IS and IS NOT may be followed by; UNKNOWN is NULL."""

_GROUPINGS = (TokenType.CUBE, TokenType.GROUPING_SETS, TokenType.ROLLUP)
"""What may follow the commas of a GROUP BY and is read apart."""


class SparkText(Databricks):
    """The dialect."""

    SUPPORTS_USER_DEFINED_TYPES = True  # so that an unknown type is read, and refused by name

    class Tokenizer(Databricks.Tokenizer):
        """Doubled quotes stand for one."""

        STRING_ESCAPES: ClassVar = ["\\", "'"]

    class Parser(Databricks.Parser):  # type: ignore[misc, valid-type]
        """Keeps functions by name."""

        FUNCTIONS: ClassVar = {
            **{name.upper(): _aggregate(name) for name in AGGREGATES},
            **{name.upper(): _cast(name, name) for name in _CASTS},
            "TO_DATE": _cast("to_date", "date"),
            "STARTSWITH": _starts_with,
            "IF": _if,
        }
        FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in Databricks.Parser.FUNCTION_PARSERS.items()
            if name in _FORMS
        } | {
            "POSITION": _position,
            "SUBSTR": _substring("substr"),
            "SUBSTRING": _substring("substring"),
            "TRIM": _trim,
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar = {
            name: parse
            for name, parse in Databricks.Parser.NO_PAREN_FUNCTION_PARSERS.items()
            if name in ("ANY", "CASE")
        }
        TYPE_LITERAL_PARSERS: ClassVar = {
            **Databricks.Parser.TYPE_LITERAL_PARSERS,
            **dict.fromkeys(
                (
                    exp.DType.DATE,
                    exp.DType.TIMESTAMP,
                    exp.DType.TIMESTAMPTZ,
                    exp.DType.TIMESTAMPLTZ,
                    exp.DType.TIMESTAMPNTZ,
                ),
                _typed_literal,
            ),
        }

        TERM: ClassVar = {**Databricks.Parser.TERM, TokenType.DPIPE: exp.DPipe}
        """What is read from left to right: `a || b + c` adds to what `a || b` is. Source: Spark's
        SqlBaseParser.g4, valueExpression."""

        SELECT_START_TOKENS: ClassVar = Databricks.Parser.SELECT_START_TOKENS | {TokenType.VALUES}

        def _parse_csv(
            self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA
        ) -> list[Any]:
            """What is separated by commas: sqlglot passes over one that nothing follows."""
            parts = 0

            def part() -> Any:
                nonlocal parts
                parts += 1
                node = parse_method()
                if node is None and parts > 1 and not self._match_set(_GROUPINGS, advance=False):
                    self.raise_error("Nothing follows the comma")
                return node

            return super()._parse_csv(part, sep)  # type: ignore[no-any-return]

        def _parse_is(self, tested: exp.Expr | None) -> exp.Expr | None:
            """IS DISTINCT FROM is `<=>` denied. Source: AstBuilder.scala: withPredicate."""
            node: exp.Expr | None = super()._parse_is(tested)
            test = node.this if isinstance(node, exp.Not) else node
            if isinstance(test, exp.Is) and not isinstance(test.expression, _TESTED):
                self.raise_error("IS goes with NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
            if not isinstance(node, exp.NullSafeNEQ):
                return node
            same = exp.NullSafeEQ(this=node.this, expression=node.expression)
            return exp.Not(this=exp.Paren(this=same))

        def _parse_derived_table_values(self, **_synonyms: bool) -> exp.Values | None:
            """VALUES; in parentheses it may have an alias inside of them, and one outside."""
            in_parentheses = self._match_pair(TokenType.L_PAREN, TokenType.VALUES)
            if not in_parentheses and not self._match_text_seq("VALUES"):
                return None
            rows = self._parse_csv(self._parse_value)
            alias = self._parse_table_alias()
            columns = [] if alias is None else alias.args.get("columns") or []
            if in_parentheses:
                self._match_r_paren()
                alias = self._parse_table_alias() or alias
            values: exp.Values = self.expression(exp.Values(expressions=rows, alias=alias))
            values.meta[IN_PARENTHESES] = in_parentheses
            if alias is not None and columns and not alias.args.get("columns"):
                alias.set("columns", columns)
                values.meta[NAMED_INSIDE] = True
            return values

        def _parse_value(self, values: bool = True) -> exp.Tuple | exp.Placeholder | None:
            """One row of VALUES; a parameter in the place of a row stands for as many as it has."""
            start = self._index
            rows = self._parse_placeholder()
            if isinstance(rows, exp.Placeholder) and not self._match_set(_GOES_ON, advance=False):
                return rows
            self._retreat(start)
            return super()._parse_value(values)  # type: ignore[no-any-return]

    class Generator(Databricks.Generator):  # type: ignore[misc, valid-type]
        """Writes a literal as one."""

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """A typed literal as Spark itself does. Source: Literal.sql (literals.scala)."""
            if expression.meta.get(CALLED) == "literal":
                return f"{self.sql(expression, 'to')} {self.sql(expression, 'this')}"
            text: str = super().cast_sql(expression, safe_prefix)
            return text


_GOES_ON = frozenset(
    {
        *SparkText.Parser.TERM,
        *SparkText.Parser.FACTOR,
        *SparkText.Parser.COMPARISON,
        *SparkText.Parser.EQUALITY,
        *SparkText.Parser.BITWISE,
        *SparkText.Parser.CONJUNCTION,
        *SparkText.Parser.DISJUNCTION,
        *SparkText.Parser.RANGE_PARSERS,
        *SparkText.Parser.COLUMN_OPERATORS,
        TokenType.L_BRACKET,
    }
)
"""What makes a parameter the beginning of an expression."""


def _require_extensible(dialect: type[Databricks]) -> type[Databricks]:
    """Raises UnfitLibrary where sqlglot's parser is compiled: mypyc lets nobody extend it."""
    try:
        dialect.parser_class()
    except TypeError:
        raise UnfitLibrary(
            "sqlglotc is installed, with which sqlglot's dialects cannot be extended, as Whitecap"
            " does: `pip uninstall sqlglotc`; sqlglot works without it"
        ) from None
    return dialect


DIALECT = _require_extensible(SparkText)

"""SQL statements as typed values, parsed once and bound to parameters for each transaction.

A statement shares its `plans` with all its bindings: what a command compiles for one schema is
there for the next transaction. Expressions stay syntax trees; predicates know how to split
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache
from typing import Any, Self

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.engine.remembered import Plans
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.parsing.common_tables import named_as
from whitecap.engine.sql.predicates.predicate import Predicate


def place_of(name: str) -> str:
    """A table's name in small letters, without the schema and catalog that are meant anyway."""
    return name.lower().removeprefix("spark_catalog.default.").removeprefix("default.")


class TableName(Struct, frozen=True):
    """A table as a statement names it; `alias` is the name its columns go by."""

    name: str
    alias: str = ""
    version: int | None = None
    """The version of a time travel, `None` for the newest."""

    @property
    def place(self) -> str:
        """Which table it is, however its name is written."""
        return place_of(self.name)

    @property
    def names(self) -> tuple[str, ...]:
        """What may stand before a column's name."""
        return (self.alias,) if self.alias else (self.name.rpartition(".")[2], self.name)


NO_TABLE = TableName("")
"""The target of what has none: a query alone, or one in a condition."""


class Values(Struct, frozen=True):
    """Literal rows: expressions, or the name of the parameter that holds all rows.

    `types` are those of a parameter's rows where their literals have others than their values.
    """

    rows: tuple[tuple[exp.Expr, ...], ...] = ()
    rows_parameter: str | None = None
    alias: str = ""
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()


class PlainRead(Struct, frozen=True):
    """What a query reads that takes rows of one table one by one: filtered, possibly limited."""

    table: TableName
    condition: Predicate | None = None
    limit: int | None = None


class Select(Struct, frozen=True):
    """Any other query. Its table names are in the tree; `plain` says what it reads if it is."""

    node: exp.Query
    plain: PlainRead | None = None
    alias: str = ""
    columns: tuple[str, ...] = ()


Query = Values | Select


@lru_cache(maxsize=1024)
def whole_table(table: TableName) -> Select:
    """The query of all rows of a table."""
    node = exp.Table(this=exp.to_identifier(table.alias or table.name, quoted=True))
    query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node))
    return Select(query, PlainRead(table))


def reads_tables(query: Query | TableName) -> bool:
    """Whether a query reads any table, rather than only what it says itself."""
    if not isinstance(query, Select):
        return isinstance(query, TableName)
    return any(named_as(table) is None for table in query.node.find_all(exp.Table))


class _Given(Struct, frozen=True, kw_only=True):
    """What belongs to a statement beside its words: its parameters' values, and how it is run."""

    parameters: Parameters = field(default_factory=dict)
    plans: Plans = field(default_factory=Plans)


class Statement(_Given, frozen=True):
    """What every statement has: its table, its text, its parameters' values."""

    table: TableName
    template: Template

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """The statement with these values. Raises `InvalidInput` unless they are all there is."""
        wanted = self.template.parameter_names
        if parameters.keys() != wanted:
            raise InvalidInput(_parameter_problems(parameters.keys(), wanted))
        return replace(self, parameters=parameters)

    def sql(self) -> str:
        """The whole statement as Spark SQL, parameters filled in."""
        return self.template.render(self.parameters)

    def check_bound(self) -> None:
        """Raises `InvalidInput` if a parameter has no value."""
        if self.template.names and not self.parameters:
            raise InvalidInput(_parameter_problems((), self.template.parameter_names))

    @property
    def command(self) -> str:
        """What the statement does, in one word: INSERT, DELETE, MERGE, ..."""
        return type(self).__name__.upper()


def _parameter_problems(given: Iterable[str], wanted: frozenset[str]) -> list[Problem]:
    names = frozenset(given)
    unknown = [
        Problem(f":{name}", "no such parameter", nearest(name, wanted))
        for name in sorted(names - wanted)
    ]
    return unknown + [Problem(f":{name}", "has no value") for name in sorted(wanted - names)]


class Insert(Statement, frozen=True):
    """INSERT INTO or OVERWRITE, with PARTITION or REPLACE WHERE, ON or USING.

    `partition` maps columns to values, to `None` for a dynamic one. `options` are the writer's, by
    names in lower case; `schema_evolution`: the clause that says one of them.
    """

    query: Query
    columns: tuple[str, ...] = ()
    by_name: bool = False
    overwrite: bool = False
    partition: tuple[tuple[str, exp.Expr | None], ...] = ()
    replace_where: Predicate | None = None
    replace_using: tuple[str, ...] = ()
    replace_on: exp.Expr | None = None
    options: tuple[tuple[str, str], ...] = ()
    schema_evolution: bool = False

    def option(self, name: str) -> str | None:
        """A writer option, in any case."""
        return dict(self.options).get(name.lower()) if self.options else None

    def is_set(self, name: str) -> bool:
        """Whether a writer option is true."""
        return bool(self.options) and (self.option(name) or "").lower() == "true"


class Delete(Statement, frozen=True):
    """DELETE FROM; without a condition every row goes."""

    condition: Predicate | None = None


class Truncate(Statement, frozen=True):
    """TRUNCATE TABLE; Delta refuses the one that names a partition."""

    names_partition: bool = False


class Update(Statement, frozen=True):
    """UPDATE SET: `assignments` are column names and their new values."""

    assignments: tuple[tuple[str, exp.Expr], ...]
    condition: Predicate | None = None


class Match(Enum):
    """To which rows a MERGE clause applies."""

    MATCHED = "WHEN MATCHED"
    NOT_MATCHED = "WHEN NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "WHEN NOT MATCHED BY SOURCE"


class Act(Enum):
    """What a MERGE clause does with a row."""

    UPDATE = "UPDATE"
    DELETE = "DELETE"
    INSERT = "INSERT"


class MergeClause(Struct, frozen=True):
    """One WHEN; `assignments` is `None` for UPDATE SET * and INSERT *.

    `qualified` are the assigned columns that come with the table's name: no evolution makes these.
    """

    match: Match
    act: Act
    condition: exp.Expr | None = None
    assignments: tuple[tuple[str, exp.Expr], ...] | None = None
    qualified: tuple[str, ...] = ()


class Merge(Statement, frozen=True):
    """MERGE INTO ... USING ... ON ... WHEN ...

    `not_spark` says what of its source is taken here and refused by Spark's parser.
    """

    source: TableName | Query
    on: exp.Expr
    clauses: tuple[MergeClause, ...]
    schema_evolution: bool = False
    not_spark: str = ""

    def of(self, match: Match) -> list[MergeClause]:
        """The clauses for rows with, or without, such a match, in their order."""
        return [clause for clause in self.clauses if clause.match is match]


class Optimize(Statement, frozen=True):
    """OPTIMIZE [FULL] [WHERE] [ZORDER BY]."""

    condition: Predicate | None = None
    zorder_by: tuple[str, ...] = ()
    full: bool = False

    @property
    def command(self) -> str:
        """ZORDER is spoken of as a command of its own."""
        return "ZORDER" if self.zorder_by else "OPTIMIZE"

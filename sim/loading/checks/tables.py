"""The tables of a scenario's document, each as far as it is well formed, and what is wrong in it.

Columns named anywhere in a table exist, its values are of their columns' types, its properties are
Delta's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Self

from whitecap.engine.commands.schema.property_checks import RETENTIONS, check_each, check_retention
from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature, nearest
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.columns.identity import identity_of
from whitecap.engine.log.properties import LOG_RETENTION_MS
from whitecap.engine.log.property_names import is_known, nearest_property
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.values.types import INSTANT_TYPES
from whitecap.sim.loading.checks.generated import generated_problems
from whitecap.sim.loading.checks.well_formed import sound_part
from whitecap.sim.quantities.units import shown
from whitecap.sim.scenario.table import KEY_TYPE, PYTHON_TYPES, Scalar, TableSection, tables_by_name
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem
from whitecap.sim.table.derived import is_generated

TOO_DEEP = "is nested too deeply"


@dataclass(frozen=True, slots=True)
class GivenTable:
    """A table at its place of the document; `broken` names its fields that are not well formed."""

    place: KeyPath
    table: TableSection
    schema: Schema | None
    broken: frozenset[str]
    _problems: dict[tuple[str, int], list[PlacedProblem]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(cls, place: KeyPath, given: Any) -> Self | None:
        """The table from those of its fields that are well formed."""
        table, broken = sound_part(TableSection, given, {"schema": ""})
        return None if table is None else cls(place, table, _schema(table), broken)

    @property
    def dotted(self) -> str:
        """Its place, as messages name it."""
        return ".".join(map(str, self.place))

    def is_sound(self, maker: Dialect, start_ms: int) -> bool:
        """Whether nothing is wrong in it, so that statements can be tried on it."""
        return not self.broken and not self.problems(maker, start_ms)

    def problems(self, maker: Dialect, start_ms: int) -> Sequence[PlacedProblem]:
        """Everything that is wrong in it, if such a dialect makes it at a wall clock.

        Looked for once, whatever number of statements asks.
        """
        asked = maker.name, start_ms
        if asked not in self._problems:
            self._problems[asked] = list(self._all_problems(maker, start_ms))
        return self._problems[asked]

    def _all_problems(self, maker: Dialect, start_ms: int) -> Iterator[PlacedProblem]:
        of_keys = list(self._of_keys(maker))
        yield from of_keys
        if self.schema is not None and not (of_keys or self.broken):
            yield from generated_problems(self.place, self.table, self.schema, start_ms)

    def _of_keys(self, dialect: Dialect) -> Iterator[PlacedProblem]:
        yield from self._of_properties(dialect)
        if "schema" in self.broken:
            return
        if self.schema is None:
            yield from self._schema_problems()
            return
        table, schema = self.table, self.schema
        plain = {column.name for column in schema if not is_generated(column)}
        identities = {column.name for column in schema if identity_of(column) is not None}
        for position, column in enumerate(table.partition_by):
            place = (*self.place, "partition_by", position)
            yield from _unknown_column(place, column, schema)
            if column in identities:
                yield place, f"Delta partitions no table by an identity column: {column!r}", None
            lacks_values = column not in table.values and "values" not in self.broken
            if column in plain and lacks_values:
                listed = f"listed in {self.dotted}.values"
                said = f"partition column {column!r} needs its values {listed}"
                yield place, said, nearest(column, table.values)
        for position, column in enumerate(table.cluster_by):
            yield from _unknown_column((*self.place, "cluster_by", position), column, schema)
        for column in table.values:
            yield from _unknown_column((*self.place, "values", column), column, schema)
        yield from self._of_domains(schema)
        yield from self._of_key(schema)

    def _of_properties(self, dialect: Dialect) -> Iterator[PlacedProblem]:
        of_each = list(self._of_each_property(dialect))
        yield from of_each or (*self._of_retention(dialect), *self._of_past())

    def _of_past(self) -> Iterator[PlacedProblem]:
        """A table keeps its log for one time, whoever says it."""
        stated, log = self.table.properties, self.table.log
        if log is None or log.retention is None or LOG_RETENTION_MS.key not in stated:
            return
        key = LOG_RETENTION_MS.key
        if log.retention != LOG_RETENTION_MS.of(stated):
            said = f"{self.dotted}.properties.{key} says {stated[key]!r}"
            place = (*self.place, "log", "retention")
            yield place, f"{said}, and a table has one retention: leave this out", None

    def _of_retention(self, dialect: Dialect) -> Iterator[PlacedProblem]:
        """What Delta says of the two properties of which one bounds the other."""
        stated = self.table.properties
        try:
            check_retention(stated, dialect)
        except DeltaError as error:
            key = next(each.key for each in RETENTIONS if each.key in stated)
            yield (*self.place, "properties", key), str(error), None

    def _of_each_property(self, dialect: Dialect) -> Iterator[PlacedProblem]:
        for key, value in self.table.properties.items():
            place = (*self.place, "properties", key)
            if key == ISOLATION_PROPERTY:
                yield place, f"is set by {self.dotted}.isolation", None
            elif not is_known(key, dialect.own_properties):
                yield place, "Delta has no such property", nearest_property(key)
            else:
                yield from _of_value(place, key, value, dialect)

    def _schema_problems(self) -> Iterator[PlacedProblem]:
        place = (*self.place, "schema")
        try:
            parse_ddl(self.table.columns)
        except RecursionError:
            yield place, TOO_DEEP, None
        except InvalidInput as error:
            for problem in error.problems:
                yield place, str(problem), None

    def _of_domains(self, schema: Schema) -> Iterator[PlacedProblem]:
        for name, domain in self.table.values.items():
            column = schema.get(name)
            place = (*self.place, "values", name)
            if column is None:
                continue
            if domain.days is not None and column.type not in ("date", *INSTANT_TYPES):
                said = "days are for DATE and TIMESTAMP columns"
                yield place, f"{said}, {name!r} is {column.type.upper()}", None
            if domain.among is not None:
                yield from _of_listed(place, domain.among, column.type)

    def _of_key(self, schema: Schema) -> Iterator[PlacedProblem]:
        key, place = self.table.key, (*self.place, "key")
        if key is None:
            return
        yield from _unknown_column(place, key, schema)
        column = schema.get(key)
        if column is not None and column.type != KEY_TYPE:
            yield place, f"must be a BIGINT column, {key!r} is {column.type}", None
        if key in self.table.values:
            yield place, f"{key!r} cannot also have listed values", None
        if column is not None and is_generated(column):
            yield place, f"{key!r} cannot be generated: rows are made from their keys", None


def given_tables(document: Mapping[str, Any]) -> list[GivenTable]:
    """The tables of a document that can be told."""
    given: dict[KeyPath, Any] = {("table",): document.get("table")}
    tables = document.get("tables")
    if isinstance(tables, dict):
        try:
            named = tables_by_name({str(name): table for name, table in tables.items()})
        except ValueError:
            named = {}
        given |= {("tables", name): table for name, table in named.items()}
    made = (GivenTable.of(place, table) for place, table in given.items())
    return [each for each in made if each is not None]


def table_named(tables: Sequence[GivenTable], name: str) -> GivenTable | None:
    """The table that a statement calls so."""
    same = (each for each in tables if each.table.name.lower() == name.lower())
    return next(same, None)


def no_such_table(name: str, tables: Sequence[GivenTable]) -> tuple[str, str | None]:
    """What is wrong with a writer of a table that there is not, and the nearest one."""
    names = [each.table.name for each in tables]
    said = f"writes {name!r}, which is none of the tables {', '.join(names)}"
    return said, nearest(name, names)


def _of_value(place: KeyPath, key: str, value: str, dialect: Dialect) -> Iterator[PlacedProblem]:
    """What Delta itself says when SQL gives the property that value."""
    try:
        check_each({key: value}, dialect)
    except (DeltaError, UnsupportedFeature) as error:
        yield place, str(error), None


def _unknown_column(place: KeyPath, column: str, schema: Schema) -> Iterator[PlacedProblem]:
    if column not in schema.names:
        yield place, f"the table has no column {column!r}", nearest(column, schema.names)


def _of_listed(place: KeyPath, values: list[Scalar], kind: str) -> Iterator[PlacedProblem]:
    if kind not in PYTHON_TYPES:
        yield place, f"values of type {kind.upper()} cannot be listed", None
        return
    for position, value in enumerate(values):
        if not isinstance(value, PYTHON_TYPES[kind]) or (kind == "date" and not _is_date(value)):
            said = f"{shown(value)} is not a value of type {kind.upper()}"
            yield (*place, "among", position), said, None
    if len(set(values)) < len(values):
        yield place, "a value is listed twice", None


def _is_date(value: Scalar) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True


def _schema(table: TableSection) -> Schema | None:
    try:
        return parse_ddl(table.columns)
    except (InvalidInput, RecursionError):
        return None

"""A small table in YAML, row by row: what `whitecap explain` runs two statements on.

name: events
schema: "user_id BIGINT, date DATE, amount DOUBLE"
partition_by: [date]
files:
  - - {user_id: 1, date: 2026-01-01, amount: 9.5}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct
from pydantic import Field, ValidationError, model_validator

from whitecap.engine.dialects import DATABRICKS_PROPERTIES, DEFAULT_DIALECT, Dialect, dialect_named
from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.engine.log.property_names import is_known, nearest_property
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.storage.memory import FIRST_INSTANT_MS
from whitecap.engine.values.casts import from_python
from whitecap.sim.quantities.names import TABLE_NAME
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.start import StartInstant, epoch_ms
from whitecap.sim.scenario.problems import names_of, problems_of
from whitecap.sim.scenario.table import property_text
from whitecap.sim.scenario.yaml.text import KeyPath, YamlText

IS_A_SCENARIO = (
    "is a scenario: --table takes one table with its rows (name, schema, files), or a Delta "
    "table's directory; so does the first argument in Python"
)

Level = Literal["Serializable", "WriteSerializable"]


class SmallTable(Section):
    """One table; every entry of `files` lists the rows of one data file."""

    name: str = Field(default="events", pattern=TABLE_NAME)
    columns: str = Field(alias="schema")
    partition_by: list[str] = Field(default_factory=list)
    isolation: Level | None = None
    properties: dict[str, str] = Field(default_factory=dict)
    files: list[list[dict[str, Any]]] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _as_text(cls, given: Any) -> Any:
        """YAML reads `true` and `10` as what they are; properties and settings are text."""
        for part in ("properties", "settings"):
            if isinstance(given, dict) and isinstance(given.get(part), dict):
                shown = {key: property_text(value) for key, value in given[part].items()}
                given = {**given, part: shown}
        return given

    def table(self) -> TableOf:
        """The table, ready to be built."""
        properties = dict(self.properties)
        if self.isolation is not None:
            properties[ISOLATION_PROPERTY] = self.isolation
        return TableOf(
            schema=self.columns,
            partition_columns=list(self.partition_by),
            properties=properties,
            files=[DataFile({}, rows) for rows in self.files],
            versions=0,
        )


class SmallCase(SmallTable):
    """A table with what goes with it: others that it is merged with, a dialect, two statements.

    `start` is the wall clock (UTC) that the statements see, as a scenario's.
    """

    dialect: str = DEFAULT_DIALECT.name
    cluster_by: list[str] = Field(default_factory=list)
    settings: dict[str, str] = Field(default_factory=dict)
    start: StartInstant | None = None
    other_tables: list[SmallTable] = Field(default_factory=list)
    statements: list[str] = Field(default_factory=list, min_length=2, max_length=2)

    def case(
        self,
        statements: tuple[str, str],
        dialect: str | None = None,
        now_ms: int = FIRST_INSTANT_MS,
    ) -> RaceCase:
        """The case of two statements, on another dialect than the file's if one is given.

        They see `now_ms` (epoch milliseconds), or the file's `start`. Raises `InvalidInput` for
        what the dialect does not have.
        """
        chosen = dialect_named(dialect or self.dialect)
        problems = list(_lacking(self, chosen))
        if problems:
            raise InvalidInput(problems)
        tables = {table.name: table.table() for table in (self, *self.other_tables)}
        settings = chosen.settings_of(self.settings)
        begins_ms = now_ms if self.start is None else epoch_ms(self.start)
        return RaceCase(
            tables,
            self.name,
            statements,
            chosen,
            settings,
            tuple(self.cluster_by),
            begins_ms=begins_ms,
        )


def _lacking(case: SmallCase, dialect: Dialect) -> Iterator[Problem]:
    """Settings and properties that a dialect does not have."""
    yield from dialect.settings_problems(case.settings)
    for table in (case, *case.other_tables):
        for key in table.properties:
            try:
                dialect.require([key])
            except UnsupportedFeature as error:
                yield Problem(f"table {table.name}", str(error))


class ReadCase(Struct, frozen=True):
    """What YAML says of a table, as far as it is sound, and what is wrong with the rest."""

    sound: SmallCase | None
    problems: tuple[Problem, ...]
    broken: frozenset[str] = frozenset()
    """Keys that are no part of what is sound."""

    def part(self) -> SmallCase:
        """What is sound. Raises `InvalidInput` with every problem where nothing is."""
        if self.sound is None:
            raise InvalidInput(self.problems)
        return self.sound

    def schemas(self) -> dict[str, Schema]:
        """The columns of every table, by its name in lower case.

        None where not all tables are known: nobody shall miss in them what is only misread.
        """
        if self.sound is None or _say_tables(self.broken):
            return {}
        tables = (self.sound, *self.sound.other_tables)
        try:
            return {table.name.lower(): parse_ddl(table.columns) for table in tables}
        except InvalidInput:
            return {}


_OF_TABLES = frozenset({"name", "schema", "other_tables"})


def _say_tables(keys: Iterable[str]) -> bool:
    """Whether any of these keys may say what tables there are, misspelt or not."""
    valid = names_of(SmallCase)
    return any({key, nearest(key, valid)} & _OF_TABLES for key in keys)


def text_of(given: str | Mapping[str, Any]) -> YamlText:
    """YAML text or plain values, called a table. Raises `InvalidInput` for what is no YAML."""
    if isinstance(given, str):
        return YamlText(given, "table")
    return YamlText.unwritten(dict(given), "table")


def case_in(text: YamlText) -> ReadCase:
    """What YAML says, as far as it is sound."""
    if not isinstance(text.last_given, dict):
        said = "must be keys with values, such as name and schema"
        return ReadCase(None, (Problem(text.where(()), said),))
    if "writers" in text.last_given:
        return ReadCase(None, (Problem(text.where(()), IS_A_SCENARIO),))
    try:
        case = SmallCase.model_validate(text.last_given)
    except ValidationError as error:
        return _read_in_part(text, error)
    return ReadCase(case, (*text.repeated_keys, *_problems(case, text)))


def _read_in_part(text: YamlText, error: ValidationError) -> ReadCase:
    """The keys that are well formed, so that what they say is checked all the same."""
    broken = frozenset(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
    problems = text.repeated_keys + problems_of(error, SmallCase, text)
    sound = {key: value for key, value in text.last_given.items() if str(key) not in broken}
    try:
        case = SmallCase.model_validate({"schema": "", **sound})
    except ValidationError:
        return ReadCase(None, tuple(problems), broken)
    return ReadCase(case, (*problems, *_problems(case, text)), broken)


def _problems(case: SmallCase, text: YamlText) -> list[Problem]:
    tables: list[tuple[KeyPath, SmallTable]] = [((), case)]
    tables += [(("other_tables", at), table) for at, table in enumerate(case.other_tables)]
    problems = [p for place, table in tables for p in _table_problems(table, place, text)]
    if case.partition_by and case.cluster_by:
        said = "a table cannot be both partitioned and clustered"
        problems.append(Problem(text.where(("cluster_by",)), said))
    try:
        dialect_named(case.dialect)
    except InvalidInput as error:
        (problem,) = error.problems
        problems.append(Problem(text.where(("dialect",)), problem.text, problem.nearest))
    return problems


def _table_problems(table: SmallTable, place: KeyPath, text: YamlText) -> Iterator[Problem]:
    yield from _property_problems(table, place, text)
    if not table.columns:
        return
    try:
        schema = parse_ddl(table.columns)
    except InvalidInput as error:
        where = text.where((*place, "schema"))
        yield from (
            Problem(where, f"{problem.place}: {problem.text}", problem.nearest)
            for problem in error.problems
        )
        return
    layout = {"partition_by": table.partition_by, "cluster_by": getattr(table, "cluster_by", [])}
    for key, names in layout.items():
        for at, name in enumerate(names):
            if schema.get(name) is None:
                where = text.where((*place, key, at))
                yield Problem(where, f"there is no column {name!r}", nearest(name, schema.names))
    for number, rows in enumerate(table.files):
        for at, row in enumerate(rows):
            yield from _row_problems(row, schema, (*place, "files", number, at), text)


def _property_problems(table: SmallTable, place: KeyPath, text: YamlText) -> Iterator[Problem]:
    for key in table.properties:
        where = text.where((*place, "properties", key))
        if key == ISOLATION_PROPERTY:
            yield Problem(where, "is set by isolation")
        elif not is_known(key, DATABRICKS_PROPERTIES):
            yield Problem(where, "Delta has no such property", nearest_property(key))


def _row_problems(
    row: dict[str, Any], schema: Schema, place: KeyPath, text: YamlText
) -> Iterator[Problem]:
    for name, value in row.items():
        where = text.where((*place, name))
        if name not in schema.names:
            yield Problem(where, "there is no such column", nearest(name, schema.names))
            continue
        kind = schema.fields[schema.index(name)].type
        try:
            from_python(value, kind)
        except (DeltaError, TypeError, ValueError, AttributeError):
            yield Problem(where, f"{value!r} is no {kind.upper()}")

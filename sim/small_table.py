"""A small table in YAML, row by row: what `whitecap explain` runs two statements on.

name: events
schema: "user_id BIGINT, date DATE, amount DOUBLE"
partition_by: [date]
files:
  - - {user_id: 1, date: 2026-01-01, amount: 9.5}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, model_validator

from engine.conformance.case import DataFile, TableOf
from engine.dialects import dialect_named
from engine.errors import DeltaError, InvalidInput, Problem
from engine.explain.case import Case
from engine.log.schema import Schema, parse_ddl
from engine.sql.parsing import parse_statement
from engine.sql.scope import nearest
from engine.sql.types import from_python
from engine.transaction.isolation import ISOLATION_PROPERTY
from sim.scenario.problems import problems_of
from sim.scenario.table import property_text
from sim.scenario.yaml_text import Place, YamlText, read_yaml
from sim.section import Section

Level = Literal["Serializable", "WriteSerializable"]


class SmallTable(Section):
    """One table; every entry of `files` lists the rows of one data file."""

    name: str = Field(default="events", pattern=r"^[A-Za-z_]\w*$")
    columns: str = Field(alias="schema")
    partition_by: list[str] = Field(default_factory=list)
    isolation: Level | None = None
    properties: dict[str, str] = Field(default_factory=dict)
    files: list[list[dict[str, Any]]] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _property_text(cls, given: Any) -> Any:
        if isinstance(given, dict) and isinstance(given.get("properties"), dict):
            shown = {key: property_text(value) for key, value in given["properties"].items()}
            return {**given, "properties": shown}
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


class Expected(Section):
    """What an explanation should say: the exceptions of all orders, and what helps (at least)."""

    exceptions: list[str] = Field(default_factory=list)
    avoided_by: list[str] = Field(default_factory=list)


class SmallCase(SmallTable):
    """A table with what goes with it: others that it is merged with, a dialect, two statements."""

    dialect: str = "delta-oss-4.4"
    other_tables: list[SmallTable] = Field(default_factory=list)
    statements: list[str] = Field(default_factory=list, min_length=2, max_length=2)
    expected: Expected | None = None

    def case(self, statements: tuple[str, str], dialect: str | None = None) -> Case:
        """The case of two statements. Raises `InvalidInput`."""
        check_targets(statements, self.name)
        tables = {one.name: one.table() for one in (self, *self.other_tables)}
        return Case(tables, self.name, statements, dialect_named(dialect or self.dialect))


def load_small_case(path: Path) -> SmallCase:
    """Read a file. Raises `InvalidInput` with every problem."""
    return _checked(read_yaml(path))


def small_case_of(given: str | Mapping[str, Any]) -> SmallCase:
    """A table from YAML text or from plain values. Raises `InvalidInput` with every problem."""
    if isinstance(given, str):
        return _checked(YamlText(given, "table"))
    text = YamlText("{}", "table")
    text.content = dict(given)
    return _checked(text)


def check_targets(statements: tuple[str, str], name: str | None) -> str:
    """The one table that both statements write. Raises `InvalidInput` if it is not `name`."""
    targets = [parse_statement(sql).table.name for sql in statements]
    wanted = name or targets[0]
    wrong = [
        Problem(f"statement {who}", f"writes {target}, not {wanted}")
        for who, target in zip("AB", targets, strict=True)
        if target.lower() != wanted.lower()
    ]
    if wrong:
        raise InvalidInput(wrong)
    return wanted


def _checked(text: YamlText) -> SmallCase:
    try:
        case = SmallCase.model_validate(text.content)
    except ValidationError as error:
        raise InvalidInput(problems_of(error, SmallCase, text)) from error
    tables: list[tuple[Place, SmallTable]] = [((), case)]
    tables += [(("other_tables", at), one) for at, one in enumerate(case.other_tables)]
    problems = [p for place, table in tables for p in _table_problems(table, place, text)]
    try:
        dialect_named(case.dialect)
    except InvalidInput as error:
        (one,) = error.problems
        problems.append(Problem(text.where(("dialect",)), one.text, one.nearest))
    if problems:
        raise InvalidInput(problems)
    return case


def _table_problems(table: SmallTable, place: Place, text: YamlText) -> Iterator[Problem]:
    try:
        schema = parse_ddl(table.columns)
    except InvalidInput as error:
        where = text.where((*place, "schema"))
        yield from (Problem(where, str(one), one.nearest) for one in error.problems)
        return
    for at, name in enumerate(table.partition_by):
        if name not in schema.names:
            where = text.where((*place, "partition_by", at))
            yield Problem(where, f"there is no column {name!r}", nearest(name, schema.names))
    for number, rows in enumerate(table.files):
        for at, row in enumerate(rows):
            yield from _row_problems(row, schema, (*place, "files", number, at), text)


def _row_problems(
    row: dict[str, Any], schema: Schema, place: Place, text: YamlText
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

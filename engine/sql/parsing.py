"""Parsing SQL statements into `engine.sql.statements`.

sqlglot reads the SQL that databases share; Delta's own statements that it keeps as plain text
(OPTIMIZE, VACUUM, RESTORE, some ALTER TABLE) are cut by the patterns here, and their conditions
handed to sqlglot again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from engine.errors import InvalidInput, Problem, UnsupportedFeature
from engine.log.schema import parse_ddl
from engine.sql.predicates import parse_predicate
from engine.sql.rendering import Template
from engine.sql.scope import nearest
from engine.sql.statements import (
    AddColumns,
    AddConstraint,
    CreateTable,
    DropConstraint,
    Optimize,
    Restore,
    SetProperties,
    Statement,
    TableName,
    UnsetProperties,
    Vacuum,
)
from engine.sql.text import parse_node
from engine.sql.tree_reading import ROWS_MARK, statement_of

_ROWS_PARAMETER = re.compile(r"\bVALUES\s+:(\w+)", re.IGNORECASE)

_NAME = r"(?P<table>(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)"
_OWN_GRAMMAR: list[tuple[re.Pattern[str], Callable[[re.Match[str], Template], Statement]]] = []


def _own(pattern: str) -> Callable[[Any], Any]:
    """Register a reader for statements that match a pattern (spaces stand for any white space)."""
    compiled = re.compile(pattern.replace(" ", r"\s+") + r"\s*\Z", re.IGNORECASE | re.DOTALL)

    def register(read: Callable[[re.Match[str], Template], Statement]) -> Any:
        _OWN_GRAMMAR.append((compiled, read))
        return read

    return register


def _named(match: re.Match[str]) -> TableName:
    return TableName(match["table"].replace("`", ""))


@_own(rf"OPTIMIZE {_NAME}(?: WHERE (?P<where>.+?))?(?: ZORDER BY(?P<zorder>.+))?")
def _optimize(match: re.Match[str], template: Template) -> Statement:
    columns = (match["zorder"] or "").strip().strip("()")
    names = tuple(name.strip().strip("`") for name in columns.split(",") if name.strip())
    condition = parse_predicate(match["where"].strip()) if match["where"] else None
    return Optimize(_named(match), template, condition, names)


@_own(rf"VACUUM {_NAME}(?: (?:FULL|LITE))?(?: RETAIN \S+ HOURS?)?(?P<dry> DRY RUN)?")
def _vacuum(match: re.Match[str], template: Template) -> Statement:
    return Vacuum(_named(match), template, bool(match["dry"]))


@_own(rf"RESTORE(?: TABLE)? {_NAME}(?: TO)? VERSION AS OF (?P<version>\d+)")
def _restore(match: re.Match[str], template: Template) -> Statement:
    return Restore(_named(match), template, int(match["version"]))


_PROPERTY = re.compile(r"\s*(['\"]?)([\w.\-]+)\1\s*(?:=\s*(?:'([^']*)'|\"([^\"]*)\"|(\S+?)))?\s*\Z")


def _properties(text: str) -> list[tuple[str, str]]:
    pairs = []
    for part in re.split(r",(?=(?:[^']*'[^']*')*[^']*\Z)", text):
        match = _PROPERTY.match(part)
        if not match:
            raise InvalidInput([Problem(part.strip(), "is not a table property")])
        pairs.append((match[2], match[3] or match[4] or match[5] or ""))
    return pairs


@_own(rf"ALTER TABLE {_NAME} SET TBLPROPERTIES\s*\((?P<properties>.*)\)")
def _set_properties(match: re.Match[str], template: Template) -> Statement:
    return SetProperties(_named(match), template, tuple(_properties(match["properties"])))


@_own(rf"ALTER TABLE {_NAME} UNSET TBLPROPERTIES(?P<if> IF EXISTS)?\s*\((?P<properties>.*)\)")
def _unset_properties(match: re.Match[str], template: Template) -> Statement:
    keys = tuple(key for key, _ in _properties(match["properties"]))
    return UnsetProperties(_named(match), template, keys, bool(match["if"]))


@_own(rf"ALTER TABLE {_NAME} ADD CONSTRAINT (?P<name>`[^`]+`|\w+) CHECK\s*\((?P<check>.*)\)")
def _add_constraint(match: re.Match[str], template: Template) -> Statement:
    text = match["check"].strip()
    name = match["name"].strip("`")
    return AddConstraint(_named(match), template, name, parse_predicate(text), text)


@_own(rf"ALTER TABLE {_NAME} DROP CONSTRAINT(?P<if> IF EXISTS)? (?P<name>`[^`]+`|\w+)")
def _drop_constraint(match: re.Match[str], template: Template) -> Statement:
    return DropConstraint(_named(match), template, match["name"].strip("`"), bool(match["if"]))


@_own(rf"ALTER TABLE {_NAME} ADD COLUMNS?\s*(?P<list>\()?(?P<ddl>.*?)(?(list)\))")
def _add_columns(match: re.Match[str], template: Template) -> Statement:
    columns = match["ddl"].strip()
    if not template.names:
        parse_ddl(columns)  # raises for a type that does not exist
    return AddColumns(_named(match), template, columns)


@_own(
    rf"CREATE TABLE(?P<if> IF NOT EXISTS)? {_NAME}\s*\((?P<ddl>.*?)\)(?: USING DELTA)?"
    r"(?:\s*PARTITIONED BY\s*\((?P<partition>[^)]*)\))?"
    r"(?:\s*TBLPROPERTIES\s*\((?P<properties>[^)]*)\))?"
)
def _create_table(match: re.Match[str], template: Template) -> Statement:
    columns = tuple(
        c.strip().strip("`") for c in (match["partition"] or "").split(",") if c.strip()
    )
    properties = tuple(_properties(match["properties"])) if match["properties"] else ()
    return CreateTable(
        _named(match), template, match["ddl"].strip(), columns, properties, bool(match["if"])
    )


@lru_cache(maxsize=4096)
def parse_statement(sql: str) -> Statement:
    """Parse one statement; the answer is remembered, so that its plans are too.

    Raises `InvalidInput` with the place of what is wrong, `UnsupportedFeature` for SQL that is
    right but not modelled.
    """
    text = sql.strip().rstrip(";").rstrip()
    template = Template.of(text)
    for pattern, read in _OWN_GRAMMAR:
        match = pattern.match(text)
        if match:
            return read(match, template)
    marked = _ROWS_PARAMETER.sub(rf"VALUES (:`{ROWS_MARK}\1`)", text)
    _check_own(text)
    statement = statement_of(parse_node(marked), template)
    if statement is None:
        raise UnsupportedFeature(f"statement: {text}")
    return statement


_FORMS = {
    "OPTIMIZE": "OPTIMIZE table [WHERE condition] [ZORDER BY (columns)]",
    "VACUUM": "VACUUM table [RETAIN n HOURS] [DRY RUN]",
    "RESTORE": "RESTORE TABLE table TO VERSION AS OF n",
    "ALTER": "ALTER TABLE table SET TBLPROPERTIES | UNSET TBLPROPERTIES | ADD COLUMNS | "
    "ADD CONSTRAINT | DROP CONSTRAINT ...",
    "CREATE": "CREATE TABLE [IF NOT EXISTS] table (columns) USING delta [PARTITIONED BY (columns)]"
    " [TBLPROPERTIES (...)]",
}
_STATEMENTS = (*_FORMS, "INSERT", "DELETE", "UPDATE", "MERGE", "TRUNCATE")
_OTHER_SQL = ("SELECT", "WITH", "ANALYZE", "DESCRIBE", "SHOW", "DROP", "REFRESH", "COPY", "REORG")


def _check_own(text: str) -> None:
    """Raises `InvalidInput` for text that begins as one of Delta's statements, or as none."""
    word = (text.split(None, 1) or [""])[0].upper()
    if word in _FORMS:
        raise InvalidInput([Problem(repr(text), f"cannot be read as {_FORMS[word]}")])
    if word and word not in (*_STATEMENTS, *_OTHER_SQL):
        raise InvalidInput([Problem(repr(word), "no such statement", nearest(word, _STATEMENTS))])

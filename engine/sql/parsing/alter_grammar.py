"""ALTER TABLE and COMMENT ON: read by patterns."""

from __future__ import annotations

import re

from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.log.column_keys import CURRENT_DEFAULT
from whitecap.engine.log.columns.identity import is_computed
from whitecap.engine.log.ddl import REPEATED, split_top_level
from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.refusals.kinds import IN_PLAN
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR
from whitecap.engine.sql.parsing.clauses import (
    HEAD,
    columns_in,
    cut_clauses,
    names_in,
    properties_in,
    unbracketed,
    unquoted,
    values_in,
)
from whitecap.engine.sql.parsing.own_grammar import COLUMN, NAME, Grammar, table_in, unquoted_name
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.engine.sql.parsing.table_statements import (
    AddColumns,
    AddConstraint,
    ChangeColumn,
    ClusterBy,
    CommentOnTable,
    DropColumns,
    DropConstraint,
    DropFeature,
    Position,
    RenameColumn,
    ReplaceColumns,
    SetProperties,
    SyncIdentity,
    UnsetProperties,
)
from whitecap.engine.sql.predicates.predicate import parse_predicate

GRAMMAR = Grammar()

_HIVE_STYLE = "ParseException", "_LEGACY_ERROR_TEMP_0034"
_ALTER = rf"ALTER TABLE {NAME}"
_OF_COLUMNS = r"(?:(?:ADD|DROP|RENAME) COLUMNS?|(?:ALTER|CHANGE)(?: COLUMN)?)(?: IF EXISTS)?"
_FIELD = rf"(?!\d){COLUMN}(?:\.{COLUMN})+"
_OTHERS_BEFORE = r"(?:(?:'(?:[^'\\]|\\.)*'|[^'])*,)?"
"""Other columns of a list, whose comments may hold commas and dots."""


@GRAMMAR.own(rf"{_ALTER} {_OF_COLUMNS}\s*(?:\({_OTHERS_BEFORE}\s*)?(?P<field>{_FIELD}).*")
def _field(match: re.Match[str], _template: Template) -> Statement:
    raise UnsupportedFeature(f"ALTER TABLE of {match['field']}, a field inside of a column")


@GRAMMAR.own(rf"{_ALTER} SET TBLPROPERTIES\s*(?P<properties>\(.*\))")
def _set_properties(match: re.Match[str], template: Template) -> Statement:
    return SetProperties(table_in(match), template, values_in(match["properties"]))


@GRAMMAR.own(rf"{_ALTER} UNSET TBLPROPERTIES(?: IF EXISTS)?\s*(?P<properties>\(.*\))")
def _unset_properties(match: re.Match[str], template: Template) -> Statement:
    keys = tuple(key for key, _ in properties_in(match["properties"]))
    return UnsetProperties(table_in(match), template, keys)


@GRAMMAR.own(rf"COMMENT ON TABLE {NAME} IS (?P<comment>NULL|'.*'|\".*\")")
def _comment(match: re.Match[str], template: Template) -> Statement:
    absent = match["comment"].upper() == "NULL"
    return CommentOnTable(table_in(match), template, None if absent else unquoted(match["comment"]))


@GRAMMAR.own(rf"{_ALTER} ADD CONSTRAINT (?P<name>{COLUMN}) CHECK\s*\((?P<check>.*)\)")
def _add_constraint(match: re.Match[str], template: Template) -> Statement:
    text = match["check"].strip()
    parse_predicate(text)  # what is wrong in it is refused with the statement
    return AddConstraint(table_in(match), template, unquoted_name(match["name"]), text)


@GRAMMAR.own(rf"{_ALTER} DROP CONSTRAINT(?P<if> IF EXISTS)? (?P<name>{COLUMN})")
def _drop_constraint(match: re.Match[str], template: Template) -> Statement:
    return DropConstraint(
        table_in(match), template, unquoted_name(match["name"]), bool(match["if"])
    )


_PLACED = re.compile(rf"(?P<column>.*?)\s+(?:(?P<first>FIRST)|AFTER\s+(?P<after>{COLUMN}))\Z", re.I)


@GRAMMAR.own(rf"{_ALTER} ADD COLUMNS?\s*(?P<list>\()?(?P<ddl>.*?)(?(list)\))")
def _add_columns(match: re.Match[str], template: Template) -> Statement:
    parts = [_PLACED.match(part) or part for part in split_top_level(match["ddl"])]
    texts = [part if isinstance(part, str) else part["column"] for part in parts]
    positions = tuple(None if isinstance(part, str) else _position(part) for part in parts)
    ddl = ", ".join(texts)
    _check_none_computed(_columns_in(ddl))
    return AddColumns(table_in(match), template, ddl, positions)


def _columns_in(ddl: str) -> Schema:
    """The columns. Raises `InvalidInput` for what is wrong in them."""
    try:
        return parse_ddl(ddl)
    except InvalidInput as error:
        raise InvalidInput([_in_plan(problem) for problem in error.problems]) from error


def _in_plan(problem: Problem) -> Problem:
    """A column that comes twice is found in the plan, by CREATE TABLE before there is one."""
    if problem.refused_as != REPEATED:
        return problem
    return replace(problem, refused_as=(IN_PLAN, REPEATED[1]))


def _check_none_computed(columns: Schema) -> None:
    """Raises `InvalidInput` for columns that are computed: CREATE TABLE alone has them.

    Source: Spark's SqlBaseParser.g4 (colDefinitionDescriptorWithPosition).
    """
    problems = [
        Problem(column.name, "ADD COLUMN takes no GENERATED column", refused_as=SYNTAX_ERROR)
        for column in columns
        if is_computed(column)
    ]
    if problems:
        raise InvalidInput(problems)


def _position(match: re.Match[str]) -> Position:
    return Position(None if match["first"] else unquoted_name(match["after"]))


@GRAMMAR.own(rf"{_ALTER} DROP COLUMNS?(?P<if> IF EXISTS)?\s*(?P<columns>\(.*\)|{COLUMN})")
def _drop_columns(match: re.Match[str], template: Template) -> Statement:
    return DropColumns(table_in(match), template, names_in(match["columns"]), bool(match["if"]))


@GRAMMAR.own(rf"{_ALTER} RENAME COLUMN (?P<old>{COLUMN}) TO (?P<new>{COLUMN})")
def _rename_column(match: re.Match[str], template: Template) -> Statement:
    return RenameColumn(
        table_in(match), template, unquoted_name(match["old"]), unquoted_name(match["new"])
    )


@GRAMMAR.own(rf"{_ALTER} (?:ALTER|CHANGE)(?: COLUMN)? (?P<column>{COLUMN}) SYNC IDENTITY")
def _sync_identity(match: re.Match[str], template: Template) -> Statement:
    return SyncIdentity(table_in(match), template, unquoted_name(match["column"]))


_NULLABILITY = ("DROP NOT NULL", "SET NOT NULL")
_DEFAULTS = ("DROP DEFAULT", "SET DEFAULT")
_CHANGES = ("COMMENT", "TYPE", *_NULLABILITY, *_DEFAULTS, "FIRST", "AFTER")


_SAME_OR_NO_CHANGE = rf"(?P<new>(?P=column)|(?!(?:{'|'.join(_CHANGES)})\b){COLUMN})"


@GRAMMAR.own(
    rf"{_ALTER} CHANGE(?: COLUMN\b|(?! COLUMN\b)) (?P<column>{COLUMN}) {_SAME_OR_NO_CHANGE}"
    r" (?P<rest>\w.*)"
)
def _change_column(match: re.Match[str], template: Template) -> Statement:
    """The form that names the column twice. Raises `InvalidInput` for another name."""
    if unquoted_name(match["new"]).lower() != unquoted_name(match["column"]).lower():
        problem = "RENAME COLUMN renames"
        raise InvalidInput([Problem(match["new"], problem, refused_as=_HIVE_STYLE)])
    return _changed(match, template, match["column"], f"TYPE {match['rest']}")


@GRAMMAR.own(
    rf"{_ALTER} (?:ALTER|CHANGE)(?: COLUMN)? (?P<column>{COLUMN})"
    rf" (?P<change>{'|'.join(_CHANGES)})\b(?P<rest>.*)"
)
def _alter_column(match: re.Match[str], template: Template) -> Statement:
    """One change of one column, as Spark's grammar has it (SqlBaseParser.g4: alterColumnAction)."""
    text = match["change"] + match["rest"]
    statement = _changed(match, template, match["column"], text)
    if len(cut_clauses(text, _CHANGES)) > 2:  # the empty head is one
        problem = "ALTER COLUMN makes one change at a time"
        raise InvalidInput([Problem(text, problem, refused_as=SYNTAX_ERROR)])
    return statement


def _changed(match: re.Match[str], template: Template, column: str, text: str) -> Statement:
    if len(split_top_level(text)) > 1:
        raise UnsupportedFeature(f"several columns in one ALTER COLUMN: {template.render({})}")
    parts = cut_clauses(text, _CHANGES)
    parts.pop(HEAD)
    nullable = True if "DROP NOT NULL" in parts else False if "SET NOT NULL" in parts else None
    if parts.get("SET DEFAULT") == "":
        raise InvalidInput([Problem(column, "a default is missing", refused_as=SYNTAX_ERROR)])
    position = Position() if "FIRST" in parts else None
    if "AFTER" in parts:
        position = Position(unquoted_name(parts["AFTER"]))
    return ChangeColumn(
        table_in(match),
        template,
        unquoted_name(column),
        parts.get("TYPE"),
        unquoted(parts["COMMENT"]) if "COMMENT" in parts else None,
        nullable,
        position,
        "" if "DROP DEFAULT" in parts else parts.get("SET DEFAULT"),
    )


@GRAMMAR.own(rf"{_ALTER} REPLACE COLUMNS\s*(?P<ddl>\(.*\))")
def _replace_columns(match: re.Match[str], template: Template) -> Statement:
    ddl = unbracketed(match["ddl"])
    problems = [_refused_anew(part) for part in split_top_level(ddl)]
    if not problems:
        problems = [Problem(ddl, "REPLACE COLUMNS takes columns", refused_as=_NO_CLAUSE)]
    if any(problems):
        raise InvalidInput([problem for problem in problems if problem])
    _columns_in(ddl)
    return ReplaceColumns(table_in(match), template, ddl)


_NO_DEFAULT = "ParseException", "UNSUPPORTED_DEFAULT_VALUE.WITHOUT_SUGGESTION"
_NO_CLAUSE = "ParseException", "INVALID_STATEMENT_OR_CLAUSE"


def _refused_anew(text: str) -> Problem | None:
    """What REPLACE COLUMNS does not take. Source: Spark's AstBuilder.visitHiveReplaceColumns."""
    if _PLACED.match(text):
        return Problem(text, "REPLACE COLUMNS takes no place", refused_as=_HIVE_STYLE)
    (column,) = parse_ddl(text)
    if is_computed(column):
        return Problem(text, "REPLACE COLUMNS generates nothing", refused_as=_NO_CLAUSE)
    if not column.nullable:
        return Problem(text, "REPLACE COLUMNS takes no NOT NULL", refused_as=_HIVE_STYLE)
    if CURRENT_DEFAULT in column.metadata:
        return Problem(text, "REPLACE COLUMNS takes no DEFAULT", refused_as=_NO_DEFAULT)
    return None


@GRAMMAR.own(rf"{_ALTER} CLUSTER BY\s*(?P<columns>NONE|\(.*\))")
def _cluster_by(match: re.Match[str], template: Template) -> Statement:
    none = match["columns"].upper() == "NONE"
    names = () if none else columns_in(match["columns"], "CLUSTER BY")
    return ClusterBy(table_in(match), template, names)


_FEATURE = r"`[^`]+`|'[^']+'|\"[^\"]+\"|\w+"


@GRAMMAR.own(rf"{_ALTER} DROP FEATURE (?P<feature>{_FEATURE})(?P<truncate> TRUNCATE HISTORY)?")
def _drop_feature(match: re.Match[str], template: Template) -> Statement:
    feature = match["feature"].strip("'\"`")
    return DropFeature(table_in(match), template, feature, bool(match["truncate"]))


_ELSEWHERE = (
    "SET LOCATION", "RENAME TO", "ADD PARTITION", "DROP PARTITION", "RECOVER PARTITIONS",
    "SET SERDEPROPERTIES", "SET SERDE", "CLUSTER BY AUTO",
)  # fmt: skip


@GRAMMAR.own(rf"{_ALTER} (?P<what>{'|'.join(_ELSEWHERE)})\b.*")
def _elsewhere(match: re.Match[str], _template: Template) -> Statement:
    raise UnsupportedFeature(f"ALTER TABLE ... {match['what']}: not about a Delta table's log")

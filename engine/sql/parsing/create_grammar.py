"""CREATE, REPLACE and CLONE TABLE: cut into clauses, of which all but USING come in any order."""

from __future__ import annotations

import re

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.log.ddl import split_top_level
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.expressions.syntax_trees import SYNTAX_ERROR, parse_node
from whitecap.engine.sql.parsing.clauses import (
    HEAD,
    columns_in,
    cut_clauses,
    unbracketed,
    unquoted,
    values_in,
)
from whitecap.engine.sql.parsing.known_parts import check_parts
from whitecap.engine.sql.parsing.own_grammar import NAME, Grammar, table_in
from whitecap.engine.sql.parsing.query_reading import query_of, table_name
from whitecap.engine.sql.parsing.statements import Query, Statement, TableName
from whitecap.engine.sql.parsing.table_statements import CloneTable, CreateTable

GRAMMAR = Grammar()

_HOW = r"(?:(?P<create>CREATE)(?: OR (?P<or>REPLACE))?|(?P<replace>REPLACE)) TABLE"
_CLAUSES = ("USING", "PARTITIONED BY", "CLUSTER BY", "TBLPROPERTIES", "COMMENT")
_BUCKETS = re.compile(r"bucket\s*\(", re.I)
_NO_BUCKETS = "DeltaAnalysisException", "DELTA_OPERATION_NOT_ALLOWED_DETAIL"
_TRANSFORMS = re.compile(r"(?:years|months|days|hours|truncate)\s*\(", re.I)
_NO_TRANSFORMS = "DeltaAnalysisException", "DELTA_OPERATION_NOT_ALLOWED"
_NOT_ALLOWED = "ParseException", "_LEGACY_ERROR_TEMP_0035"
_ELSEWHERE = ("LOCATION", "OPTIONS", "CLUSTERED BY", "STORED AS", "ROW FORMAT")


@GRAMMAR.own(
    rf"{_HOW}(?P<if> IF NOT EXISTS)? {NAME} SHALLOW CLONE (?P<source>.+?)"
    r"(?: TBLPROPERTIES\s*(?P<properties>\(.*\)))?"
)
def _clone_table(match: re.Match[str], template: Template) -> Statement:
    properties = values_in(match["properties"]) if match["properties"] else ()
    replaces = bool(match["or"] or match["replace"])
    source = _table(match["source"])
    return CloneTable(table_in(match), template, source, properties, bool(match["if"]), replaces)


def _table(text: str) -> TableName:
    """A table with its time travel, if it has one."""
    node = parse_node(f"SELECT * FROM {text}").args["from_"].this
    return table_name(node)


@GRAMMAR.own(rf"{_HOW}(?: IF NOT EXISTS)? {NAME} (?:DEEP )?CLONE .+")
def _deep_clone(_match: re.Match[str], template: Template) -> Statement:
    raise UnsupportedFeature(f"deep clones, which Delta Lake does not have: {template.texts[0]}")


@GRAMMAR.own(rf"{_HOW}(?P<if> IF NOT EXISTS)? {NAME}(?=[\s(;]|\Z)(?P<rest>.*)")
def _create_table(match: re.Match[str], template: Template) -> Statement:
    parts = cut_clauses(match["rest"].rstrip("; \n"), (*_CLAUSES, *_ELSEWHERE), rest="AS")
    _check(parts)
    ddl = _with_typed_partitions(unbracketed(parts[HEAD]), parts)
    if ddl:
        parse_ddl(ddl)  # names what is wrong in it
    return CreateTable(
        table_in(match),
        template,
        ddl,
        _partition_names(parts),
        values_in(parts["TBLPROPERTIES"]) if "TBLPROPERTIES" in parts else (),
        bool(match["if"]),
        bool(match["create"]),
        bool(match["or"] or match["replace"]),
        columns_in(parts["CLUSTER BY"], "CLUSTER BY") if "CLUSTER BY" in parts else (),
        unquoted(parts["COMMENT"]) if "COMMENT" in parts else None,
        _query(parts.get("AS")),
    )


_TYPED = re.compile(r"(`[^`]+`|\w+)\s+\w.*", re.S)


def _with_typed_partitions(ddl: str, parts: dict[str, str]) -> str:
    """The columns, with those that PARTITIONED BY itself declares at the end."""
    partitions = split_top_level(unbracketed(parts.get("PARTITIONED BY", "")))
    typed = [part.strip() for part in partitions if _TYPED.fullmatch(part.strip())]
    return ", ".join([ddl, *typed]) if ddl and typed else ddl


def _partition_names(parts: dict[str, str]) -> tuple[str, ...]:
    given = split_top_level(unbracketed(parts.get("PARTITIONED BY", "")))
    return tuple(_partition_name(part.strip()) for part in given if part.strip())


def _partition_name(part: str) -> str:
    """The column's. Raises `InvalidInput` for a function of one."""
    if _BUCKETS.match(part):
        raise InvalidInput([Problem(part, "buckets are not supported", refused_as=_NO_BUCKETS)])
    if _TRANSFORMS.match(part):
        why = "a table is partitioned by columns; GENERATED ALWAYS AS makes one of an expression"
        raise InvalidInput([Problem(part, why, refused_as=_NO_TRANSFORMS)])
    return _TYPED.sub(r"\1", part).strip("`")


def _check(parts: dict[str, str]) -> None:
    missing = [word for word in _ELSEWHERE if word in parts]
    if missing:
        raise UnsupportedFeature(f"{missing[0]} in CREATE TABLE: tables are found by their names")
    if parts.get("USING", "delta").lower() != "delta":
        raise UnsupportedFeature(f"tables USING {parts['USING']}: only Delta tables are modelled")
    if parts[HEAD] and not parts[HEAD].startswith("("):
        raise InvalidInput([Problem(parts[HEAD], "is neither a list of columns nor a clause")])
    if parts[HEAD] and "AS" in parts:
        text = "columns stand in the query of CREATE TABLE AS"
        raise InvalidInput([Problem(parts[HEAD], text, refused_as=_NOT_ALLOWED)])
    if "PARTITIONED BY" in parts and "CLUSTER BY" in parts:
        text = "a table has partitions or is clustered"
        raise InvalidInput([Problem(parts["CLUSTER BY"], text, refused_as=_NOT_ALLOWED)])
    before = next((word for word in parts if word != HEAD), "USING")
    if "USING" in parts and before != "USING":
        text = f"USING comes before {before}"
        raise InvalidInput([Problem(f"USING {parts['USING']}", text, refused_as=SYNTAX_ERROR)])


def _query(text: str | None) -> Query | None:
    if text is None:
        return None
    tree = parse_node(text)
    check_parts(tree)
    return query_of(tree)

"""Clauses of INSERT and MERGE that sqlglot does not know: cut off before, put back after parsing.

Writer options (`WITH (...)` after the table), REPLACE ON and USING, WITH SCHEMA EVOLUTION.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import exp

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.syntax_trees import parse_condition
from whitecap.engine.sql.parsing.clauses import names_in, properties_in
from whitecap.engine.sql.parsing.own_grammar import NAME
from whitecap.engine.sql.parsing.statements import (
    Insert,
    Merge,
    Statement,
    TableName,
)

WRITE_OPTIONS = frozenset(
    {
        "datachange",
        "mergeschema",
        "overwriteschema",
        "partitionoverwritemode",
        "replacewhere",
        "txnappid",
        "txnversion",
    }
)
"""The options of Delta's writer that something here reads. Source: DeltaOptions.scala."""

_EVOLUTION = re.compile(r"\A(MERGE|INSERT)\s+WITH\s+SCHEMA\s+EVOLUTION\b", re.IGNORECASE)
_MERGE_SCHEMA = ("mergeSchema", "true")
_HEAD = rf"\A(?P<head>INSERT\s+(?:INTO|OVERWRITE)(?:\s+TABLE)?\s+{NAME})"
_OPTIONS = re.compile(rf"{_HEAD}\s+WITH\s*(?P<options>\([^)]*\))", re.IGNORECASE)
_USING = re.compile(
    rf"{_HEAD}(?P<by>\s+BY\s+NAME)?\s+REPLACE\s+USING\s*(?P<columns>\([^)]*\))", re.IGNORECASE
)
_ON = re.compile(
    rf"{_HEAD}(?:\s+AS)?(?:\s+(?P<alias>(?!BY\b|REPLACE\b)\w+))?(?P<by>\s+BY\s+NAME)?"
    r"\s+REPLACE\s+ON\s+(?P<on>.+?)\s*(?P<query>\(\s*SELECT\b|\bSELECT\b|\bVALUES\b|\bTABLE\b)",
    re.IGNORECASE | re.DOTALL,
)
_SOURCE_ALIAS = re.compile(r"(\))\s*(?:AS\s+)?(?P<alias>\w+)\s*\Z", re.IGNORECASE)


class WriteClauses(Struct, frozen=True):
    """What was cut off one statement, and the text that remains for sqlglot."""

    remaining: str
    options: tuple[tuple[str, str], ...] = ()
    replace_using: tuple[str, ...] = ()
    replace_on: exp.Expr | None = None
    target_alias: str = ""
    source_alias: str = ""
    schema_evolution: bool = False

    @classmethod
    def cut(cls, sql: str) -> WriteClauses:
        """Cut the clauses off. Raises `InvalidInput` for what is wrong in them."""
        clauses = cls(sql)
        for step in (_without_evolution, _without_options, _without_using, _without_on):
            clauses = step(clauses)
        return clauses

    def put_back(self, statement: Statement) -> Statement:
        """The statement with what was cut off."""
        match statement:
            case Merge():
                return replace(statement, schema_evolution=self.schema_evolution)
            case Insert():
                return self._into_insert(statement)
        return statement

    def _into_insert(self, insert: Insert) -> Insert:
        options = (*self.options, *([_MERGE_SCHEMA] if self.schema_evolution else []))
        if not (options or self.replace_using or self.replace_on is not None):
            return insert
        query = insert.query
        if self.source_alias:
            query = replace(query, alias=self.source_alias)
        table = TableName(insert.table.name, self.target_alias or insert.table.alias)
        return replace(
            insert,
            table=table,
            query=query,
            replace_using=self.replace_using,
            replace_on=self.replace_on,
            options=tuple((key.lower(), value) for key, value in options),
            schema_evolution=self.schema_evolution,
        )


def _without_evolution(clauses: WriteClauses) -> WriteClauses:
    match = _EVOLUTION.match(clauses.remaining)
    if match is None:
        return clauses
    rest = match[1] + clauses.remaining[match.end() :]
    return replace(clauses, remaining=rest, schema_evolution=True)


def _without_options(clauses: WriteClauses) -> WriteClauses:
    match = _OPTIONS.match(clauses.remaining)
    if match is None:
        return clauses
    rest = match["head"] + clauses.remaining[match.end() :]
    options = properties_in(match["options"])
    unknown = [key for key, _ in options if key.lower() not in WRITE_OPTIONS]
    if unknown:
        raise UnsupportedFeature(f"the write option {unknown[0]}")
    return replace(clauses, remaining=rest, options=options)


def _without_using(clauses: WriteClauses) -> WriteClauses:
    match = _USING.match(clauses.remaining)
    if match is None:
        return clauses
    rest = match["head"] + (match["by"] or "") + clauses.remaining[match.end() :]
    return replace(clauses, remaining=rest, replace_using=names_in(match["columns"]))


def _without_on(clauses: WriteClauses) -> WriteClauses:
    match = _ON.match(clauses.remaining)
    if match is None:
        return clauses
    query = clauses.remaining[match.start("query") :]
    alias = _SOURCE_ALIAS.search(query) if query.lstrip().startswith("(") else None
    if alias is not None:
        query = query[: alias.start("alias")].rstrip().removesuffix("AS").removesuffix("as")
    return replace(
        clauses,
        remaining=f"{match['head']}{match['by'] or ''} {query}",
        replace_on=parse_condition(match["on"]),
        target_alias=match["alias"] or "",
        source_alias="" if alias is None else alias["alias"],
    )

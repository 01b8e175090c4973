"""OPTIMIZE, REORG, VACUUM, RESTORE, TRUNCATE's relatives: read by patterns."""

from __future__ import annotations

import re

from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.sql.expressions.rendering import Template
from whitecap.engine.sql.parsing.clauses import columns_in, unquoted
from whitecap.engine.sql.parsing.own_grammar import NAME, Grammar, table_in
from whitecap.engine.sql.parsing.statements import Optimize, Statement
from whitecap.engine.sql.parsing.table_statements import Reorg, Restore, Vacuum
from whitecap.engine.sql.predicates.predicate import Predicate, parse_predicate

GRAMMAR = Grammar()


def _condition(match: re.Match[str]) -> Predicate | None:
    return parse_predicate(match["where"].strip()) if match["where"] else None


@GRAMMAR.own(
    rf"OPTIMIZE {NAME}(?P<full> FULL)?(?: WHERE (?P<where>.+?))?(?: ZORDER BY(?P<zorder>.+))?"
)
def _optimize(match: re.Match[str], template: Template) -> Statement:
    columns = columns_in(match["zorder"], "ZORDER BY") if match["zorder"] else ()
    return Optimize(table_in(match), template, _condition(match), columns, bool(match["full"]))


_UNIFORM = r"UPGRADE UNIFORM\s*\(\s*ICEBERG_COMPAT_VERSION\s*=\s*(?P<version>\d+)\s*\)"
_REORG_KIND = rf"PURGE|{_UNIFORM}"


@GRAMMAR.own(rf"REORG TABLE {NAME}(?: WHERE (?P<where>.+?))? APPLY\s*\(\s*(?:{_REORG_KIND})\s*\)")
def _reorg(match: re.Match[str], template: Template) -> Statement:
    version = int(match["version"]) if match["version"] else None
    return Reorg(table_in(match), template, _condition(match), version)


@GRAMMAR.own(
    rf"VACUUM {NAME}(?: (?P<kind>FULL|LITE))?(?P<first> DRY RUN)?"
    r"(?: RETAIN (?P<hours>\d+(?:\.\d+)?) HOURS?)?(?P<dry> DRY RUN)?"
)
def _vacuum(match: re.Match[str], template: Template) -> Statement:
    hours = float(match["hours"]) if match["hours"] else None
    lite = (match["kind"] or "").upper() == "LITE"
    return Vacuum(table_in(match), template, bool(match["dry"] or match["first"]), hours, lite)


@GRAMMAR.own(rf"VACUUM {NAME} USING INVENTORY .+")
def _vacuum_of_inventory(_match: re.Match[str], template: Template) -> Statement:
    raise UnsupportedFeature(f"an inventory of files: {template.texts[0]}")


@GRAMMAR.own(
    rf"RESTORE(?: TABLE)? {NAME}(?: TO)?"
    r" (?:VERSION AS OF (?P<version>\d+)|TIMESTAMP AS OF (?P<timestamp>'[^']*'))"
)
def _restore(match: re.Match[str], template: Template) -> Statement:
    if match["version"]:
        return Restore(table_in(match), template, int(match["version"]))
    return Restore(table_in(match), template, None, unquoted(match["timestamp"]))

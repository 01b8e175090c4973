"""OPTIMIZE, REORG, VACUUM, RESTORE, TRUNCATE's relatives: read by patterns."""

from __future__ import annotations

import re

from whitecap.engine.sql.clauses import names_in, unquoted
from whitecap.engine.sql.own_grammar import NAME, named, own
from whitecap.engine.sql.predicates import Predicate, parse_predicate
from whitecap.engine.sql.rendering import Template
from whitecap.engine.sql.statements import Optimize, Statement
from whitecap.engine.sql.table_statements import Reorg, Restore, Vacuum


def _condition(text: str | None) -> Predicate | None:
    return parse_predicate(text.strip()) if text else None


@own(rf"OPTIMIZE {NAME}(?P<full> FULL)?(?: WHERE (?P<where>.+?))?(?: ZORDER BY(?P<zorder>.+))?")
def _optimize(match: re.Match[str], template: Template) -> Statement:
    columns = names_in(match["zorder"] or "")
    return Optimize(
        named(match), template, _condition(match["where"]), columns, bool(match["full"])
    )


@own(rf"REORG TABLE {NAME}(?: WHERE (?P<where>.+?))? APPLY\s*\(\s*(?P<what>.+)\s*\)")
def _reorg(match: re.Match[str], template: Template) -> Statement:
    uniform = re.search(r"ICEBERG_COMPAT_VERSION\s*=\s*(\d+)", match["what"], re.IGNORECASE)
    version = int(uniform[1]) if uniform else None
    return Reorg(named(match), template, _condition(match["where"]), version)


@own(
    rf"VACUUM {NAME}(?: (?P<kind>FULL|LITE))?(?: RETAIN (?P<hours>\d+(?:\.\d+)?) HOURS?)?"
    r"(?P<dry> DRY RUN)?"
)
def _vacuum(match: re.Match[str], template: Template) -> Statement:
    hours = float(match["hours"]) if match["hours"] else None
    lite = (match["kind"] or "").upper() == "LITE"
    return Vacuum(named(match), template, bool(match["dry"]), hours, lite)


@own(
    rf"RESTORE(?: TABLE)? {NAME}(?: TO)?"
    r" (?:VERSION AS OF (?P<version>\d+)|TIMESTAMP AS OF (?P<timestamp>'[^']*'))"
)
def _restore(match: re.Match[str], template: Template) -> Statement:
    if match["version"]:
        return Restore(named(match), template, int(match["version"]))
    return Restore(named(match), template, None, unquoted(match["timestamp"]))

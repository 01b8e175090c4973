"""Giving a statement the values of one job."""

from __future__ import annotations

from whitecap.engine.sql.parsing import parse_statement
from whitecap.engine.sql.statements import Statement
from whitecap.sim.writers.workload import Work

REPARSED = frozenset({"SETPROPERTIES", "ADDCOLUMNS", "CREATETABLE"})
"""Commands whose parameters stand in their text rather than in an expression."""


def bound(template: Statement, work: Work) -> Statement:
    """The statement with this job's values. Raises `InvalidInput` if DDL does not parse."""
    names = template.template.parameter_names
    if not names:
        return template
    filled = template.with_parameters({name: work.values[name] for name in names})
    return parse_statement(filled.sql()) if template.command in REPARSED else filled

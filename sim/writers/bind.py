"""Giving a statement the values of one job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whitecap.engine.sql.parsing.created_rows import with_literal_types
from whitecap.engine.sql.parsing.parameter_places import plain_places
from whitecap.engine.sql.parsing.parse import read_statement
from whitecap.engine.sql.parsing.statements import Statement
from whitecap.sim.writers.workload import Work


def bound(template: Statement, work: Work, types: Mapping[str, str]) -> Statement:
    """The statement with this job's values; `types` are the table's, by column in lower case.

    Values in plain places are bound to the statement as it was read, and so are the rows that a
    table is created of; with others it is read anew as the text that is recorded. Raises
    `InvalidInput` if that text is no statement.
    """
    names = template.template.parameter_names
    if not names:
        return template
    filled = template.with_parameters({name: work.values[name] for name in names})
    if _is_plain(filled, types):
        return filled
    return with_literal_types(filled) or read_statement(filled.sql())


def _is_plain(filled: Statement, types: Mapping[str, str]) -> bool:
    values: Mapping[str, Any] = filled.parameters
    places = plain_places(filled.template)
    return places is not None and all(place.takes(values[place.name], types) for place in places)

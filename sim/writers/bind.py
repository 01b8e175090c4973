"""Giving a statement the values of one job."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from msgspec import Struct

from whitecap.engine.sql.parsing.created_rows import with_literal_types
from whitecap.engine.sql.parsing.parameter_places import plain_places
from whitecap.engine.sql.parsing.parse import read_statement
from whitecap.engine.sql.parsing.statements import Insert, Statement, Values
from whitecap.sim.writers.workload import Work


class NamedColumns(Struct, frozen=True):
    """Of the whole rows of a parameter, the columns at the `places` that an INSERT names."""

    parameter: str
    places: Sequence[int]

    @classmethod
    def of(cls, template: Statement, columns: Collection[str]) -> Self | None:
        """What a statement takes of rows with all `columns`, in lower case; `None`: rows as they
        are. Columns that there are not are the engine's to refuse.

        Source: engine/writing/inserting.py: _filled_by_source.
        """
        match template:
            case Insert(query=Values(rows_parameter=str(parameter))) if not template.by_name:
                named = _filled(template, columns)
            case _:
                return None
        places = {name: place for place, name in enumerate(columns)}
        if named == list(columns) or not places.keys() >= set(named):
            return None
        return cls(parameter, [places[name] for name in named])

    def of_work(self, work: Work) -> Work:
        """A job's input as the statement takes it; keys and single values stay as they are."""
        values = work.values[self.parameter]
        if isinstance(values, list) and isinstance(values[0], tuple):
            return work.of_columns(self.parameter, self.places)
        return work


def _filled(statement: Insert, columns: Collection[str]) -> list[str]:
    """The columns that the rows of an INSERT fill, in the rows' order."""
    static = {name.lower() for name, value in statement.partition if value is not None}
    named = [name.lower() for name in statement.columns] or columns
    return [name for name in named if name not in static]


def bound(template: Statement, work: Work, types: Mapping[str, str]) -> Statement:
    """The statement with this job's values; `types` are the table's, by column in lower case.

    Values in plain places are bound to the statement as it was read, whole numbers of DOUBLE
    columns as doubles, and so are the rows that a table is created of; with others it is read anew
    as the text that is recorded. Raises `InvalidInput` if that text is no statement.
    """
    names = template.template.parameter_names
    if not names:
        return template
    taken = NamedColumns.of(template, types)
    if taken is not None:
        work = taken.of_work(work)
    values = {name: work.values[name] for name in names}
    filled = template.with_parameters(values)
    if _is_plain(filled, types):
        return filled
    widened = template.with_parameters(values | _widened(template, values, types))
    if _is_plain(widened, types):
        return widened
    return with_literal_types(filled) or read_statement(filled.sql())


def _is_plain(filled: Statement, types: Mapping[str, str]) -> bool:
    values: Mapping[str, Any] = filled.parameters
    places = plain_places(filled.template)
    return places is not None and all(place.takes(values[place.name], types) for place in places)


def _widened(
    template: Statement, values: Mapping[str, Any], types: Mapping[str, str]
) -> dict[str, Any]:
    places = plain_places(template.template) or ()
    return {place.name: place.widened(values[place.name], types) for place in places}

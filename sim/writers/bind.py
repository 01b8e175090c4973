"""Giving a statement the values of one job."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
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

    Values in plain places are bound to the statement as it was read, and so are the rows that a
    table is created of. Raises `InvalidInput` if it is no statement with the others.
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
    return with_literal_types(filled) or _bound_in_part(filled, types)


def _is_plain(filled: Statement, types: Mapping[str, str]) -> bool:
    values: Mapping[str, Any] = filled.parameters
    plain = plain_places(filled.template)
    return plain.are_all and all(place.takes(values[place.name], types) for place in plain.places)


def _bound_in_part(filled: Statement, types: Mapping[str, str]) -> Statement:
    """The statement read with the values of other places than plain ones, and bound to the rest.

    The many rows of a source are not read for the one value beside them, and a value that comes
    again (a date, a name, but seldom a list) is read once. A whole number of a DOUBLE column is
    bound as a double.
    """
    places = plain_places(filled.template).places
    values = dict(filled.parameters)
    widened = values | {each.name: each.widened(values[each.name], types) for each in places}
    unfit = {each.name for each in places if not each.takes(widened[each.name], types)}
    kept = {each.name: widened[each.name] for each in places if each.name not in unfit}
    read = {name: value for name, value in values.items() if name not in kept}
    text = filled.template.render(read)
    comes_again = not any(isinstance(value, list) for value in read.values())
    statement = _read(text) if comes_again else read_statement(text)
    return statement.with_parameters(kept) if kept else statement


_read = lru_cache(maxsize=256)(read_statement)
"""Read with values that some of the next jobs have as well, with the plans that are made of it."""

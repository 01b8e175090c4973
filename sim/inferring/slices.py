"""Which part of the table a group of writers works on: partitions, and keys within them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from whitecap.engine.log.schema import Schema
from whitecap.sim.inferring.conditions import ColumnLimit, condition_of, names_column, pin_of
from whitecap.sim.inferring.figures import DraftFigure, counted, guessed, many, number_text
from whitecap.sim.inferring.groups import CommitGroup
from whitecap.sim.inferring.layout import NEW_KEY, PAYLOAD, DraftColumns
from whitecap.sim.inferring.naming import Names, drafted_type, sql_name
from whitecap.sim.inferring.observed import ObservedCommit
from whitecap.sim.inferring.values import DraftDomain, ValueChoice, choice_of

MOST_KEYS = 1000
"""Keys that a drafted job has at most. Ours."""

MOST_OF_SCOPE = 0.5
"""The share of the files within reach from which on a job is taken to change all of them."""

OFTEN = 0.8
"""The share of a group's commits whose conditions must pin a column."""


@dataclass(frozen=True, slots=True)
class DraftParameter:
    """One `:name`, what it is bound to, and why."""

    name: str
    text: str
    figure: DraftFigure


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What statements need to know of the table: names, layout, and how many files it has.

    With `schema` it is the table itself with all its columns, and not one that is drafted.
    """

    names: Names
    columns: DraftColumns
    domains: Sequence[DraftDomain]
    files: int
    rows_each: float
    all_columns: Sequence[str]
    schema: Schema | None = None

    @property
    def key(self) -> str:
        """The key's name in the draft."""
        return self.names.columns.get(self.columns.key, self.columns.key)

    @property
    def lacks_key(self) -> bool:
        """Whether it is a table itself in which no column was taken for the key."""
        return self.schema is not None and self.columns.key == NEW_KEY

    @property
    def key_in_sql(self) -> str:
        """The key as statements write it."""
        return self.in_sql(self.columns.key)

    def in_sql(self, column: str) -> str:
        """A column of the table as the draft's statements write it."""
        return sql_name(self.names.columns.get(column, column))

    @property
    def in_order(self) -> list[str]:
        """All columns in the order of the table, as SQL writes them."""
        if self.schema is not None:
            return [sql_name(name) for name in self.schema.names]
        laid_out = [self.in_sql(column.name) for column in self.columns.besides_key]
        return [self.key_in_sql, *laid_out, PAYLOAD]

    @property
    def assignment(self) -> str:
        """What UPDATE sets: a column that decides nothing, to another number where it is one."""
        if self.schema is None:
            return f"{PAYLOAD} = {PAYLOAD} + 1.0"
        deciding = {self.columns.key, *(column.name for column in self.columns.layout)}
        others = [column for column in self.schema if column.name not in deciding]
        numbers = [sql_name(column.name) for column in others if column.type in _COUNTING]
        if numbers:
            return f"{numbers[0]} = {numbers[0]} + 1"
        same = sql_name(others[0].name if others else self.columns.key)
        return f"{same} = {same}"


_COUNTING = frozenset({"double", "float", "bigint", "int"})
"""Types of which one more is of the same type."""


@dataclass(frozen=True, slots=True)
class TableSlice:
    """Which partitions a group works on: a parameter each, and the conditions that pin them.

    Columns that no condition names are `unpinned`: rows and keys lie there, but all is read.
    """

    parameters: tuple[DraftParameter, ...]
    conditions: tuple[str, ...]
    evidence: tuple[DraftFigure, ...]
    files: float
    unpinned: tuple[DraftParameter, ...] = ()

    def condition(self, *more: str, alias: str = "") -> str:
        """The whole condition as SQL."""
        return " AND ".join([*(f"{alias}{each}" for each in self.conditions), *more])


def places_of(
    group: CommitGroup, table: TableFacts
) -> tuple[tuple[DraftParameter, ...], tuple[DraftFigure, ...]]:
    """A parameter for each partition column of which a commit takes one value."""
    parameters: list[DraftParameter] = []
    evidence: list[DraftFigure] = []
    for domain in table.domains:
        choice = choice_of(domain, group.commits)
        name = table.names.columns[domain.column.name]
        if choice.figure is not None:
            parameters.append(_parameter(name, choice, choice.figure, domain, table.names))
        elif choice.several:
            said = f"a commit has {number_text(choice.several)} values of {name} in the median"
            evidence.append(counted("", f"{said}; the draft's rows lie on any"))
    return tuple(parameters), tuple(evidence)


def _parameter(
    name: str, choice: ValueChoice, figure: DraftFigure, domain: DraftDomain, names: Names
) -> DraftParameter:
    if choice.only is None:
        return DraftParameter(name, figure.text, figure)
    literal = names.literals(domain.listed, drafted_type(domain.column))[choice.only]
    return DraftParameter(name, f"{{value: {literal}}}", figure)


def slice_of(group: CommitGroup, table: TableFacts) -> TableSlice:
    """The partitions that the group's conditions name; without them it reads the whole table."""
    parameters, conditions, evidence, unpinned = [], [], [], []
    share = 1.0
    for domain in table.domains:
        pin, count = _pin(group.commits, domain, table.all_columns)
        choice = choice_of(domain, group.commits)
        name = table.names.columns[domain.column.name]
        if pin is None:
            said = f"{count:,} of {many(len(group.commits), 'condition')} pin {name}"
            evidence.append(guessed("", f"{said}: all of its values are read"))
            if choice.figure is not None:
                unpinned.append(_parameter(name, choice, choice.figure, domain, table.names))
            continue
        figure = choice.figure or counted("uniform", _several_said(choice, name))
        parameters.append(_parameter(name, choice, figure, domain, table.names))
        in_sql = table.in_sql(domain.column.name)
        conditions.append(f"{in_sql} {pin.value} :{in_sql}")
        said = f"{count:,} of {many(len(group.commits), 'condition')} name {name} {pin.value} value"
        evidence.append(guessed("", said))
        share /= domain.count
    files = table.files * share
    return TableSlice(tuple(parameters), tuple(conditions), tuple(evidence), files, tuple(unpinned))


def _several_said(choice: ValueChoice, name: str) -> str:
    return f"a commit changes {number_text(choice.several)} values of {name} in the median"


def _pin(
    commits: Sequence[ObservedCommit], domain: DraftDomain, columns: Sequence[str]
) -> tuple[ColumnLimit | None, int]:
    """How most conditions limit the column, and how many do so."""
    pins = Counter(pin_of(condition_of(each), domain.column.name, columns) for each in commits)
    pins.pop(None, None)
    for pin, count in pins.most_common(1):
        return (pin, count) if count >= OFTEN * len(commits) else (None, count)
    return None, 0


def keys_of(
    commits: Sequence[ObservedCommit], slice_: TableSlice, table: TableFacts
) -> tuple[DraftParameter | None, DraftFigure]:
    """As many keys as it takes to change as many files as these commits did, if not all."""
    pinned = {column.name.lower() for column in table.columns.partitions}
    others = [name for name in table.all_columns if name.lower() not in pinned]
    narrow = sum(any(names_column(condition_of(c), name) for name in others) for c in commits)
    if narrow < OFTEN * len(commits):
        said = f"{narrow:,} of {many(len(commits), 'condition')} name other columns than these"
        return None, guessed("", f"{said}: the draft changes all rows there")
    changed = max(median(each.removed for each in commits), 1)
    said = (
        f"files changed: {number_text(changed)}, median of {many(len(commits), 'commit')}, of about"
        f" {number_text(slice_.files)} within reach"
    )
    if slice_.files <= 1 or changed >= MOST_OF_SCOPE * slice_.files:
        keys = 1.0 if slice_.files <= 1 else slice_.files * math.log(2)
    else:
        keys = math.log1p(-changed / slice_.files) / math.log1p(-1 / slice_.files)
    count = min(max(round(keys), 1), MOST_KEYS)
    figure = guessed("", f"{said}: so many keys lie in so many files")
    return DraftParameter("keys", f"{{keys: {{count: {count}}}}}", figure), guessed(
        "",
        f"{narrow:,} of {many(len(commits), 'condition')} name other columns: keys stand for them",
    )

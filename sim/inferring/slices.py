"""Which part of the table a group of writers works on: partitions, and keys within them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.log.schema import Schema
from whitecap.sim.inferring.choices import OFTEN, ValueChoice, choice_of
from whitecap.sim.inferring.domains import DraftDomain
from whitecap.sim.inferring.evidence.figures import DraftFigure, counted, guessed, many, number_text
from whitecap.sim.inferring.groups import CommitGroup
from whitecap.sim.inferring.layout import NEW_KEY, PAYLOAD, DraftColumns
from whitecap.sim.inferring.log.conditions import (
    ColumnLimit,
    condition_of,
    names_column,
    pin_of,
    says_condition,
)
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.naming import Names, drafted_type, key_text, sql_name
from whitecap.sim.inferring.ranges import DraftRange, LimitedColumn
from whitecap.sim.inferring.value_lists import also_called, value_list

MOST_KEYS = 1000
"""Keys that a drafted job has at most. Ours."""

MOST_OF_SCOPE = 0.5
"""The share of the files within reach from which on a job is taken to change all of them."""


class DraftParameter(Struct, frozen=True):
    """One `:name`, what it is bound to, and why."""

    name: str
    text: str
    figure: DraftFigure


class TableFacts(Struct, frozen=True):
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
    properties: Mapping[str, str] = field(default_factory=dict)

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
    def types(self) -> dict[str, str]:
        """The type of each column, by its name as SQL writes it."""
        if self.schema is not None:
            return {sql_name(column.name): column.type for column in self.schema}
        types = {self.in_sql(column.name): drafted_type(column) for column in self.columns.layout}
        return types | {self.key_in_sql: "bigint", PAYLOAD: "double"}

    @property
    def cast_in_sql(self) -> str:
        """All columns of `v` in their order with their types, which those of literals are not."""
        types = self.types
        casts = (f"CAST(v.{name} AS {types[name].upper()}) AS {name}" for name in self.in_order)
        return ", ".join(casts)

    @property
    def layout_in_sql(self) -> str:
        """How a table is made that is laid out like this one; empty if in no way."""
        columns = ", ".join(self.in_sql(column.name) for column in self.columns.layout)
        verb = "PARTITIONED BY" if self.columns.partitions else "CLUSTER BY"
        return f"{verb} ({columns})" if columns else ""

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


class TableSlice(Struct, frozen=True):
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


def slice_of(group: CommitGroup, table: TableFacts, holds_rows: bool = False) -> TableSlice:
    """The partitions that the group's conditions name; without them it reads the whole table.

    With `holds_rows` the job's rows or keys, which lie where its parameters say, are in them.
    """
    parameters, evidence, unpinned = [], [], []
    conditions: list[str] = []
    share = 1.0
    for domain in table.domains:
        pin, because = _pin(group, domain, table)
        choice = choice_of(domain, group.commits)
        name = table.names.columns[domain.column.name]
        evidence.append(guessed("", because))
        if pin is None:
            if choice.figure is not None:
                unpinned.append(_parameter(name, choice, choice.figure, domain, table.names))
            continue
        reach = _reach(domain, pin, group, table, holds_rows)
        figure = reach.choice.figure or counted("uniform", _several_said(choice, name))
        parameters.append(_parameter(name, reach.choice, figure, domain, table.names))
        parameters.extend(_also(name, reach, domain, table.names))
        conditions.extend(reach.conditions(name))
        evidence.extend(reach.evidence)
        share *= reach.share
    files = table.files * share
    return TableSlice(tuple(parameters), tuple(conditions), tuple(evidence), files, tuple(unpinned))


def _reach(
    domain: DraftDomain, pin: ColumnLimit, group: CommitGroup, table: TableFacts, holds_rows: bool
) -> DraftRange:
    """What conditions that limit the column so let through."""
    commits, columns = group.commits, table.all_columns
    listed = value_list(domain, commits, columns) if pin is ColumnLimit.VALUE else None
    if listed is not None:
        return listed
    as_days = table.schema is None
    return LimitedColumn(domain, pin, commits, columns, holds_rows, as_days).drafted()


def _also(name: str, reach: DraftRange, domain: DraftDomain, names: Names) -> list[DraftParameter]:
    """The parameters of a list after its first one, which bears the column's name."""
    parameters = []
    for number, choice in enumerate(reach.also, start=2):
        called = f"{name}{also_called(number)}"
        figure = replace(choice.figure or reach.evidence[0], because=f"as {name}")
        parameter = _parameter(called, choice, figure, domain, names)
        if choice.only is None:
            parameter = replace(parameter, text=_of_column(name, figure.text))
        parameters.append(parameter)
    return parameters


def _of_column(name: str, choice: str) -> str:
    """A choice that says of which column, as a parameter of another name must."""
    inner = choice[1:] if choice.startswith("{") else f"{choice}: {{}}}}"
    return f"{{column: {key_text(name)}, {inner}"


def _several_said(choice: ValueChoice, name: str) -> str:
    if not choice.several:
        return f"the log does not say which values of {name} a commit changes"
    return f"a commit changes {number_text(choice.several)} values of {name} in the median"


def _pin(
    group: CommitGroup, domain: DraftDomain, table: TableFacts
) -> tuple[ColumnLimit | None, str]:
    """How most conditions limit the column, and why that is thought."""
    name, commits = table.names.columns[domain.column.name], group.commits
    if group.leaves_partitions and domain.named is None:
        said = "names no condition, and leaves partitions that it does not write (a dynamic"
        return ColumnLimit.VALUE, f"{said} overwrite): {name} = value stands for that"
    columns = table.all_columns
    pins = Counter(pin_of(condition_of(each), domain.column.name, columns) for each in commits)
    pins.pop(None, None)
    pin, count = pins.most_common(1)[0] if pins else (None, 0)
    share = f"{count:,} of {many(len(commits), 'condition')}"
    if pin is not None and count >= OFTEN * len(commits):
        return pin, f"{share} name {name} {pin.value}"
    return None, f"{share} pin {name}: all of its values are read"


def keys_of(
    commits: Sequence[ObservedCommit], slice_: TableSlice, table: TableFacts
) -> tuple[DraftParameter | None, DraftFigure]:
    """As many keys as it takes to change as many files as these commits did, if not all."""
    changed = max(median(each.removed for each in commits), 1)
    is_part = changed < MOST_OF_SCOPE * slice_.files
    pinned = {domain.column.name.lower() for domain in table.domains}
    others = [name for name in table.all_columns if name.lower() not in pinned]
    narrow = sum(any(names_column(condition_of(c), name) for name in others) for c in commits)
    silent = sum(not says_condition(each) for each in commits)
    if silent >= OFTEN * len(commits) and is_part:
        said = f"{silent:,} of {many(len(commits), 'commit')} do not say their condition"
    elif narrow >= OFTEN * len(commits):
        said = f"{narrow:,} of {many(len(commits), 'condition')} name other columns"
    else:
        said = f"{narrow:,} of {many(len(commits), 'condition')} name other columns than these"
        return None, guessed("", f"{said}: the draft changes all rows there")
    keys = DraftParameter("keys", *_as_many_keys(changed, slice_.files, len(commits)))
    return keys, guessed("", f"{said}: keys stand for them")


def _as_many_keys(changed: float, files: float, commits: int) -> tuple[str, DraftFigure]:
    """Keys of which so many files have one, if rows lie in files by chance."""
    if files <= 1 or changed >= MOST_OF_SCOPE * files:
        keys = 1.0 if files <= 1 else files * math.log(2)
    else:
        keys = math.log1p(-changed / files) / math.log1p(-1 / files)
    count = min(max(round(keys), 1), MOST_KEYS)
    said = (
        f"files changed: {number_text(changed)}, median of {many(commits, 'commit')}, of about"
        f" {number_text(files)} within reach: so many keys lie in so many files"
    )
    return f"{{keys: {{count: {count}}}}}", guessed("", said)

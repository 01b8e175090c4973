"""The `table:` of a scenario, or its `tables:`: columns, layout, properties, and the first rows.

What rows there are does not depend on the layout: `values` says which dates, countries, ... exist,
`partition_by` only groups the same rows into files differently. Variants of a layout are therefore
variants of the same table.
"""

from __future__ import annotations

import math
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from whitecap.engine.isolation import ISOLATION_PROPERTY
from whitecap.sim.quantities.bounds import (
    MAX_BYTES_PER_ROW,
    MAX_COUNT,
    MAX_DAYS,
    MAX_INITIAL_FILES,
    MAX_INITIAL_ROWS,
    MAX_PAST_COMMITS,
    MAX_ROWS_EACH,
)
from whitecap.sim.quantities.names import TABLE_NAME
from whitecap.sim.quantities.section import OneOf, Section
from whitecap.sim.quantities.units import Duration, Rate, Whole, shown


def _scalar(given: Any) -> Any:
    """A single value. Raises `ValueError` for a list, keys with values, a date and the like."""
    if not isinstance(given, str | int | float) or given in (math.inf, -math.inf) or given != given:
        quoted = f": put it in quotes: '{given}'" if isinstance(given, date) else ""
        raise ValueError(f"needs text, a number, true or false, not {shown(given)}{quoted}")
    return given


Scalar = Annotated[str | int | float | bool, BeforeValidator(_scalar)]
"""A value of a column as YAML writes it."""


PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "int": (int,),
    "bigint": (int,),
    "double": (int, float),
    "boolean": (bool,),
    "date": (str,),
}
"""Types whose values a scenario can list."""


KEY_TYPE = "bigint"
"""The type of a column that numbers the rows: a table may have more than an INT can count."""


class Domain(OneOf):
    """The values that a column takes: listed, or the last `days` up to today."""

    among: list[Scalar] | None = Field(default=None, min_length=1)
    days: Whole | None = Field(default=None, ge=1, le=MAX_DAYS)

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, given: Any) -> Any:
        return {"among": given} if isinstance(given, list) else given


class Initial(Section):
    """The rows that the table holds before the writers start, in files of `rows_per_file`."""

    rows: Whole = Field(default=0, ge=0, le=MAX_INITIAL_ROWS)
    rows_per_file: Whole = Field(default=1000, ge=1)

    @model_validator(mode="after")
    def _not_too_many_files(self) -> Self:
        files = math.ceil(self.rows / self.rows_per_file)
        if files > MAX_INITIAL_FILES:
            raise ValueError(f"{files:,} files are more than {MAX_INITIAL_FILES:,}")
        return self


class PastLog(Section):
    """What the table's `_delta_log` holds at the start, besides the commits of the initial table.

    Either so many `commits`, which stay throughout the run; or those that were made at a past
    `rate` and are kept for the `retention` (the table's `delta.logRetentionDuration` without it),
    of which one day's worth expires every midnight. Every commit has its checksum, and every
    `checkpoint_interval`-th (the table's `delta.checkpointInterval`) a checkpoint.
    """

    commits: Whole | None = Field(default=None, ge=0, le=MAX_PAST_COMMITS)
    rate: Rate | None = None
    retention: Duration | None = Field(default=None, gt=0)
    checkpoint_interval: Whole | None = Field(default=None, ge=1, le=MAX_COUNT)

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.commits is None) == (self.rate is None):
            raise ValueError("give either commits or rate")
        if self.retention is not None and self.rate is None:
            raise ValueError("retention goes only with rate")
        return self


class TableSection(Section):
    """A Delta table: the one that all writers share, or one of several. Rows take `bytes_per_row`.

    With `exists: false` nothing is there at the start: it is for the writers to create it. With
    `from` it begins with the files of a real table at a `version`, and each row stands for
    `rows_each` of theirs.
    """

    name: str = Field(default="events", pattern=TABLE_NAME)
    real: str | None = Field(default=None, alias="from")
    version: Whole | None = Field(default=None, ge=0)
    rows_each: Whole | None = Field(default=None, ge=1, le=MAX_ROWS_EACH)
    columns: str = Field(alias="schema")
    exists: bool = True
    partition_by: list[str] = Field(default_factory=list)
    cluster_by: list[str] = Field(default_factory=list)
    key: str | None = None
    isolation: Literal["Serializable", "WriteSerializable"] | None = None
    properties: dict[str, str] = Field(default_factory=dict)
    values: dict[str, Domain] = Field(default_factory=dict)
    initial: Initial = Initial()
    log: PastLog | None = None
    bytes_per_row: Whole = Field(default=100, ge=1, le=MAX_BYTES_PER_ROW)

    @model_validator(mode="before")
    @classmethod
    def _property_text(cls, given: Any) -> Any:
        """YAML reads `true` and `10` as what they are; Delta's properties are text."""
        if isinstance(given, dict) and isinstance(given.get("properties"), dict):
            shown = {key: property_text(value) for key, value in given["properties"].items()}
            return {**given, "properties": shown}
        return given

    @field_validator("version", "rows_each")
    @classmethod
    def _of_a_real_table(cls, given: int | None, others: ValidationInfo) -> int | None:
        if given is not None and others.data.get("real") is None:
            raise ValueError("goes only with from")
        return given

    @field_validator("cluster_by")
    @classmethod
    def _one_layout(cls, cluster_by: list[str], others: ValidationInfo) -> list[str]:
        if cluster_by and others.data.get("partition_by"):
            raise ValueError("a table cannot be both partitioned and clustered")
        return cluster_by

    @field_validator("initial")
    @classmethod
    def _of_a_table_that_exists(cls, initial: Initial, others: ValidationInfo) -> Initial:
        if initial.rows and not others.data.get("exists", True):
            raise ValueError("a table that does not exist has no initial rows")
        return initial

    @field_validator("log")
    @classmethod
    def _of_a_table_with_a_past(cls, log: PastLog | None, others: ValidationInfo) -> PastLog | None:
        if log is not None and not others.data.get("exists", True):
            raise ValueError("a table that does not exist has no log")
        return log

    def configuration(self) -> dict[str, str]:
        """The table's properties as its metadata holds them; no level means the dialect's."""
        if self.isolation is None:
            return dict(self.properties)
        return {**self.properties, ISOLATION_PROPERTY: self.isolation}


def property_text(value: Any) -> Any:
    """A YAML scalar as Delta and Spark write it in properties and settings."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case _:
            return value


def is_set(value: str | None) -> bool:
    """Whether a property of truth is set."""
    return value is not None and value.lower() == "true"


def tables_by_name(given: dict[str, Any]) -> dict[str, Any]:
    """The tables of a document, each named by its key. Raises `ValueError` for another name."""
    names = {str(name).lower() for name in given}
    if len(names) < len(given):
        raise ValueError("two names differ in their case alone, which names one table")
    for name, table in given.items():
        if isinstance(table, dict) and table.get("name", name) != name:
            raise ValueError(f"the table {name!r} is named by its key: leave its name out")
    return {
        name: {**table, "name": name} if isinstance(table, dict) else table
        for name, table in given.items()
    }

"""Rows written in JSON values (as cases and recordings hold them) as a Spark data frame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from whitecap.engine.log.schema import Schema, parse_ddl
from whitecap.engine.writing.generation import given_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: SparkSession, ddl: str, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Rows as a frame of one partition, so that an append of it writes one file per partition.

    Columns that the table makes up are left to it, unless a row has a value for them.
    """
    from pyspark.sql import functions

    document = spark.createDataFrame([(json.dumps(list(rows)),)], "rows string").coalesce(1)
    given = given_columns(parse_ddl(ddl), rows)
    parsed = functions.from_json("rows", f"array<struct<{_struct_fields(given)}>>")
    return document.select(functions.inline(parsed))


def _struct_fields(columns: Schema) -> str:
    """Columns as the DDL of struct fields: `x: int`."""
    return ", ".join(f"`{column.name}`: {column.type}" for column in columns)

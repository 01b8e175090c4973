"""Rows written in JSON values (as cases and recordings hold them) as a Spark data frame."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(spark: SparkSession, ddl: str, rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Rows as a frame of one partition, so that an append of it writes one file per partition."""
    from pyspark.sql import functions

    document = spark.createDataFrame([(json.dumps(list(rows)),)], "rows string").coalesce(1)
    parsed = functions.from_json("rows", f"array<struct<{_struct_fields(ddl)}>>")
    return document.select(functions.inline(parsed))


def _struct_fields(ddl: str) -> str:
    """The DDL of columns as that of struct fields: `x INT` becomes `x: INT`."""
    from pyspark.sql.types import StructType

    parsed: Any = StructType.fromDDL(ddl)
    return ", ".join(f"`{field.name}`: {field.dataType.simpleString()}" for field in parsed.fields)

"""The platforms that can be simulated, and what differs between them: all of it, in one place."""

from __future__ import annotations

from whitecap.engine.dialects.databricks import (
    DATABRICKS_13_3,
    DATABRICKS_14_2,
    DATABRICKS_14_3,
    DATABRICKS_PROPERTIES,
)
from whitecap.engine.dialects.delta import DELTA_OSS_3_3, DELTA_OSS_4_4
from whitecap.engine.dialects.delta_rs import DELTA_RS_1_6_3, DELTA_RS_1_6_6
from whitecap.engine.dialects.dialect import (
    DELTA_CHECKS,
    MICRO_BATCH,
    ROW_COMMANDS,
    ROW_LEVEL_SWITCH,
    CheckRules,
    Dialect,
    Difference,
    RowLevelRules,
    Vendor,
)
from whitecap.engine.errors import InvalidInput, Problem, nearest

__all__ = [
    "DATABRICKS_13_3",
    "DATABRICKS_14_2",
    "DATABRICKS_14_3",
    "DATABRICKS_PROPERTIES",
    "DELTA_CHECKS",
    "DELTA_OSS_3_3",
    "DELTA_OSS_4_4",
    "DELTA_RS_1_6_3",
    "DELTA_RS_1_6_6",
    "DIALECTS",
    "MICRO_BATCH",
    "ROW_COMMANDS",
    "ROW_LEVEL_SWITCH",
    "CheckRules",
    "Dialect",
    "Difference",
    "RowLevelRules",
    "Vendor",
    "dialect_named",
]

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        DELTA_OSS_4_4,
        DELTA_OSS_3_3,
        DATABRICKS_13_3,
        DATABRICKS_14_2,
        DATABRICKS_14_3,
        DELTA_RS_1_6_3,
        DELTA_RS_1_6_6,
    )
}


def dialect_named(name: str, place: str = "dialect") -> Dialect:
    """The dialect of that name. Raises `InvalidInput` with the nearest one, or all of them."""
    try:
        return DIALECTS[name]
    except KeyError:
        likely = nearest(name, DIALECTS)
        there_are = "" if likely else f": there are {', '.join(DIALECTS)}"
        problem = Problem(place, f"there is no {name!r}{there_are}", likely)
        raise InvalidInput([problem]) from None

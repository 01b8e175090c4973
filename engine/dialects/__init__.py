"""The platforms that can be simulated, and what differs between them: all of it, in one place."""

from __future__ import annotations

from whitecap.engine.dialects.choice import (
    DEFAULT_DIALECT,
    DIALECTS,
    caveat_of,
    dialect_named,
    is_modelled,
    newest,
    standing_for,
    unknown_dialect,
    version_of,
    versions_of,
)
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
    IDENTITY,
    MICRO_BATCH,
    ROW_COMMANDS,
    ROW_LEVEL_SWITCH,
    SCHEMA_EVOLUTION,
    CheckRules,
    Dialect,
    Difference,
    RowLevelRules,
    Vendor,
)
from whitecap.engine.dialects.products import Product, product_of

__all__ = [
    "DATABRICKS_13_3",
    "DATABRICKS_14_2",
    "DATABRICKS_14_3",
    "DATABRICKS_PROPERTIES",
    "DEFAULT_DIALECT",
    "DELTA_CHECKS",
    "DELTA_OSS_3_3",
    "DELTA_OSS_4_4",
    "DELTA_RS_1_6_3",
    "DELTA_RS_1_6_6",
    "DIALECTS",
    "IDENTITY",
    "MICRO_BATCH",
    "ROW_COMMANDS",
    "ROW_LEVEL_SWITCH",
    "SCHEMA_EVOLUTION",
    "CheckRules",
    "Dialect",
    "Difference",
    "Product",
    "RowLevelRules",
    "Vendor",
    "caveat_of",
    "dialect_named",
    "is_modelled",
    "newest",
    "product_of",
    "standing_for",
    "unknown_dialect",
    "version_of",
    "versions_of",
]

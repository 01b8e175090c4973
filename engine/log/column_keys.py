"""The keys of what the log says of a column beyond its type: of the column's `metadata`.

Source: PROTOCOL.md "Column Metadata"; DeltaSourceUtils.scala, DeltaColumnMapping.scala,
TypeWideningMetadata.scala; Spark's ResolveDefaultColumnsUtil.scala, CharVarcharUtils.scala.
"""

from __future__ import annotations

CURRENT_DEFAULT = "CURRENT_DEFAULT"
GENERATION_EXPRESSION = "delta.generationExpression"
INVARIANTS = "delta.invariants"

IDENTITY_START = "delta.identity.start"
IDENTITY_STEP = "delta.identity.step"
IDENTITY_HIGH_WATER_MARK = "delta.identity.highWaterMark"
IDENTITY_ALLOWS_EXPLICIT_INSERT = "delta.identity.allowExplicitInsert"

COLUMN_ID = "delta.columnMapping.id"
PHYSICAL_NAME = "delta.columnMapping.physicalName"

LIMITED_TEXT = "__CHAR_VARCHAR_TYPE_STRING"
"""Holds the CHAR or VARCHAR type of a text column."""

TYPE_CHANGES = "delta.typeChanges"

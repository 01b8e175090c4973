"""The isolation levels, by Delta's names.

Source: `isolationLevels.scala`; `DeltaConfig.scala: ISOLATION_LEVEL`.
"""

from __future__ import annotations

from enum import StrEnum

ISOLATION_PROPERTY = "delta.isolationLevel"


class IsolationLevel(StrEnum):
    """The three levels, by Delta's names."""

    SERIALIZABLE = "Serializable"
    WRITE_SERIALIZABLE = "WriteSerializable"
    SNAPSHOT = "SnapshotIsolation"

"""The isolation levels, by Delta's names.

Source: `isolationLevels.scala`; `DeltaConfig.scala: ISOLATION_LEVEL`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

ISOLATION_PROPERTY = "delta.isolationLevel"


class IsolationLevel(StrEnum):
    """The three levels, by Delta's names."""

    SERIALIZABLE = "Serializable"
    WRITE_SERIALIZABLE = "WriteSerializable"
    SNAPSHOT = "SnapshotIsolation"


TABLE_LEVELS = (IsolationLevel.SERIALIZABLE, IsolationLevel.WRITE_SERIALIZABLE)
"""Those that a table can be given; the third one is what a commit may fall back to."""

_BY_LOWER_NAME = {level.value.lower(): level for level in IsolationLevel}


def level_called(text: str) -> IsolationLevel | None:
    """The level of a name in any case; `None` for a text that names none."""
    return _BY_LOWER_NAME.get(text.lower())


def stated_level(configuration: Mapping[str, str]) -> IsolationLevel | None:
    """The level that a table's properties state; `None` where they state none that there is."""
    return level_called(configuration.get(ISOLATION_PROPERTY, ""))

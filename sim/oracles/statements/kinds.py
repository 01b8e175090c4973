"""What a statement may do to rows, by its kind: told from its first words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from whitecap.sim.oracles.statements.created import brings_rows, replaces_table


class EffectKind(Enum):
    """What a kind of statement may do to the rows of an existing table."""

    KEEPS = auto()
    EMPTIES = auto()
    RESTORES = auto()
    COPIES = auto()
    """A table is created with the rows of a query or of a clone."""
    BATCH = auto()
    """A streaming batch, recorded as JSON."""
    APPENDS = auto()
    DELETES = auto()
    UPDATES = auto()
    OTHER = auto()
    """Its kind alone says nothing, as of MERGE and of INSERT OVERWRITE."""


_BY_FIRST_WORD = {
    **dict.fromkeys(
        ("OPTIMIZE", "VACUUM", "REORG", "ALTER", "COMMENT", "ANALYZE", "FSCK", "MSCK"),
        EffectKind.KEEPS,
    ),
    "TRUNCATE": EffectKind.EMPTIES,
    "RESTORE": EffectKind.RESTORES,
    "DELETE": EffectKind.DELETES,
    "UPDATE": EffectKind.UPDATES,
}


def kind_of(statement: str) -> EffectKind:
    """What a recorded statement may do to rows, whatever it says of them."""
    if statement.startswith("{"):
        return EffectKind.BATCH
    match statement.upper().replace(";", " ").split():
        case ["CREATE" | "REPLACE", *_] as words:
            return _of_created(statement, words)
        case ["INSERT", "INTO", *rest] if "REPLACE" not in rest:
            return EffectKind.APPENDS
        case [first, *_]:
            return _BY_FIRST_WORD.get(first, EffectKind.OTHER)
    return EffectKind.OTHER


def _of_created(statement: str, words: Sequence[str]) -> EffectKind:
    if brings_rows(statement):
        return EffectKind.COPIES
    return EffectKind.EMPTIES if replaces_table(words) else EffectKind.KEEPS

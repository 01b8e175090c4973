"""Deletion vectors of real files: how many rows they hide is in the log, which ones is not."""

from __future__ import annotations

from whitecap.engine.log.actions import DeletionVector
from whitecap.engine.log.vectors import z85
from whitecap.engine.log.vectors.deletion_vectors import INLINE, encode_positions

_WORD = 4
"""Z85 takes bytes in fours."""


def hidden_of(cardinality: int, count: int) -> list[int]:
    """So many of the positions of `count` rows, evenly spread."""
    return [at * count // cardinality for at in range(cardinality)]


def inline_vector(cardinality: int, count: int) -> DeletionVector:
    """A vector that hides these positions, kept in the log itself."""
    payload = encode_positions(hidden_of(cardinality, count))
    text = z85.encode(payload + bytes(-len(payload) % _WORD))
    return DeletionVector(INLINE, text, None, len(payload), cardinality)

"""Deletion vectors that live in the log itself: Delta reads them, but writes none on its own."""

from __future__ import annotations

from collections.abc import Collection

from whitecap.engine.log.actions import DeletionVector
from whitecap.engine.log.vectors import z85
from whitecap.engine.log.vectors.deletion_vectors import INLINE, encode_positions


def inline_vector(positions: Collection[int]) -> DeletionVector:
    """A vector that lives in the log itself; its Z85 has zeros after the payload's last bytes."""
    payload = encode_positions(positions)
    return DeletionVector(
        INLINE,
        z85.encode(payload + bytes(-len(payload) % 4)),
        size_in_bytes=len(payload),
        cardinality=len(set(positions)),
    )

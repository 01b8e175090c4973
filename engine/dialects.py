"""What differs between versions and vendors of Delta, in one place.

A dialect is a small declaration; every rule that depends on it asks for one of its fields. Choosing
something that a dialect lacks is an error with the reason, never a silent approximation.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from engine.errors import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class Dialect:
    """One platform: its name, its default isolation level, and what it can do beyond 4.4's rules.

    `sources` says where the declaration comes from.
    """

    name: str
    default_isolation: str
    engine_info: str
    resolves_feature_enablement: bool
    partition_hints: bool
    row_level_concurrency: bool
    remaps_deletions_onto_compacted_files: bool
    sources: tuple[str, ...]
    differences: tuple[str, ...] = ()


DELTA_OSS_4_4 = Dialect(
    name="delta-oss-4.4",
    default_isolation="Serializable",
    engine_info="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
    resolves_feature_enablement=True,
    partition_hints=True,
    row_level_concurrency=False,
    remaps_deletions_onto_compacted_files=False,
    sources=("delta-io/delta 4.4.0: OptimisticTransaction.scala, ConflictChecker.scala",),
)

DIALECTS = {dialect.name: dialect for dialect in (DELTA_OSS_4_4,)}


def dialect_named(name: str) -> Dialect:
    """The dialect of that name. Raises `InvalidInput` with the nearest one."""
    try:
        return DIALECTS[name]
    except KeyError:
        nearest = difflib.get_close_matches(name, DIALECTS, n=1)
        problem = Problem("dialect", f"there is no {name!r}", nearest[0] if nearest else None)
        raise InvalidInput([problem]) from None

"""Which engine wrote a commit, and the modelled dialect that comes nearest to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from whitecap.engine.dialects import (
    DEFAULT_DIALECT,
    Dialect,
    caveat_of,
    is_modelled,
    product_of,
    standing_for,
    versions_of,
)
from whitecap.sim.inferring.evidence.figures import DraftFigure, assumed, guessed
from whitecap.sim.inferring.log.observed import ObservedCommit


class Guess(Struct, frozen=True):
    """The dialect of some commits, and why."""

    dialect: Dialect
    figure: DraftFigure


def guessed_dialect(commits: Sequence[ObservedCommit], anonymous: bool = False) -> Guess:
    """The dialect of the engine that made most commits; other names may be an owner's words."""
    engines = Counter(product_of(commit.origin.engine) for commit in commits)
    products = {product: count for product, count in engines.items() if product is not None}
    if not products:
        names = sorted({commit.origin.engine or "nobody" for commit in commits})
        shown = "" if anonymous else f" ({', '.join(names[:3])})"
        because = f"no commit names an engine that is modelled{shown}"
        return Guess(DEFAULT_DIALECT, assumed(DEFAULT_DIALECT.name, because))
    product = max(products, key=lambda each: products[each])
    dialect = standing_for(product)
    because = f"engineInfo of {products[product]:,} of {len(commits):,} commits says {product}"
    if not is_modelled(product):
        because += f", and {dialect.name} stands for {versions_of(dialect)}"
    if caveat := caveat_of(product):
        because += f". {caveat}"
    return Guess(dialect, guessed(dialect.name, because))


def guessed_store(place: str) -> DraftFigure:
    """The store's profile, by where the table lies."""
    scheme = place.partition("://")[0].lower() if "://" in place else ""
    profile = _PROFILES.get(scheme)
    if profile is None:
        because = "where the table was written is not in its log: `whitecap stores` lists profiles"
        return assumed("s3", because)
    return guessed(profile, f"the table lies at {scheme}://; `whitecap stores` lists others")


_PROFILES = {
    "s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "abfs",
    "abfss": "abfs", "wasbs": "azure", "az": "azure", "hdfs": "hdfs", "viewfs": "hdfs",
}  # fmt: skip

"""Which engine wrote a commit, and the modelled dialect that comes nearest to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.engine.dialects import DELTA_OSS_4_4, DIALECTS, Dialect
from whitecap.sim.inferring.figures import DraftFigure, assumed, guessed
from whitecap.sim.inferring.observed import ObservedCommit

_PRODUCTS = {
    "Databricks": re.compile(r"Databricks-Runtime/(\d+)\.(\d+)"),
    "Delta Lake": re.compile(r"Delta-Lake/(\d+)\.(\d+)(?:\.(\d+))?"),
    "delta-rs": re.compile(r"delta-rs\S*?(\d+)\.(\d+)\.(\d+)"),
}


@dataclass(frozen=True, slots=True)
class Product:
    """An engine with its version."""

    name: str
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name} {'.'.join(map(str, self.version))}"


def product_of(engine_info: str | None) -> Product | None:
    """The engine that `engineInfo` names; `None` for one that is not modelled."""
    for name, pattern in _PRODUCTS.items():
        if engine_info and (match := pattern.search(engine_info)):
            return Product(name, tuple(int(part) for part in match.groups() if part))
    return None


def dialect_of(product: Product) -> Dialect:
    """The newest modelled version that is not newer, or the oldest one."""
    same = {
        modelled.version: dialect
        for dialect in DIALECTS.values()
        if (modelled := product_of(dialect.engine_info)) and modelled.name == product.name
    }
    older = [version for version in same if version <= product.version]
    return same[max(older)] if older else same[min(same)]


@dataclass(frozen=True, slots=True)
class Guess:
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
        return Guess(DELTA_OSS_4_4, assumed(DELTA_OSS_4_4.name, because))
    product = max(products, key=lambda each: products[each])
    dialect = dialect_of(product)
    because = f"engineInfo of {products[product]:,} of {len(commits):,} commits says {product}"
    modelled = product_of(dialect.engine_info)
    if modelled is None or modelled.version[:2] != product.version[:2]:
        because += "; the nearest version that is modelled"
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

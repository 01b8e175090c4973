"""Which dialects there are, by name, and which of them stands for a version that has none."""

from __future__ import annotations

from whitecap.engine.dialects.databricks import DATABRICKS_13_3, DATABRICKS_14_2, DATABRICKS_14_3
from whitecap.engine.dialects.delta import DELTA_OSS_3_3, DELTA_OSS_4_4
from whitecap.engine.dialects.delta_rs import DELTA_RS_1_6_3, DELTA_RS_1_6_6
from whitecap.engine.dialects.dialect import Dialect, Vendor
from whitecap.engine.dialects.products import Product, product_called
from whitecap.engine.errors import InvalidInput, Problem, unknown_name

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        DELTA_OSS_4_4,
        DELTA_OSS_3_3,
        DATABRICKS_13_3,
        DATABRICKS_14_2,
        DATABRICKS_14_3,
        DELTA_RS_1_6_3,
        DELTA_RS_1_6_6,
    )
}


def dialect_named(name: str, place: str = "dialect") -> Dialect:
    """The dialect of that name. Raises `InvalidInput` with the nearest one, or all of them."""
    try:
        return DIALECTS[name]
    except KeyError:
        raise InvalidInput([Problem(place, *unknown_dialect(name))]) from None


def unknown_dialect(name: str) -> tuple[str, str | None]:
    """What to say of a name that no dialect has, with the one that stands for it or is like it."""
    product = product_called(name)
    if product is None:
        return unknown_name("dialect", name, DIALECTS)
    dialect = standing_for(product)
    why = "" if is_modelled(product) else f": one stands for {versions_of(dialect)}"
    return f"there is no dialect {name!r}{why}", dialect.name


def standing_for(product: Product) -> Dialect:
    """The newest modelled version that is not newer, or the oldest; of no version the newest."""
    versions = _versions(product.vendor)
    if not product.version:
        return versions[max(versions)]
    older = [version for version in versions if version <= product.version]
    return versions[max(older, default=min(versions))]


def newest(vendor: Vendor) -> Dialect:
    """The newest modelled version of an engine."""
    return standing_for(Product(vendor, ()))


def is_modelled(product: Product) -> bool:
    """Whether there is a dialect of this very version."""
    versions = _versions(product.vendor)
    return any(version == product.version[: len(version)] for version in versions)


def version_of(dialect: Dialect) -> str:
    """The version that its name says: `14.3`."""
    return dialect.name.rpartition("-")[2]


def versions_of(dialect: Dialect) -> str:
    """The versions that a dialect stands for, in words: `versions from 14.3 on`."""
    in_order = [each for _, each in sorted(_versions(dialect.vendor).items())]
    place = in_order.index(dialect)
    begins = [f"from {version_of(dialect)} on"] if place else []
    ends = [f"before {version_of(newer)}" for newer in in_order[place + 1 :][:1]]
    return f"versions {' and '.join(begins + ends)}"


def caveat_of(product: Product) -> str:
    """What is otherwise in a product than its dialect says; empty where nothing is known to be."""
    dialect = standing_for(product)
    own = tuple(map(int, version_of(dialect).split(".")))
    return dialect.of_newer_versions if product.version[: len(own)] > own else ""


def _versions(vendor: Vendor) -> dict[tuple[int, ...], Dialect]:
    """The modelled versions of an engine."""
    same = (dialect for dialect in DIALECTS.values() if dialect.vendor is vendor)
    return {tuple(map(int, version_of(each).split("."))): each for each in same}


DEFAULT_DIALECT = newest(Vendor.DELTA)
"""That of whoever names none."""

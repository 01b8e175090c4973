"""Engines with their versions, as commits and users name them."""

from __future__ import annotations

import re

from msgspec import Struct

from whitecap.engine.dialects.dialect import Vendor

_IN_COMMITS = {
    # A pipeline says `dlt:16.1.3`, a SQL warehouse `16.x`; some clients name no release of the
    # runtime.
    Vendor.DATABRICKS: re.compile(r"Databricks-Runtime/(?:dlt:)?(?:(\d+)(?:\.(\d+))?)?"),
    Vendor.DELTA: re.compile(r"Delta-Lake/(\d+)\.(\d+)(?:\.(\d+))?"),
    Vendor.DELTA_RS: re.compile(r"delta-rs\S*?(\d+)\.(\d+)\.(\d+)"),
}
_BY_USERS = {
    Vendor.DATABRICKS: re.compile(r"(?:databricks|dbr)[ -]*(\d+)\.(\d+)", re.IGNORECASE),
    Vendor.DELTA: re.compile(
        r"(?:delta|delta-oss|delta-lake|oss)[ -]*(\d+)\.(\d+)(?:\.(\d+))?", re.IGNORECASE
    ),
    Vendor.DELTA_RS: re.compile(
        r"(?:delta-rs|deltalake)[ -]*(\d+)\.(\d+)(?:\.(\d+))?", re.IGNORECASE
    ),
}
"""How dialects are called here, and what comes to mind instead."""


class Product(Struct, frozen=True):
    """An engine with its version, which is empty if it names none."""

    vendor: Vendor
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.vendor.value} {'.'.join(map(str, self.version))}".rstrip()


def product_of(engine_info: str | None) -> Product | None:
    """The engine that `engineInfo` of a commit names; `None` for one that is not modelled."""
    for vendor, pattern in _IN_COMMITS.items():
        if engine_info and (match := pattern.search(engine_info)):
            return _product(vendor, match)
    return None


def product_called(name: str) -> Product | None:
    """The engine that a name such as `databricks-15.4-lts` means, with its version."""
    for vendor, pattern in _BY_USERS.items():
        if match := pattern.match(name):
            return _product(vendor, match)
    return None


def _product(vendor: Vendor, match: re.Match[str]) -> Product:
    return Product(vendor, tuple(int(part) for part in match.groups() if part))

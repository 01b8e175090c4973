"""The releases of Spark and Delta Lake that can be played here. A process has one of them.

Packages of one environment are of one release. The first is the one that the project is installed
with; `make conformance` gives the others environments of their own.
"""

from __future__ import annotations

from importlib import metadata

from msgspec import Struct

from whitecap.engine.dialects import DELTA_OSS_3_3, DELTA_OSS_4_4


class Release(Struct, frozen=True):
    """A Delta Lake, the Spark that it runs on, and the dialect that holds its rules."""

    dialect: str
    delta: str
    spark: str
    artifact: str
    """Its artefact, whose name carries the Scala version, and since 4.1 Spark's too."""

    def __str__(self) -> str:
        return f"Delta Lake {self.delta}"


INSTALLED = Release(DELTA_OSS_4_4.name, "4.4.0", "4.2.0", "delta-spark_4.2_2.13")
"""The one that every verdict was checked against; also pinned in pyproject.toml."""

OLDER = (Release(DELTA_OSS_3_3.name, "3.3.2", "3.5.3", "delta-spark_2.12"),)
"""Those that a dialect was checked against by some of its cases (tests/conformance/cases)."""


def release_here() -> Release:
    """The release whose Spark this environment has; the project's own if it has none of them."""
    try:
        spark = metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        return INSTALLED
    return next((each for each in OLDER if each.spark == spark), INSTALLED)

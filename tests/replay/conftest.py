"""Small real tables for the tests of the replay, built once and copied per test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from whitecap.engine.races.row_tables import DataFile, TableOf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MakeTable = Callable[..., Path]


def small_table(**properties: str) -> TableOf:
    """Partitions x=1 and x=2 with two files of four rows each."""
    files = [
        DataFile(
            partition_values={"x": x},
            rows=[{"x": x, "v": first + n} for n in range(4)],
        )
        for x in (1, 2)
        for first in (0, 100)
    ]
    versions = 5 + ("delta.isolationLevel" in properties)
    return TableOf(
        schema="x INT, v BIGINT",
        partition_columns=["x"],
        properties=properties,
        files=files,
        versions=versions,
    )


@pytest.fixture(scope="session")
def _templates(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> object:
    from whitecap.sim.replay.statement_cases import Templates

    return Templates(spark, tmp_path_factory.mktemp("templates"))


@pytest.fixture
def make_table(spark: SparkSession, _templates: object, tmp_path: Path) -> Iterator[MakeTable]:
    """A function that makes `small_table` with some properties and names it `target` in SQL."""
    from whitecap.sim.replay.real.tables import forget_table, name_table
    from whitecap.sim.replay.statement_cases import Templates

    assert isinstance(_templates, Templates)

    def make(**properties: str) -> Path:
        folder = tmp_path / "target"
        _templates.copy(small_table(**properties), folder)
        name_table(spark, "target", folder)
        return folder

    yield make
    forget_table(spark, "target")

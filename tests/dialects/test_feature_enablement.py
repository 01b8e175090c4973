"""A feature that is switched on beside writers: who goes on, on which platform."""

from __future__ import annotations

import pytest

from tests.dialects.races_on_rows import FOUR_ROWS, World, ending
from whitecap.engine.dialects import (
    DATABRICKS_14_2,
    DATABRICKS_14_3,
    DELTA_OSS_3_3,
    DELTA_OSS_4_4,
    Dialect,
)

INSERT, DELETE = "INSERT INTO t VALUES (9, 9, 9)", "DELETE FROM t WHERE id = 1"
VECTORS, TRACKING = "delta.enableDeletionVectors", "delta.enableRowTracking"


@pytest.mark.parametrize(
    ("dialect", "key", "goes_on"),
    [
        (DELTA_OSS_4_4, VECTORS, True),
        (DELTA_OSS_4_4, TRACKING, True),
        (DELTA_OSS_3_3, VECTORS, False),
        (DELTA_OSS_3_3, TRACKING, True),
        (DATABRICKS_14_2, VECTORS, False),
        (DATABRICKS_14_2, TRACKING, False),
        (DATABRICKS_14_3, TRACKING, False),
    ],
)
@pytest.mark.parametrize("statement", [INSERT, DELETE])
def test_a_feature_that_is_switched_on(
    dialect: Dialect, key: str, goes_on: bool, statement: str
) -> None:
    world = World.of(FOUR_ROWS, dialect=dialect, properties={VECTORS: "false"})
    if key == TRACKING:  # the table knows the feature already, so that only metadata changes
        world.run("ALTER TABLE t SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported')")
    current = world.begin(statement)
    world.run(f"ALTER TABLE t SET TBLPROPERTIES ('{key}' = 'true')")
    end = ending(current.finish())
    assert end == "committed" if goes_on else end.startswith("MetadataChanged")


@pytest.mark.parametrize(
    ("dialect", "goes_on"),
    [(DELTA_OSS_3_3, True), (DATABRICKS_14_2, False), (DATABRICKS_14_3, False)],
)
@pytest.mark.parametrize("statement", [INSERT, DELETE])
@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_row_tracking_that_is_switched_on_once_more(
    dialect: Dialect, goes_on: bool, statement: str, value: str
) -> None:
    world = World.of(FOUR_ROWS, dialect=dialect, properties={TRACKING: "true"})
    current = world.begin(statement)
    world.run(f"ALTER TABLE t SET TBLPROPERTIES ('{TRACKING}' = '{value}')")
    end = ending(current.finish())
    assert end == "committed" if goes_on else end.startswith("MetadataChanged")


@pytest.mark.parametrize("also", ["'delta.appendOnly' = 'false'", "'note' = 'x'"])
def test_row_tracking_beside_another_property_is_any_change_of_metadata(also: str) -> None:
    world = World.of(FOUR_ROWS, dialect=DELTA_OSS_3_3, properties={TRACKING: "true"})
    current = world.begin(INSERT)
    world.run(f"ALTER TABLE t SET TBLPROPERTIES ('{TRACKING}' = 'true', {also})")
    assert ending(current.finish()).startswith("MetadataChanged")


def test_row_tracking_that_is_switched_off_is_any_change_of_metadata() -> None:
    world = World.of(FOUR_ROWS, dialect=DELTA_OSS_3_3, properties={TRACKING: "true"})
    current = world.begin(INSERT)
    world.run(f"ALTER TABLE t SET TBLPROPERTIES ('{TRACKING}' = 'false')")
    assert ending(current.finish()).startswith("MetadataChanged")

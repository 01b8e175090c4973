"""Liquid-clustered tables on Databricks: their vectors, and when they count as clustered."""

from __future__ import annotations

import pytest

from tests.dialects.races_on_rows import World, ending
from whitecap.engine.commands import SharedTable, Table, run_statement
from whitecap.engine.dialects import DATABRICKS_13_3, DATABRICKS_14_3, DELTA_OSS_4_4, Dialect
from whitecap.engine.log.actions import Metadata
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario

VECTORS = "delta.enableDeletionVectors"
CREATE = "CREATE TABLE t (id BIGINT, g INT, v INT) CLUSTER BY (id)"
OFF = f" TBLPROPERTIES ('{VECTORS}' = 'false')"


def configuration(dialect: Dialect, *statements: str) -> dict[str, str]:
    store, table = MemoryStore(), Table("t", SharedTable(), dialect=dialect)
    for sql in statements:
        run(run_statement(parse_statement(sql), {"t": table}), store)
    metadata = run(table.log.update(), store).metadata
    assert isinstance(metadata, Metadata)
    return dict(metadata.configuration)


@pytest.mark.parametrize("dialect", [DATABRICKS_13_3, DATABRICKS_14_3])
def test_databricks_gives_a_clustered_table_vectors_unless_they_are_switched_off(
    dialect: Dialect,
) -> None:
    later = "ALTER TABLE t CLUSTER BY (g)"
    plain = CREATE.partition(" CLUSTER")[0]
    assert configuration(dialect, CREATE)[VECTORS] == "true"
    assert configuration(dialect, plain, later)[VECTORS] == "true"
    assert configuration(dialect, CREATE + OFF)[VECTORS] == "false"
    assert configuration(dialect, plain + OFF, later)[VECTORS] == "false"
    assert VECTORS not in configuration(dialect, plain)


def test_delta_does_not() -> None:
    assert VECTORS not in configuration(DELTA_OSS_4_4, CREATE)


def races(*setup: str) -> str:
    world = World(DATABRICKS_13_3)
    for sql in (*setup, "INSERT INTO t VALUES (1, 0, 0), (2, 0, 0)"):
        world.run(sql)
    return ending(world.race("DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 2"))


def test_a_clustered_table_has_row_level_concurrency_on_13_3_until_it_is_clustered_no_more() -> (
    None
):
    assert races(CREATE) == "committed"
    assert races(CREATE, "ALTER TABLE t CLUSTER BY NONE") == "ConcurrentAppend WITHOUT_HINT"
    assert races(CREATE + OFF) == "ConcurrentAppend WITHOUT_HINT"


SCENARIO = """
name: clustered
dialect: {dialect}
duration: 1 min
store: {{profile: instant}}
table: {{name: t, schema: "id BIGINT, v INT", key: id, cluster_by: [id],
         properties: {{{properties}}}, initial: {{rows: 100, rows_per_file: 100}}}}
writers:
  updates:
    count: 4
    statement: "UPDATE t SET v = 1 WHERE id IN (:keys)"
    parameters: {{keys: {{keys: {{count: 1}}}}}}
    arrival: {{closed: {{think: 1 s}}}}
    compute: 5 s
"""


@pytest.mark.parametrize(
    ("dialect", "properties", "aborts"),
    [
        ("databricks-14.3", "", False),
        ("databricks-14.3", "delta.enableDeletionVectors: false", True),
        ("delta-oss-4.4", "", True),
    ],
)
def test_the_table_of_a_scenario_starts_so(dialect: str, properties: str, aborts: bool) -> None:
    scenario = parse_scenario(SCENARIO.format(dialect=dialect, properties=properties), "t.yaml")
    outcomes = run_scenario(scenario).recording.tables["transactions"].column("error_class")
    by_files = [
        error for error in outcomes.to_pylist() if error and not error.endswith("ROW_LEVEL_CHANGES")
    ]
    assert bool(by_files) is aborts

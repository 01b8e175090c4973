"""`whitecap dialects`, and what becomes of a choice that a dialect does not have."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from engine.dialects import DATABRICKS_13_3, DATABRICKS_14_3, DELTA_OSS_3_3, DELTA_OSS_4_4, DIALECTS
from engine.errors import InvalidInput, UnsupportedFeature
from sim.run import run_scenario
from sim.scenario import Scenario, parse_scenario
from whitecap.cli import main
from whitecap.exit_codes import ExitCode

SCENARIO = """
name: two-updates-of-one-file
dialect: {dialect}
duration: 5 min
table:
  name: t
  schema: "id BIGINT, v INT"
  key: id
  properties: {{delta.enableDeletionVectors: true}}
  initial: {{rows: 1000, rows_per_file: 1000}}
store: {{profile: instant}}
writers:
  updates:
    count: 4
    statement: "UPDATE t SET v = v + 1 WHERE id IN (:keys)"
    parameters: {{keys: {{keys: {{count: 3}}}}}}
    arrival: {{closed: {{think: 1 s}}}}
    compute: {{time: {{constant: 10 s}}}}
    rerun: {{none: {{}}}}
"""


def _scenario(dialect: str, **settings: str) -> Scenario:
    return parse_scenario(SCENARIO.format(dialect=dialect), "t.yaml", {"settings": settings})


def test_it_lists_every_dialect_with_every_difference_and_its_source() -> None:
    text = CliRunner().invoke(main, ["dialects"]).output
    for dialect in DIALECTS.values():
        assert dialect.name in text.splitlines()
        for difference in dialect.differences:
            assert difference.text in text
            assert difference.source in text


def test_it_lists_one_dialect_as_json() -> None:
    output = CliRunner().invoke(main, ["dialects", "databricks-14.2", "--format", "json"]).output
    (described,) = json.loads(output)
    assert described["default_isolation"] == "WriteSerializable"
    assert described["row_level_concurrency"]["merge_needs_target_predicate"]


def test_an_unknown_dialect_is_bad_input_with_the_nearest_name() -> None:
    result = CliRunner().invoke(main, ["dialects", "databricks-14"])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "databricks-14" in result.output


def test_choosing_what_a_dialect_lacks_is_refused_with_the_reason() -> None:
    option = {"whitecap.rowLevelConcurrency.enabled": "true"}
    with pytest.raises(UnsupportedFeature, match=r"delta-oss-4\.4: Delta Lake has no row-level"):
        DELTA_OSS_4_4.settings_of(option)
    assert DATABRICKS_14_3.settings_of(option).row_level_concurrency
    enablement = "spark.databricks.delta.featureEnablement.conflictResolution.enabled"
    with pytest.raises(UnsupportedFeature, match=r"it came after 3\.3"):
        DELTA_OSS_3_3.settings_of({enablement: "true"})
    preview = {"spark.databricks.delta.rowLevelConcurrencyPreview": "true"}
    with pytest.raises(UnsupportedFeature, match=r"came with 14\.0"):
        DATABRICKS_13_3.settings_of(preview)
    assert DATABRICKS_14_3.settings_of(preview).row_level_preview


def test_a_scenario_that_chooses_what_its_dialect_lacks_is_told_at_its_place() -> None:
    with pytest.raises(InvalidInput, match="Delta Lake has no row-level concurrency"):
        _scenario("delta-oss-4.4", **{"whitecap.rowLevelConcurrency.maxWinningCommits": "3"})


def test_a_scenario_runs_by_the_rules_of_its_dialect() -> None:
    ends = {}
    for name in ("delta-oss-4.4", "databricks-14.3"):
        table = run_scenario(_scenario(name)).recording.tables["transactions"].to_pandas()
        ends[name] = table.groupby("outcome").size().to_dict()
    assert ends["delta-oss-4.4"]["aborted"] > 10
    assert ends["databricks-14.3"].get("aborted", 0) < ends["delta-oss-4.4"]["aborted"] / 5
    assert ends["databricks-14.3"]["committed"] > ends["delta-oss-4.4"]["committed"]


def test_a_table_without_a_level_has_the_default_of_its_dialect() -> None:
    levels = set()
    for name in ("delta-oss-4.4", "databricks-14.3"):
        table = run_scenario(_scenario(name)).recording.tables["transactions"].to_pandas()
        levels.add((name, *table["isolation_level"].dropna().unique()))
    assert levels == {
        ("delta-oss-4.4", "Serializable"),
        ("databricks-14.3", "WriteSerializable"),
    }

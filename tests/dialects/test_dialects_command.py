"""`whitecap dialects`, and what becomes of a choice that a dialect does not have."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import whitecap
from whitecap.cli import main
from whitecap.engine.dialects import (
    DATABRICKS_13_3,
    DATABRICKS_14_3,
    DELTA_OSS_3_3,
    DELTA_OSS_4_4,
    DIALECTS,
)
from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.settings import DELTA_PREFIX
from whitecap.exit_codes import ExitCode
from whitecap.sim.loading import parse_scenario
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario

WIDE = {"COLUMNS": "1000"}
OLDER = ["13.3", "14.2"]

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
    text = CliRunner().invoke(main, ["dialects"], env=WIDE).stdout
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


def test_it_names_the_options_that_a_dialect_has_and_what_holds_without_them() -> None:
    option = "whitecap.rowLevelConcurrency.maxWinningCommits (100)"
    for name, has_it in (("databricks-14.3", True), ("delta-oss-4.4", False)):
        text = CliRunner().invoke(main, ["dialects", name], env=WIDE).stdout
        assert (option in text) is has_it


@pytest.mark.parametrize(
    ("named", "standing", "versions"),
    [
        ("databricks-15.4", "databricks-14.3", "versions from 14.3 on"),
        ("databricks-17.3-LTS", "databricks-14.3", "versions from 14.3 on"),
        ("dbr 16.4", "databricks-14.3", "versions from 14.3 on"),
        ("databricks-12.2", "databricks-13.3", "versions before 14.2"),
        ("databricks-14.1", "databricks-13.3", "versions before 14.2"),
        ("delta-oss-3.2", "delta-oss-3.3", "versions before 4.4"),
        ("delta-4.0.1", "delta-oss-3.3", "versions before 4.4"),
        ("delta-oss-10.0", "delta-oss-4.4", "versions from 4.4 on"),
        ("deltalake-1.6.4", "delta-rs-1.6.3", "versions before 1.6.6"),
    ],
)
def test_a_version_without_a_dialect_is_told_which_one_stands_for_it(
    named: str, standing: str, versions: str
) -> None:
    """By the version, where letters alone would name the newest one that looks alike."""
    said = f"there is no dialect {named!r}: one stands for {versions} (did you mean {standing!r}?)"
    result = CliRunner().invoke(main, ["dialects", named], env=WIDE)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.output
    with pytest.raises(InvalidInput) as caught:
        _scenario(named)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("deltalake-1.6.3", "delta-rs-1.6.3"),
        ("dbr 14.2", "databricks-14.2"),
        ("delta-lake-4.4.0", "delta-oss-4.4"),
    ],
)
def test_a_modelled_version_under_another_name_is_told_its_dialect(named: str, meant: str) -> None:
    said = f"there is no dialect {named!r} (did you mean {meant!r}?)"
    assert said in CliRunner().invoke(main, ["dialects", named], env=WIDE).output


def test_each_dialect_says_which_versions_it_stands_for() -> None:
    described = json.loads(CliRunner().invoke(main, ["dialects", "--format", "json"]).output)
    assert {each["name"]: each["stands_for"] for each in described} == {
        "delta-oss-3.3": "versions before 4.4",
        "delta-oss-4.4": "versions from 4.4 on",
        "databricks-13.3": "versions before 14.2",
        "databricks-14.2": "versions from 14.2 on and before 14.3",
        "databricks-14.3": "versions from 14.3 on",
        "delta-rs-1.6.3": "versions before 1.6.6",
        "delta-rs-1.6.6": "versions from 1.6.6 on",
    }
    text = CliRunner().invoke(main, ["dialects", "databricks-14.3"], env=WIDE).stdout
    assert "stands for  versions from 14.3 on of Databricks" in text


def test_what_does_not_hold_of_newer_versions_is_said_where_the_dialect_is_described() -> None:
    text = CliRunner().invoke(main, ["dialects", "delta-oss-3.3"], env=WIDE).stdout
    (described,) = json.loads(
        CliRunner().invoke(main, ["dialects", "delta-oss-3.3", "--format", "json"]).output
    )
    for said in (text, described["of_newer_versions"]):
        assert "Delta 4.0 to 4.3" in said
        assert "spark.sql.ansi.enabled: true" in said
    text = CliRunner().invoke(main, ["dialects", "delta-oss-4.4"], env=WIDE).stdout
    assert "newer" not in text


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
    enforcing = f"{DELTA_PREFIX}conflictChecker.enforceConcurrentFeatureEnablement.enabled"
    with pytest.raises(UnsupportedFeature, match=r"it came after 3\.3, with .*pull/6106"):
        DELTA_OSS_3_3.settings_of({enforcing: "true"})
    assert DELTA_OSS_4_4.settings_of({enforcing: "true"})
    preview = {"spark.databricks.delta.rowLevelConcurrencyPreview": "true"}
    with pytest.raises(UnsupportedFeature, match=r"came with 14\.0"):
        DATABRICKS_13_3.settings_of(preview)
    with pytest.raises(UnsupportedFeature, match=r"from 14\.2 on .* needs no preview"):
        DATABRICKS_14_3.settings_of(preview)
    identity = {"whitecap.identityColumns.refuseConcurrency": "false"}
    with pytest.raises(UnsupportedFeature, match="identity columns be written concurrently"):
        DELTA_OSS_4_4.settings_of(identity)


TABLE = """
name: t
schema: "id BIGINT, v INT"
files: [[{id: 1, v: 1}]]
"""
UPDATE = "UPDATE t SET v = 2 WHERE id = 1"
TRACKING = {"delta.enableRowTracking": "true"}


def test_a_property_that_a_dialect_lacks_is_refused_wherever_a_table_is_described() -> None:
    lacking = r"delta.enableRowTracking is not part of databricks-13\.3: it came with 14\.1"
    changes = {"table.properties": TRACKING}
    with pytest.raises(InvalidInput, match=lacking):
        parse_scenario(SCENARIO.format(dialect="databricks-13.3"), "t.yaml", changes)
    assert parse_scenario(SCENARIO.format(dialect="databricks-14.2"), "t.yaml", changes)
    table = TABLE + "properties: {delta.enableRowTracking: true}\n"
    with pytest.raises(InvalidInput, match=lacking):
        whitecap.explain(table, UPDATE, UPDATE, dialect="databricks-13.3")
    enabling = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
    with pytest.raises(InvalidInput, match=f"statement B: {lacking}"):
        whitecap.explain(TABLE, UPDATE, enabling, dialect="databricks-13.3")


def test_a_setting_that_a_dialect_lacks_is_refused_in_explain_too() -> None:
    table = TABLE + "settings: {whitecap.rowLevelConcurrency.enabled: false}\n"
    with pytest.raises(InvalidInput, match="Delta Lake has no row-level concurrency"):
        whitecap.explain(table, UPDATE, UPDATE)
    vectors = table + "properties: {delta.enableDeletionVectors: true}\n"
    other = "UPDATE t SET v = 3 WHERE id = 2"
    both = vectors.replace("{id: 1, v: 1}", "{id: 1, v: 1}, {id: 2, v: 2}")
    assert whitecap.explain(both, UPDATE, other, dialect="databricks-14.3").can_conflict
    on = both.replace("false", "true")
    assert not whitecap.explain(on, UPDATE, other, dialect="databricks-14.3").can_conflict


def test_a_property_that_only_databricks_has_is_refused_by_delta() -> None:
    sized = "ALTER TABLE t SET TBLPROPERTIES ('delta.targetFileSize' = '16mb')"
    assert not whitecap.explain(TABLE, UPDATE, sized, dialect="databricks-14.3").as_dict()[
        "refusals"
    ]
    (refusal,) = whitecap.explain(TABLE, UPDATE, sized).as_dict()["refusals"]
    assert refusal["error"] == "DELTA_UNKNOWN_CONFIGURATION"
    manifest = "delta.compatibility.symlinkFormatManifest.enabled"
    without_manifest = f"ALTER TABLE t SET TBLPROPERTIES ('{manifest}' = 'false')"
    assert not whitecap.explain(TABLE, UPDATE, without_manifest).as_dict()["refusals"]


@pytest.mark.parametrize(
    ("statement", "what", "came_with", "lacking"),
    [
        ("ALTER TABLE t DROP FEATURE deletionVectors", "DROP FEATURE", "14.1", ["13.3"]),
        ("INSERT INTO t REPLACE USING (id) VALUES (1, 1)", "REPLACE USING", "16.3", OLDER),
        ("INSERT INTO t REPLACE ON t.id = 1 (SELECT 1, 1)", "REPLACE ON", "17.1", OLDER),
        ("REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))",
         "UPGRADE UNIFORM", "14.3", OLDER),
        ("MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS id, 2 AS v) s ON t.id = s.id"
         " WHEN MATCHED THEN UPDATE SET *", "WITH SCHEMA EVOLUTION", "15.2", OLDER),
        ("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
         "delta.enableTypeWidening", "15.2", OLDER),
    ],
)  # fmt: skip
def test_what_came_with_a_later_runtime_is_refused_with_the_reason(
    statement: str, what: str, came_with: str, lacking: list[str]
) -> None:
    for version in ("13.3", "14.2", "14.3"):
        name = f"databricks-{version}"
        if version in lacking:
            reason = rf"{what} is not part of {re.escape(name)}: it came with {came_with}"
            with pytest.raises(InvalidInput, match=reason):
                whitecap.explain(TABLE, UPDATE, statement, dialect=name)
            assert came_with in CliRunner().invoke(main, ["dialects", name]).output
        else:
            assert whitecap.explain(TABLE, UPDATE, statement, dialect=name).answer


def test_a_new_table_has_deletion_vectors_where_a_property_says_so_and_that_is_told() -> None:
    created = whitecap.explain(TABLE, UPDATE, UPDATE, dialect="databricks-14.3")
    assert "no deletion vectors" in created.as_dict()["facts"]
    listed = CliRunner().invoke(main, ["dialects", "databricks-14.3"], env=WIDE).output
    assert "Whether new tables get deletion vectors is a setting of the workspace" in listed


def test_a_level_that_sql_refuses_is_refused_as_delta_refuses_it() -> None:
    level = "ALTER TABLE t SET TBLPROPERTIES ('delta.isolationLevel' = 'WriteSerializable')"
    explanation = whitecap.explain(TABLE, UPDATE, level)
    assert explanation.answer.startswith("B is refused in any case")
    assert "must be Serializable" in explanation.as_dict()["refusals"][0]["message"]
    assert not whitecap.explain(TABLE, UPDATE, level, dialect="databricks-14.3").as_dict()[
        "refusals"
    ]


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

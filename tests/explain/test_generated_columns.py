"""Identity columns and other marks of a schema count, in YAML and where changes are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

import whitecap
from tests.explain.test_real_tables import make
from whitecap.engine.errors import InvalidInput

IDENTITY = "id BIGINT GENERATED ALWAYS AS IDENTITY, v INT"
TABLE = f"""
name: t
schema: "{IDENTITY}"
files: [[{{v: 1}}, {{v: 2}}], [{{v: 3}}]]
"""
INSERT, OTHER = "INSERT INTO t (v) VALUES (4)", "INSERT INTO t (v) VALUES (5)"


def test_inserts_into_an_identity_column_conflict_and_no_layout_helps() -> None:
    for dialect in ("delta-oss-4.4", "databricks-14.3"):
        explanation = whitecap.explain(TABLE, INSERT, OTHER, dialect=dialect)
        assert {c.verdict.exception for c in explanation.conflicts} == {"MetadataChangedException"}
        assert explanation.suggestions == ()


def test_rows_of_a_file_get_their_identities() -> None:
    explanation = whitecap.explain(
        TABLE, "DELETE FROM t WHERE id = 2", "DELETE FROM t WHERE id = 9"
    )
    assert sorted(row["id"] for row in explanation.orders[0].rows) == [1, 3]


def test_where_identity_columns_forbid_company_nobody_changed_metadata() -> None:
    update, delete = "UPDATE t SET v = 9 WHERE v = 1", "DELETE FROM t WHERE v = 2"
    explanation = whitecap.explain(TABLE, update, delete, dialect="databricks-14.3")
    assert explanation.as_dict()["otherwise"] == (
        "Run them one after the other, or do without the identity column: it forbids concurrent"
        " transactions."
    )


def test_the_table_on_disk_is_not_said_to_be_saved_by_a_copy_without_identity(
    tmp_path: Path,
) -> None:
    path = make(tmp_path, f"CREATE TABLE made ({IDENTITY})", "INSERT INTO made (v) VALUES (1)")
    explanation = whitecap.explain(path, INSERT, OTHER, dialect="databricks-14.3")
    assert explanation.can_conflict
    assert explanation.suggestions == ()
    assert explanation.as_dict()["untried"] == (
        "Other layouts were not tried: a copy of its rows behaves otherwise."
    )


DAYS = """
name: t
schema: "id BIGINT, at TIMESTAMP, v INT, day DATE GENERATED ALWAYS AS (CAST(at AS DATE))"
partition_by: [day]
files:
  - - {id: 1, at: 2026-01-01 10:00:00, v: 1, day: 2026-01-01}
  - - {id: 2, at: 2026-01-02 10:00:00, v: 1, day: 2026-01-02}
  - - {id: 3, at: 2026-01-03 10:00:00, v: 1, day: 2026-01-03}
"""
PARTS = """
name: t
schema: "id BIGINT, at TIMESTAMP, v INT, y INT GENERATED ALWAYS AS (YEAR(at)),
  m INT GENERATED ALWAYS AS (MONTH(at))"
partition_by: [y, m]
files:
  - - {id: 1, at: 2025-12-01 10:00:00, v: 1, y: 2025, m: 12}
  - - {id: 2, at: 2026-01-02 10:00:00, v: 1, y: 2026, m: 1}
  - - {id: 3, at: 2026-02-03 10:00:00, v: 1, y: 2026, m: 2}
"""
LETTERS = """
name: t
schema: "id BIGINT, code STRING, v INT, first STRING GENERATED ALWAYS AS (SUBSTRING(code, 1, 1))"
partition_by: [first]
files:
  - - {id: 1, code: ab, v: 1, first: a}
  - - {id: 2, code: cd, v: 1, first: c}
"""


@pytest.mark.parametrize(
    ("table", "statement", "other", "stated"),
    [
        (
            DAYS,
            "UPDATE t SET v = 2 WHERE at >= '2026-01-02'",
            "INSERT INTO t (id, at, v) VALUES (9, '2026-01-01 05:00:00', 1)",
            "A: AND day >= DATE '2026-01-02'",
        ),
        (
            DAYS,
            "MERGE INTO t x USING (SELECT 2 AS id) s ON x.id = s.id AND x.at < '2026-01-02 20:00'"
            " WHEN MATCHED THEN UPDATE SET v = 9",
            "INSERT INTO t (id, at, v) VALUES (9, '2026-01-03 05:00:00', 1)",
            "A: AND x.day <= DATE '2026-01-02'",
        ),
        (
            PARTS,
            "DELETE FROM t WHERE at >= '2026-01-02'",
            "INSERT INTO t (id, at, v) VALUES (9, '2025-12-02 05:00:00', 1)",
            "A: AND (y > 2026 OR y = 2026 AND m >= 1)",
        ),
        (
            PARTS,
            "DELETE FROM t WHERE at = '2026-01-02 10:00:00' AND v = 1",
            "INSERT INTO t (id, at, v) VALUES (9, '2026-02-02 05:00:00', 1)",
            "A: AND y = 2026 AND m = 1",
        ),
        (
            LETTERS,
            "DELETE FROM t WHERE code < 'b'",
            "INSERT INTO t (id, code, v) VALUES (9, 'ce', 1)",
            "A: AND (first IS NULL OR first <= 'b')",
        ),
    ],
)
def test_what_a_condition_means_for_generated_partitions_is_suggested_and_no_values(
    table: str, statement: str, other: str, stated: str
) -> None:
    helps = {s.change.key: s.change for s in whitecap.explain(table, statement, other).suggestions}
    assert helps["state_partitions"].how == (stated,)
    assert "name_partitions" not in helps


def test_where_what_a_condition_means_is_not_enough_its_partitions_are_named() -> None:
    statement = "UPDATE t SET v = 2 WHERE at >= '2026-01-01' AND id = 1"
    other = "INSERT INTO t (id, at, v) VALUES (9, '2026-01-02 05:00:00', 1)"
    helps = {s.change.key: s.change for s in whitecap.explain(DAYS, statement, other).suggestions}
    assert "state_partitions" not in helps
    assert helps["name_partitions"].how == ("A: AND day = DATE '2026-01-01'",)


def test_a_constraint_of_a_table_in_yaml_is_obeyed() -> None:
    table = "name: t\nschema: 'v INT NOT NULL'\nfiles: [[{v: 1}]]\n"
    explanation = whitecap.explain(
        table, "INSERT INTO t VALUES (NULL)", "DELETE FROM t WHERE v = 1"
    )
    assert explanation.answer.startswith("A is refused in any case")


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (TABLE.replace("{v: 1}", "{id: 7, v: 1}"), "table t: Delta refuses to make it: .*identity"),
        (
            "name: t\nschema: 'v INT, w INT GENERATED ALWAYS AS (v + 1)'\n"
            "files: [[{v: 1, w: 2}, {v: 3}]]\n",
            "table t: Delta refuses to make it: .*violated by row with values:\n"
            " - v : 3\n - w : null",
        ),
        (
            "name: t\nschema: 'v INT'\nproperties: {delta.checkpointInterval: -1}\n",
            "table t: Delta refuses to make it: .*checkpointInterval",
        ),
    ],
)
def test_a_table_that_delta_would_not_make_is_wrong_input(table: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?i){problem}"):
        whitecap.explain(table, "DELETE FROM t WHERE v = 1", "DELETE FROM t WHERE v = 2")

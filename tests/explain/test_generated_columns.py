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
            "table t: Delta refuses to make it: .*violated by a row with v = 3, w = NULL",
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

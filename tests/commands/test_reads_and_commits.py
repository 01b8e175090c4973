"""What rows-changing statements read and commit, at which level, blind or not.

The table is partitioned by x: two files in 1, two in 2, one in 3. The source `s` holds one row that
the table has, and one that it lacks.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.commands.observing import DV, FEED, Seen, appends, changes, database, observed
from whitecap.engine.errors import InvalidInput
from whitecap.engine.settings import Settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT INTO t VALUES (1, 7), (2, 8)", appends(does="2 add+")),
        ("INSERT INTO t SELECT * FROM s", appends(does="2 add+")),
        (
            "INSERT INTO t SELECT x, v + 1000 FROM t WHERE x = 2",
            appends("x = 2", files=2, does="2 add+"),
        ),
        ("INSERT INTO t SELECT x, v FROM t WHERE v > 104", appends("true | v > 104", files=1)),
        ("INSERT INTO t SELECT 9, count(*) FROM t", appends("true", files=5)),
        ("INSERT INTO t SELECT x, v FROM t WHERE x = 1 LIMIT 1", appends("x = 1", files=1)),
        (
            "INSERT INTO t SELECT * FROM (SELECT * FROM t WHERE x = 1 LIMIT 1)",
            appends("x = 1", files=1),
        ),
        (
            "INSERT INTO t SELECT * FROM (SELECT * FROM t WHERE x = 1 AND v > 0 LIMIT 1)",
            appends("x = 1 | v > 0", files=2),
        ),
        (
            "INSERT INTO t SELECT * FROM s WHERE EXISTS (SELECT 1 FROM t WHERE x = 1)",
            appends("x = 1", files=1, does="2 add+"),
        ),
        (
            "INSERT INTO t SELECT * FROM s WHERE EXISTS (SELECT 1 FROM t WHERE t.x = s.x)",
            appends("true", files=5),
        ),
        (
            "INSERT INTO t SELECT a, b FROM t AS of_t(a, b) WHERE a = 2",
            appends("x = 2", files=2),
        ),
        (
            "INSERT INTO t SELECT x, v FROM Default.T WHERE x = 2",
            appends("x = 2", files=2, does="2 add+"),
        ),
        (
            "WITH s AS (SELECT * FROM t) INSERT INTO t SELECT * FROM default.s",
            appends(does="2 add+"),
        ),
        (
            "INSERT INTO t SELECT * FROM s UNION ALL SELECT * FROM t WHERE 1 = 0",
            appends(does="2 add+"),
        ),
        (
            "INSERT INTO t SELECT s.* FROM s LEFT JOIN t ON s.x = t.x AND false",
            appends(does="2 add+"),
        ),
        (
            "INSERT INTO t SELECT * FROM s"
            " WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.x = s.x AND t.v = s.v)",
            appends("true", files=5),
        ),
        ("INSERT INTO t SELECT x, v FROM t VERSION AS OF 2", appends(does="2 add+")),
        ("INSERT INTO t SELECT * FROM s WHERE x = 77", Seen()),
        (
            "INSERT INTO t WITH ('mergeSchema' = 'true') SELECT 1 AS x, 2L AS v, 3 AS n",
            appends(does="1 add+, 1 metaData"),
        ),
    ],
)
def test_an_insert_reads_only_what_its_query_scans_of_the_table(text: str, expected: Seen) -> None:
    assert observed(database(), text) == [expected]


@pytest.mark.parametrize("names", ["a", "a, b, c"], ids=["too few", "too many"])
def test_an_alias_names_all_columns_of_a_table_or_is_refused(names: str) -> None:
    with pytest.raises(InvalidInput, match="names for 2 columns"):
        observed(database(), f"INSERT INTO t SELECT 1, a FROM t AS y({names}) WHERE a = 2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT OVERWRITE t VALUES (1, 7)", appends("true", files=5, does="1 add+, 5 remove+")),
        (
            "INSERT OVERWRITE t SELECT * FROM t WHERE x = 2",
            appends("x = 2", "true", files=5, does="2 add+, 5 remove+"),
        ),
        (
            "INSERT OVERWRITE t WITH ('overwriteSchema' = 'true') SELECT 1 AS x, 2 AS y",
            appends("true", files=5, does="1 add+, 1 metaData, 5 remove+"),
        ),
        (
            "INSERT OVERWRITE t WITH ('partitionOverwriteMode' = 'dynamic') VALUES (1, 7), (4, 9)",
            appends("partitionValues in {{'x': 1}, {'x': 4}}", does="2 add+, 2 remove+"),
        ),
        (
            "INSERT OVERWRITE t PARTITION (x = 1) VALUES (7)",
            appends("x IS NOT DISTINCT FROM 1", files=2, does="1 add+, 2 remove+"),
        ),
        (
            "INSERT INTO t REPLACE WHERE x = 1 VALUES (1, 7)",
            appends("x = 1", files=2, does="1 add+, 2 remove+"),
        ),
        (
            "INSERT INTO t REPLACE WHERE x = 1 AND v < 5 VALUES (1, 4)",
            appends("x = 1 | v < 5", files=1, does="2 add+, 1 remove+"),
        ),
        (
            "INSERT INTO t REPLACE USING (x) VALUES (1, 7)",
            appends("TRUE", files=5, does="1 add+, 2 remove+"),
        ),
        (
            "INSERT INTO t AS a REPLACE ON a.x = b.x (SELECT * FROM s) AS b",
            appends("TRUE", files=5, does="2 add+, 2 remove+"),
        ),
    ],
)
def test_an_overwrite_reads_what_it_may_replace(text: str, expected: Seen) -> None:
    assert observed(database(), text) == [expected]


def test_the_partition_overwrite_mode_of_the_session_counts_too() -> None:
    db = database()
    db.settings = Settings(partition_overwrite_mode="dynamic")
    expected = appends("partitionValues in {{'x': 1}}", does="1 add+, 2 remove+")
    assert observed(db, "INSERT OVERWRITE t VALUES (1, 7)") == [expected]


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        ("DELETE FROM t", {}, changes("DELETE", "true", 5, "5 remove+")),
        ("TRUNCATE TABLE t", {}, changes("TRUNCATE", "true", 5, "5 remove+")),
        ("DELETE FROM t WHERE x = 1", {}, changes("DELETE", "x = 1", 2, "2 remove+")),
        (
            "DELETE FROM t WHERE v = 3",
            {},
            changes("DELETE", "true | v = 3", 3, "3 add+, 3 remove+"),
        ),
        (
            "DELETE FROM t WHERE x = 1 AND v = 3",
            {},
            changes("DELETE", "x = 1 | v = 3", 1, "1 add+, 1 remove+"),
        ),
        (
            "DELETE FROM t WHERE (x = 1 AND v = 3) OR (x = 2 AND v = 4)",
            {},
            changes(
                "DELETE",
                "x = 1 OR x = 2 | x = 1 AND v = 3 OR x = 2 AND v = 4",
                2,
                "2 add+, 2 remove+",
            ),
        ),
        ("DELETE FROM t WHERE v = 999", {}, Seen(("true | v = 999",))),
        (
            "DELETE FROM t WHERE v = 3",
            DV,
            changes("DELETE", "true | v = 3", 3, "3 add+ dv, 3 remove+"),
        ),
        (
            "DELETE FROM t WHERE x = 3 AND v >= 0",
            DV,
            changes("DELETE", "x = 3 | v >= 0", 1, "1 remove+"),
        ),
        (
            "UPDATE t SET v = 0 WHERE x = 1 AND v = 3",
            DV,
            changes("UPDATE", "x = 1 | v = 3", 1, "1 add+, 1 add+ dv, 1 remove+"),
        ),
        (
            "DELETE FROM t WHERE v = 3",
            FEED,
            changes("DELETE", "true | v = 3", 3, "3 add+, 3 cdc, 3 remove+"),
        ),
        (
            "UPDATE t SET v = 0 WHERE x = 1 AND v = 3",
            FEED,
            changes("UPDATE", "x = 1 | v = 3", 1, "1 add+, 1 cdc, 1 remove+"),
        ),
        ("UPDATE t SET v = 0", {}, changes("UPDATE", "TRUE", 5, "5 add+, 5 remove+")),
        ("UPDATE t SET v = 0 WHERE x = 1", {}, changes("UPDATE", "x = 1", 2, "2 add+, 2 remove+")),
    ],
)
def test_delete_and_update_split_their_condition(
    text: str, properties: dict[str, str], expected: Seen
) -> None:
    assert observed(database(**properties), text) == [expected]


def test_a_truncate_of_an_empty_table_commits_nothing() -> None:
    db = database()
    db.sql("DELETE FROM t")
    assert observed(db, "TRUNCATE TABLE t") == [Seen(("true",))]


_ON = "MERGE INTO t USING s ON t.x = s.x AND t.v = s.v"


@pytest.mark.parametrize(
    ("text", "properties", "expected"),
    [
        (
            f"{_ON} WHEN MATCHED THEN UPDATE SET v = 0",
            {},
            changes("MERGE", "TRUE", 5, "1 add+, 1 remove+"),
        ),
        (
            f"{_ON} AND t.x = 1 WHEN MATCHED THEN UPDATE SET v = 0",
            {},
            changes("MERGE", "x = 1 AND TRUE", 2, "1 add+, 1 remove+"),
        ),
        (
            f"{_ON} WHEN MATCHED AND t.x = 1 THEN UPDATE SET v = 0"
            " WHEN MATCHED AND t.x = 2 AND s.v = 1 THEN DELETE",
            {},
            changes("MERGE", "x = 1 OR x = 2", 4, "1 add+, 1 remove+"),
        ),
        (
            f"{_ON} AND t.x = 1 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
            {},
            changes("MERGE", "x = 1", 2, "2 add+, 1 remove+"),
        ),
        (
            f"{_ON} AND t.x = 1 WHEN NOT MATCHED BY SOURCE THEN DELETE",
            {},
            changes("MERGE", "TRUE", 5, "1 add+, 5 remove+"),
        ),
        (f"{_ON} WHEN NOT MATCHED THEN INSERT *", {}, changes("MERGE", "true", 5, "1 add+")),
        (
            f"{_ON} AND t.x = 9 WHEN NOT MATCHED THEN INSERT *",
            {},
            changes("MERGE", "x = 9", 0, "2 add+"),
        ),
        (f"{_ON} AND t.x = 3 WHEN MATCHED THEN DELETE", {}, Seen(("x = 3 AND TRUE",), 1)),
        (
            f"{_ON} WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT *",
            DV,
            changes("MERGE", "true", 5, "2 add+, 1 add+ dv, 1 remove+"),
        ),
        (
            f"{_ON} WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT *",
            FEED,
            changes("MERGE", "true", 5, "2 add+, 2 cdc, 1 remove+"),
        ),
    ],
)
def test_merge_reads_what_its_condition_says_of_the_target_alone(
    text: str, properties: dict[str, str], expected: Seen
) -> None:
    assert observed(database(**properties), text) == [expected]


def test_merge_also_reads_what_its_source_scans_of_the_target() -> None:
    text = (
        "MERGE INTO t USING (SELECT * FROM t WHERE x = 1) q ON t.x = 2 AND t.v = q.v"
        " WHEN MATCHED THEN DELETE"
    )
    expected = replace(changes("MERGE", "", 4, "1 remove+"), reads=("x = 1", "x = 2 AND TRUE"))
    assert observed(database(), text) == [expected]

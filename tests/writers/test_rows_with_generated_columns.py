"""Rows agree with the expressions of their table: at its start, and as writers bring them."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sim.sim_worlds import rows
from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.values.types import Session
from whitecap.engine.writing.generation import completion
from whitecap.sim.loading import scenario_of
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.quantities.start import DEFAULT_START_MS
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.table.rows import ScenarioRows

SCHEMA = (
    "id BIGINT, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), v INT,"
    " twice BIGINT GENERATED ALWAYS AS (id * 2)"
)
SCENARIO: dict[str, Any] = {
    "name": "generated",
    "duration": "5 min",
    "store": "s3",
    "table": {
        "name": "events",
        "schema": SCHEMA,
        "key": "id",
        "partition_by": ["day"],
        "values": {"day": {"days": 3}},
        "initial": {"rows": 60, "rows_per_file": 10},
    },
}
ROWS: dict[str, Any] = {"rows": {"rows": {"count": 2}}}
CHANGED: dict[str, Any] = {"rows": {"rows": {"count": 4, "existing": 0.5}}}
WRITERS: dict[str, tuple[str, dict[str, Any]]] = {
    "whole rows": ("INSERT INTO events VALUES :rows", ROWS),
    "named columns": ("INSERT INTO events (v, id, at) VALUES :rows", ROWS),
    "a partition": (
        "INSERT INTO events PARTITION (day = :day) VALUES :rows",
        {**ROWS, "day": "newest"},
    ),
    "some columns by name": (
        "INSERT INTO events BY NAME SELECT id, at FROM VALUES :rows AS v(id, at, day, v, twice)",
        ROWS,
    ),
    "all columns by name": (
        "INSERT INTO events BY NAME SELECT * FROM VALUES :rows AS v(id, at, day, v, twice)",
        ROWS,
    ),
    "an overwrite": (
        "INSERT INTO events REPLACE WHERE day = :day VALUES :rows",
        {**ROWS, "day": "newest"},
    ),
    "changed rows": (
        "MERGE INTO events t USING (SELECT * FROM VALUES :rows AS v(id, at, day, v, twice)) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.at = s.at, t.v = s.v"
        " WHEN NOT MATCHED THEN INSERT (id, at, v) VALUES (s.id, s.at, s.v)",
        CHANGED,
    ),
    "a change": ("UPDATE events SET v = v + 1 WHERE id IN (:id)", {"id": {"keys": {"count": 2}}}),
    "a change of instants": (
        "UPDATE events SET at = at + INTERVAL 1 HOUR WHERE id IN (:id)",
        {"id": {"keys": {"count": 2}}},
    ),
    "a conditional delete": (
        "DELETE FROM events WHERE day = :day AND id IN (:id)",
        {"day": "newest", "id": {"keys": {"count": 2}}},
    ),
}


def _writer(statement: str, parameters: dict[str, Any]) -> dict[str, Any]:
    every_minute = {"schedule": {"every": "1 min"}}
    return {
        "statement": statement,
        "parameters": parameters,
        "arrival": every_minute,
        "compute": "5 s",
    }


@pytest.mark.parametrize("name", WRITERS)
def test_writers_of_rows_with_generated_columns_are_not_refused(name: str) -> None:
    writers = {"writer": _writer(*WRITERS[name])}
    run = run_scenario(scenario_of({**SCENARIO, "writers": writers}))
    assert {row["outcome"] for row in rows(run)} == {"committed"}
    assert not judge(run).findings


PARTS = (
    "year INT GENERATED ALWAYS AS (YEAR(at)), month INT GENERATED ALWAYS AS (MONTH(at)),"
    " day INT GENERATED ALWAYS AS (DAY(at)), hour INT GENERATED ALWAYS AS (HOUR(at)),"
    " written STRING GENERATED ALWAYS AS (DATE_FORMAT(at, 'yyyy-MM')),"
    " first DATE GENERATED ALWAYS AS (TRUNC(CAST(at AS DATE), 'MM')),"
    " begun TIMESTAMP GENERATED ALWAYS AS (DATE_TRUNC('DAY', at)),"
    " bucket BIGINT GENERATED ALWAYS AS (id % 16), other BIGINT GENERATED ALWAYS AS (PMOD(id, 3))"
)
COLUMNS = "id, at, v, year, month, day, hour, written, first, begun, bucket, other"
PART_WRITERS: dict[str, Any] = {
    "loader": ("INSERT INTO events (id, at, v) VALUES :rows", {**ROWS, "at": "newest"}),
    "merger": (
        f"MERGE INTO events t USING (SELECT * FROM VALUES :rows AS v({COLUMNS})) s ON t.id = s.id"
        " WHEN MATCHED THEN UPDATE SET t.at = s.at"
        " WHEN NOT MATCHED THEN INSERT (id, at, v) VALUES (s.id, s.at, s.v)",
        CHANGED,
    ),
    "corrector": (
        "UPDATE events SET v = v + 1"
        " WHERE year = YEAR(:at) AND month = MONTH(:at) AND day = DAY(:at)",
        {"at": {"newest": {"within": 3}}},
    ),
    "eraser": (
        "DELETE FROM events WHERE id = :id AND bucket = :id % 16",
        {"id": {"keys": {"count": 1}}},
    ),
}


def _parted(partition_by: list[str], **changes: Any) -> dict[str, Any]:
    """A scenario whose partitions follow from instants of listed days, or from keys."""
    table = {
        **SCENARIO["table"],
        "schema": f"id BIGINT, at TIMESTAMP, v INT, {PARTS}",
        "partition_by": partition_by,
        "values": {"at": {"days": 40}},
        "initial": {"rows": 120, "rows_per_file": 5},
        **changes,
    }
    writers = {name: _writer(*writer) for name, writer in PART_WRITERS.items()}
    return {**SCENARIO, "table": table, "writers": writers}


@pytest.mark.parametrize(
    "partition_by",
    [
        ["year", "month", "day"],
        ["year", "month", "day", "hour"],
        ["written"],
        ["first", "bucket"],
        ["begun"],
        ["other"],
        [],
    ],
)
def test_partitions_may_follow_from_instants_of_listed_days_and_from_keys(
    partition_by: list[str],
) -> None:
    run = run_scenario(scenario_of(_parted(partition_by)))
    exceptions = {row["exception"] for row in rows(run)}
    assert exceptions <= {None, "ConcurrentAppendException", "ConcurrentDeleteReadException"}
    assert not judge(run).findings


def test_who_names_the_parts_of_a_day_conflicts_with_nobody_elsewhere() -> None:
    document = _parted(["year", "month", "day"])
    document["writers"] = {name: document["writers"][name] for name in ("loader", "corrector")}
    apart = {"writers.corrector.parameters.at": {"value": "2026-01-10"}}
    run = run_scenario(scenario_of(document, apart))
    assert {row["outcome"] for row in rows(run)} == {"committed"}
    assert len({row["writer"] for row in rows(run)}) == 2


def test_parameters_of_a_generated_column_are_told_what_to_write() -> None:
    document = _parted(["bucket"])
    document["writers"] = {
        "w": _writer("DELETE FROM events WHERE bucket = :bucket", {"bucket": "uniform"})
    }
    with pytest.raises(InvalidInput, match=r"lists no values of 'bucket': it is generated"):
        scenario_of(document)


@pytest.mark.parametrize("columns", ["", " (id, at)"])
def test_rows_of_which_an_expression_cannot_be_computed_are_refused(columns: str) -> None:
    schema = f"{SCHEMA}, low TINYINT GENERATED ALWAYS AS (CAST(id % 200 AS TINYINT))"
    writers = {"writer": _writer(f"INSERT INTO events{columns} VALUES :rows", ROWS)}
    changes = {"table.schema": schema, "duration": "30 min"}
    run = run_scenario(scenario_of({**SCENARIO, "writers": writers}, changes))
    assert {row["outcome"] for row in rows(run)} == {"committed", "aborted"}
    for row in rows(run):
        first = int(re.findall(r"\((\d+),", row["statement"])[0]) % 200
        assert (row["outcome"] == "committed") == (max(first, (first + 1) % 200) < 128)


@given(
    st.sampled_from(["timestamp", "timestamp_ntz"]),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "+14:00", "Pacific/Apia"]),
    st.lists(st.dates(date(1970, 1, 2), date(2100, 1, 1)), min_size=1, max_size=4, unique=True),
    st.integers(0, 10**6),
)
def test_every_row_is_as_its_expressions_make_it(
    kind: str, zone: str, days: list[date], revision: int
) -> None:
    table = {
        **SCENARIO["table"],
        "schema": SCHEMA.replace("TIMESTAMP", kind),
        "values": {"day": [str(day) for day in days]},
    }
    session = Session(time_zone=zone)
    described = ScenarioRows.of(TableSection.model_validate(table), DEFAULT_START_MS, session)
    complete = completion(described.schema, ["id", "at", "v"], session)
    assert complete is not None
    keys = range(60)
    made = described.maker.rows(keys, described.initial.slices_of(keys), revision)
    assert made == [complete(row) for row in made]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("id", "table.schema, .*: day: .* type of the generated column day is BIGINT"),
        ("CAST(at + INTERVAL 1 DAY AS DATE)", "day: .*at .* DAY cannot be used in a generated"),
        ("current_date()", r"day: .*CURRENT_DATE\(\) cannot be used in a generated column"),
        ("CURRENT_DATE", "day: .*CURRENT_DATE.* cannot be used in a generated column"),
        ("CAST(att AS DATE)", "table.schema, .*: day: att: no such column"),
        (
            "CAST(at AS DATE) + 1",
            r"table\.values\.day: a row with 2026-01-12 has .* by CAST.*; leave it out here",
        ),
    ],
)
def test_expressions_that_the_rows_cannot_follow_are_told(expression: str, problem: str) -> None:
    schema = f"id BIGINT, at TIMESTAMP, day DATE GENERATED ALWAYS AS ({expression})"
    writers = {"writer": _writer("DELETE FROM events WHERE day = :day", {"day": "newest"})}
    with pytest.raises(InvalidInput, match=problem):
        scenario_of({**SCENARIO, "writers": writers}, {"table.schema": schema})


LATE: dict[str, tuple[str, int]] = {
    "the last row": ("CAST(id AS TINYINT)", 199),
    "a row in between": ("CAST(1 / (id - 150) AS TINYINT)", 150),
}


@pytest.mark.parametrize("name", LATE)
def test_a_later_row_that_cannot_be_computed_is_told_with_its_column(name: str) -> None:
    expression, key = LATE[name]
    table = {
        **SCENARIO["table"],
        "schema": f"id BIGINT, at TIMESTAMP, low TINYINT GENERATED ALWAYS AS ({expression})",
        "partition_by": [],
        "values": {},
        "initial": {"rows": 200, "rows_per_file": 50},
    }
    writers = {"writer": _writer("DELETE FROM events WHERE id = :id", {"id": {"keys": {}}})}
    with pytest.raises((InvalidInput, DeltaError), match=rf"low: .* of the row with id = {key}, "):
        run_scenario(scenario_of({**SCENARIO, "table": table, "writers": writers}))


def test_a_key_that_is_generated_is_told() -> None:
    schema = "a BIGINT, id BIGINT GENERATED ALWAYS AS (a * 2), day DATE"
    writers = {"writer": _writer("DELETE FROM events WHERE day = :day", {"day": "newest"})}
    with pytest.raises(InvalidInput, match=r"table\.key: 'id' cannot be generated"):
        scenario_of({**SCENARIO, "writers": writers}, {"table.schema": schema})


@pytest.mark.parametrize("expression", ["(CAST(at AS DATE))", "to_date(at)", "CAST(AT AS DATE)"])
def test_the_day_of_an_instant_may_be_written_otherwise(expression: str) -> None:
    schema = f"id BIGINT, at TIMESTAMP, day DATE GENERATED ALWAYS AS ({expression})"
    writers = {"writer": _writer("INSERT INTO events VALUES :rows", ROWS)}
    run = run_scenario(scenario_of({**SCENARIO, "writers": writers}, {"table.schema": schema}))
    assert {row["outcome"] for row in rows(run)} == {"committed"}


@pytest.mark.parametrize(("year", "fits"), [(2025, True), (2026, False)])
def test_listed_values_that_follow_from_days_are_those_of_the_start(year: int, fits: bool) -> None:
    table = {
        **SCENARIO["table"],
        "schema": "id BIGINT, day DATE, y INT GENERATED ALWAYS AS (YEAR(day))",
        "partition_by": ["y"],
        "values": {"day": {"days": 3}, "y": [year]},
    }
    writers = {"writer": _writer("INSERT INTO events VALUES :rows", ROWS)}
    document = {**SCENARIO, "start": "2025-06-15", "table": table, "writers": writers}
    if fits:
        assert {row["outcome"] for row in rows(run_scenario(scenario_of(document)))} == {
            "committed"
        }
    else:
        with pytest.raises(InvalidInput, match=r"table\.values\.y: a row with 2026 has 2025"):
            scenario_of(document)

"""Two variants of a scenario share every draw of every job that both have, retried or not."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, UPDATE, document, rows
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import cell_of, load_scenario, scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

Run = tuple[str, int, int]
"""A transaction: its writer, the number of its job there, and which run of the job it is."""

CELLS = (
    {"partitioning": "unpartitioned", "isolation": "Serializable", "writers": "16"},
    {"partitioning": "by date and country", "isolation": "WriteSerializable", "writers": "12"},
)
CHOSEN = re.compile(r"(date|country) = (?:CAST\()?'[^']+'")


@pytest.fixture(scope="module")
def cells() -> list[dict[Run, dict[str, Any]]]:
    demo = load_scenario(SCENARIOS / "events.yaml", {"duration": "40 min"})
    return [_transactions(run_scenario(cell_of(demo, cell), requests=True)) for cell in CELLS]


def _transactions(run: FinishedRun) -> dict[Run, dict[str, Any]]:
    """Each transaction that ended, with the way out of its first LIST."""
    first_list: dict[int, float] = {}
    for request in rows(run, "requests"):
        if request["kind"] == "list" and request["effect_at_ms"] is not None:
            out_ms = request["effect_at_ms"] - request["sent_at_ms"]
            first_list.setdefault(request["transaction_id"], out_ms)
    numbers: dict[int, int] = {}
    submitted: Counter[str] = Counter()
    ended = {}
    for row in rows(run):
        if row["job_id"] not in numbers:
            numbers[row["job_id"]] = submitted[row["writer"]]
            submitted[row["writer"]] += 1
        if row["outcome"] != "in_flight":
            name = (row["writer"], numbers[row["job_id"]], row["rerun_number"])
            ended[name] = row | {"list_out_ms": first_list[row["transaction_id"]]}
    return ended


def _agreeing(cells: list[dict[Run, dict[str, Any]]], what: Any) -> dict[str, tuple[int, int]]:
    """By writer group: how many transactions both cells have, and how many agree."""
    both, agreeing = Counter[str](), Counter[str]()
    for name in cells[0].keys() & cells[1].keys():
        first, second = cells[0][name], cells[1][name]
        both[first["writer_group"]] += 1
        agreeing[first["writer_group"]] += what(first) == what(second)
    return {group: (both[group], agreeing[group]) for group in both}


def _all(agreeing: dict[str, tuple[int, int]]) -> bool:
    return all(count == agree > 3 for count, agree in agreeing.values())


def test_every_job_computes_as_long_in_both(cells: list[dict[Run, dict[str, Any]]]) -> None:
    """A batch that the table has already computes nothing, in that cell alone."""
    computing = [{n: row for n, row in cell.items() if row["compute_ms"]} for cell in cells]
    agreeing = _agreeing(computing, lambda row: row["compute_ms"])
    assert set(agreeing) == {"loader", "stream", "corrector", "upserter", "eraser", "compactor"}
    assert _all(agreeing)


def test_reruns_compute_as_long_in_both_too(cells: list[dict[Run, dict[str, Any]]]) -> None:
    again = [{name: row for name, row in cell.items() if name[2]} for cell in cells]
    agreeing = _agreeing(again, lambda row: row["compute_ms"])
    assert sum(both for both, _ in agreeing.values()) > 3
    assert all(both == agree for both, agree in agreeing.values())


def test_requests_are_as_long_under_way_in_both(cells: list[dict[Run, dict[str, Any]]]) -> None:
    assert _all(_agreeing(cells, lambda row: pytest.approx(row["list_out_ms"], abs=1e-6)))


def test_every_statement_concerns_the_same_day_and_country_in_both(
    cells: list[dict[Run, dict[str, Any]]],
) -> None:
    assert _all(_agreeing(cells, lambda row: CHOSEN.findall(row["statement"])))


def test_inserted_rows_are_the_same_in_both(cells: list[dict[Run, dict[str, Any]]]) -> None:
    loads = [{n: row for n, row in cell.items() if n[0].startswith("loader")} for cell in cells]
    assert _all(_agreeing(loads, lambda row: row["statement"]))


UPSERT: dict[str, Any] = {
    "statement": (
        "MERGE INTO events AS t USING (SELECT * FROM VALUES :rows AS"
        " v(event_id, date, country, amount)) AS s ON t.event_id = s.event_id"
        " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ),
    "parameters": {"rows": {"rows": {"count": 4, "existing": 0.5}}},
    "arrival": {"open": {"rate": "2 per min"}},
}
WRITERS = {"loader": {**INSERT, "count": 2}, "corrector": UPDATE, "upserter": UPSERT}


def _of_others(count: int, *, first: bool = True, table: str = "other") -> dict[str, Any]:
    """The jobs of the small scenario's writers beside `count` more, on some table."""
    others = {**INSERT, "statement": f"INSERT INTO {table} VALUES :rows", "count": count}
    writers = {"aside": others, **WRITERS} if first else {**WRITERS, "aside": others}
    plain = {key: part for key, part in document(duration="30 min").items() if key != "table"}
    run = run_scenario(
        scenario_of({**plain, "tables": {"events": TABLE, table: TABLE}, "writers": writers})
    )
    return {
        group: [_without_place(row) for row in rows(run) if row["writer_group"] == group]
        for group in WRITERS
    }


def _without_place(row: dict[str, Any]) -> dict[str, Any]:
    """A transaction without the numbers that count those of all writers."""
    return {key: row[key] for key in row.keys() - {"transaction_id", "job_id"}}


@pytest.mark.parametrize(("count", "first"), [(1, True), (2, True), (8, True), (8, False)])
def test_nothing_of_a_table_moves_with_the_writers_of_another_one(count: int, first: bool) -> None:
    assert _of_others(count, first=first) == _of_others(1, first=False)


def test_rows_that_are_brought_are_the_same_beside_more_writers_of_their_table() -> None:
    """Of the keys that a MERGE finds, what others committed decides."""
    few, many = (_of_others(count, table="events")["loader"] for count in (1, 8))
    for writer in ("loader-1", "loader-2"):
        pairs = list(zip(_statements(few, writer), _statements(many, writer), strict=False))
        assert len(pairs) > 50
        assert all(first == second for first, second in pairs)


def _statements(transactions: list[dict[str, Any]], writer: str) -> list[str]:
    """Those of a writer that never runs one again, in the order of its jobs."""
    return [row["statement"] for row in transactions if row["writer"] == writer]

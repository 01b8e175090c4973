"""What stands behind a refusal of jobs that are no single statement on a single table."""

from __future__ import annotations

import re
from typing import Any

from tests.sim.sim_worlds import INSERT, TABLE, UPDATE, document
from whitecap.deciding.behind import AS_INSERT, behind
from whitecap.reports.advice.result import Behind
from whitecap.reports.advice.wording import behind_texts
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.refusals import RefusalCount
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.rehearsal.race import contestants, races_of
from whitecap.sim.scenario.model import Scenario

STREAM: dict[str, Any] = {
    "streaming": {"checkpoint": "clicks", "rows": {"count": 100}},
    "arrival": INSERT["arrival"],
}


def said(scenario: Scenario, loser: WriterCommand, winner: WriterCommand, exception: str) -> Behind:
    return behind(scenario, RefusalCount(loser, winner, exception, 3, 4), 0.5)


def with_stream(query: dict[str, Any], **of_table: Any) -> Scenario:
    """A stream beside an UPDATE, at Serializable."""
    table = {**document()["table"], "isolation": "Serializable", **of_table}
    writers = {"stream": {**STREAM, "streaming": query}, "corrector": UPDATE}
    return scenario_of(document(table=table, writers=writers))


def test_of_a_job_of_several_statements_the_refused_one_is_raced_on_its_table() -> None:
    scenario = load_scenario("two-tables", cells=False)
    refused = said(
        scenario,
        WriterCommand("pipeline", "UPDATE gold"),
        WriterCommand("corrections", "UPDATE gold"),
        "ConcurrentAppendException",
    )
    assert refused.statements is not None
    assert all(text.startswith("UPDATE gold") for text in refused.statements)
    assert "They conflict" in refused.answer
    assert refused.loser == "pipeline · UPDATE gold"


def test_the_statements_of_another_table_are_not_raced_in_their_place() -> None:
    scenario = load_scenario("two-tables", cells=False)
    loser = WriterCommand("pipeline", "MERGE silver")
    refused = said(scenario, loser, loser, "ConcurrentAppendException")
    assert refused.statements is not None
    assert all(text.startswith("MERGE INTO silver") for text in refused.statements)


def test_a_batch_is_raced_as_the_insert_of_its_rows() -> None:
    scenario = with_stream({"checkpoint": "clicks", "rows": {"count": 100}})
    refused = said(
        scenario,
        WriterCommand("corrector", "UPDATE"),
        WriterCommand("stream", "STREAMING"),
        "ConcurrentAppendException",
    )
    assert refused.statements is not None
    assert refused.statements[1].startswith("INSERT INTO events VALUES")
    assert refused.answer.endswith(AS_INSERT)
    assert "They conflict" in refused.answer


def test_of_queries_that_share_a_checkpoint_no_layout_is_to_blame() -> None:
    scenario = with_stream({"checkpoint": "clicks"})
    stream = WriterCommand("stream", "STREAMING")
    refused = said(scenario, stream, stream, "ConcurrentTransactionException")
    assert refused.statements is None
    assert "the batches of the checkpoint 'clicks'" in refused.answer


def test_a_query_that_reads_its_own_table_is_told_that_it_does() -> None:
    scenario = with_stream({"checkpoint": "clicks", "reads_table": True})
    refused = said(
        scenario,
        WriterCommand("stream", "STREAMING"),
        WriterCommand("corrector", "UPDATE"),
        "ConcurrentAppendException",
    )
    assert refused.statements is None
    assert "reads the table that it writes" in refused.answer


def test_a_statement_that_stops_itself_is_shown_once() -> None:
    job, said = "etl · UPDATE", "They conflict"
    same, other = "UPDATE events SET amount = 1.0", "DELETE FROM events"
    exception = "ConcurrentAppendException"
    itself = behind_texts(Behind(job, job, exception, 1, 1.0, (same, same), said, ()))
    assert [line.strip() for line in itself][1:] == [f"A and B: {same}", said]
    two = behind_texts(Behind(job, job, exception, 1, 1.0, (same, other), said, ()))
    assert [line.strip() for line in two][1:] == [f"A: {same}", f"B: {other}", said]


def test_a_job_of_any_day_is_raced_on_the_day_of_the_one_that_takes_the_newest() -> None:
    compactor = {
        "statement": "OPTIMIZE events WHERE date = :date",
        "parameters": {"date": "newest"},
        "arrival": UPDATE["arrival"],
    }
    scenario = scenario_of(document(writers={"corrector": UPDATE, "compactor": compactor}))
    loser, winner = WriterCommand("corrector", "UPDATE"), WriterCommand("compactor", "OPTIMIZE")
    refused = said(scenario, loser, winner, "ConcurrentAppendException")
    assert "A is aborted" in refused.answer or "whichever commits second" in refused.answer


def test_a_job_of_many_rows_is_shown_with_few() -> None:
    many = {**INSERT, "parameters": {"rows": {"rows": {"count": 100}}}}
    scenario = scenario_of(document(writers={"loader": many, "corrector": UPDATE}))
    loser, winner = WriterCommand("corrector", "UPDATE"), WriterCommand("loader", "INSERT")
    refused = said(scenario, loser, winner, "ConcurrentAppendException")
    assert refused.statements is not None
    assert refused.statements[1].count("DATE '") == 3


OWN_COUNTRY: dict[str, Any] = {
    **UPDATE,
    "count": 2,
    "statement": "UPDATE events SET amount = 0.5 WHERE date = :date AND country = :country",
    "parameters": {"date": "newest", "country": "member"},
}


FEED = WriterCommand("feed", "UPDATE")


def of_feed(table: dict[str, Any] = TABLE, **changes: Any) -> Scenario:
    """A table whose only writers have a country each."""
    return scenario_of(document(table=table, writers={"feed": {**OWN_COUNTRY, **changes}}))


def test_writers_of_one_group_are_raced_with_the_values_that_each_has_to_itself() -> None:
    refused = said(of_feed(), FEED, FEED, "ConcurrentAppendException")
    assert refused.statements is not None
    assert ["'DE'" in text for text in refused.statements] == [True, False]
    assert ["'FR'" in text for text in refused.statements] == [False, True]
    assert "They conflict" in refused.answer
    assert refused.suggestions


def test_keys_that_each_has_to_itself_are_raced_too() -> None:
    scenario = of_feed(
        statement="DELETE FROM events WHERE event_id IN (:ids)",
        parameters={"ids": {"keys": {"count": 2, "choose": "member"}}},
    )
    (deleting,) = contestants(scenario, "feed", "DELETE")
    for race in races_of(scenario, deleting, deleting):
        first, second = (set(re.findall(r"\d+", text)) for text in race.statements)
        assert not first & second


def test_jobs_of_one_writer_are_raced_where_they_can_overlap() -> None:
    """By date and country two writers are never in each other's way: each has its own files."""
    table = {**TABLE, "partition_by": ["date", "country"]}
    for concurrency, conflicts in ((2, True), (1, False)):
        arrival = {"open": {"rate": "4 per min", "concurrency": concurrency}}
        scenario = of_feed(table, arrival=arrival)
        refused = said(scenario, FEED, FEED, "ConcurrentAppendException")
        assert ("They conflict" in refused.answer) == conflicts


def test_the_only_writer_of_a_group_is_raced_against_itself() -> None:
    refused = said(of_feed(count=1), FEED, FEED, "ConcurrentAppendException")
    assert refused.statements is not None
    assert refused.statements[0] == refused.statements[1]

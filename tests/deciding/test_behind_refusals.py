"""What stands behind a refusal of jobs that are no single statement on a single table."""

from __future__ import annotations

from typing import Any

from tests.sim.sim_worlds import INSERT, UPDATE, document
from whitecap.deciding.behind import AS_INSERT, behind
from whitecap.reports.advice.result import Behind
from whitecap.reports.advice.wording import behind_texts
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.refusals import RefusalCount
from whitecap.sim.loading import load_scenario, scenario_of
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

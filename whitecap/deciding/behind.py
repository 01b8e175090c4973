"""What is behind refusals that waste much: two statements raced, or why a query is stopped."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.errors import EngineError, InvalidInput, Problem
from whitecap.engine.races.explain.document import answer
from whitecap.engine.races.explain.explanation import Explanation, explain
from whitecap.engine.rules import ConflictException
from whitecap.reports.advice.result import Behind
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.refusals import NO_WRITERS, RefusalCount
from whitecap.reports.measures.wasted import wasteful_refusals
from whitecap.sim.rehearsal.race import contestants, races_of
from whitecap.sim.scenario.model import Scenario

SHOWN = 2
"""Refusals of which it is asked what is behind them."""

AS_INSERT = "A batch stands here as the INSERT of its rows, which conflicts by the same rules."

NOT_SHOWN = (
    "With these values both end well in every order, and none of the others that were tried lets "
    "one abort the other: in the run they had values that do."
)


def behind_refusals(scenario: Scenario, runs: Runs) -> Iterator[Behind]:
    """What is behind the refusals that waste most."""
    for refusal, waste in wasteful_refusals(runs, besides=NO_WRITERS)[:SHOWN]:
        yield behind(scenario, refusal, waste)


def behind(scenario: Scenario, refusal: RefusalCount, waste: float) -> Behind:
    """What is behind one refusal, of which `waste` is its part of all."""
    loser, winner = refusal.loser, refusal.winner
    facts = str(loser), str(winner), refusal.exception, refusal.count, waste
    of_query = _of_a_query(scenario, refusal)
    if of_query is not None:
        return Behind(*facts, None, of_query, ())
    try:
        explanation = _explained(scenario, refusal)
    except (InvalidInput, EngineError) as error:
        return Behind(*facts, None, f"explain cannot race them: {error}", ())
    titles = tuple(each.change.title for each in explanation.suggestions)
    streams = any(scenario.writers[each.writer_group].streaming for each in (loser, winner))
    said = answer(explanation) if explanation.can_conflict else NOT_SHOWN
    text = " ".join((said, *([AS_INSERT] if streams else ())))
    return Behind(*facts, explanation.statements, text, titles)


def _of_a_query(scenario: Scenario, refusal: RefusalCount) -> str | None:
    """What no race of statements shows: batches that are known again, and queries that read."""
    group = scenario.writers[refusal.loser.writer_group]
    query = group.streaming or group.foreach_batch
    if query is not None and refusal.exception == ConflictException.CONCURRENT_TRANSACTION:
        return (
            f"Both work on the batches of the checkpoint {query.checkpoint!r}, and the second to "
            "commit a batch is refused, whatever the layout of the table: run one of them, or "
            "give each a checkpoint and a source of its own."
        )
    if group.streaming is not None and group.streaming.reads_table:
        return (
            "The query reads the table that it writes, all of it, so its batches are no blind "
            "appends: rows that others change between its snapshot and its commit stop it, and at "
            "Serializable rows that they append, whatever the layout of the table. It is stopped "
            "by nobody if it does not read this table."
        )
    return None


def _explained(scenario: Scenario, refusal: RefusalCount) -> Explanation:
    """The first race of their statements that ends as the refusal did, else the first conflict.

    Raises what racing them raises.
    """
    loser, winner = refusal.loser, refusal.winner
    pairs = [
        (a, b)
        for a in contestants(scenario, *loser)
        for b in contestants(scenario, *winner)
        if a.table is b.table
    ]
    if not pairs:
        raise InvalidInput([Problem(f"{loser} and {winner}", "name no statements on one table")])
    raced: list[Explanation] = []
    for race in (each for pair in pairs for each in races_of(scenario, *pair)):
        explanation = explain(race)
        if _ends_as(refusal, explanation):
            return explanation
        raced.append(explanation)
    return next((each for each in raced if each.can_conflict), raced[0])


def _ends_as(refusal: RefusalCount, explanation: Explanation) -> bool:
    """Whether the first statement, the loser's, is aborted by the exception of the refusal."""
    return any(
        each.loser == "A" and each.verdict.exception == refusal.exception
        for each in explanation.conflicts
    )

"""What is behind refusals that waste much: two statements raced, or why a query is stopped."""

from __future__ import annotations

from collections.abc import Iterator

from whitecap.engine.errors import EngineError, InvalidInput, Problem
from whitecap.engine.races.explain.explanation import Explanation, explain
from whitecap.engine.races.explain.plain import answer
from whitecap.engine.rules import ConflictException
from whitecap.reports.advice.result import Behind
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.refusals import NO_WRITERS, RefusalCount
from whitecap.reports.measures.wasted import wasteful_refusals
from whitecap.sim.rehearsal.race import contestants, race_of
from whitecap.sim.scenario import Scenario

SHOWN = 2
"""Refusals of which it is asked what is behind them."""

AS_INSERT = "A batch stands here as the INSERT of its rows, which conflicts by the same rules."


def behind_refusals(scenario: Scenario, runs: Runs) -> Iterator[Behind]:
    """What is behind the refusals that waste most."""
    for refusal, waste in wasteful_refusals(runs, besides=NO_WRITERS)[:SHOWN]:
        yield behind(scenario, refusal, waste)


def behind(scenario: Scenario, refusal: RefusalCount, waste: float) -> Behind:
    """What is behind one refusal, of which `waste` is its part of all."""
    loser, winner = refusal.loser, refusal.winner
    facts = str(loser), str(winner), refusal.exception, refusal.count, waste
    said = _of_a_query(scenario, refusal)
    if said is not None:
        return Behind(*facts, None, said, ())
    try:
        explanation = _explained(scenario, loser, winner)
    except (InvalidInput, EngineError) as error:
        return Behind(*facts, None, f"explain cannot race them: {error}", ())
    titles = tuple(each.change.title for each in explanation.suggestions)
    streams = any(scenario.writers[each.writer_group].streaming for each in (loser, winner))
    text = " ".join((answer(explanation), *([AS_INSERT] if streams else ())))
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


def _explained(scenario: Scenario, loser: WriterCommand, winner: WriterCommand) -> Explanation:
    """The first two of their statements that conflict: of other values if these do, or of the same.

    Raises what racing them raises.
    """
    pairs = [
        (a, b)
        for a in contestants(scenario, *loser)
        for b in contestants(scenario, *winner)
        if a.table is b.table
    ]
    if not pairs:
        raise InvalidInput([Problem(f"{loser} and {winner}", "name no statements on one table")])
    raced = (
        explain(race_of(scenario, a, b, alike=alike)) for a, b in pairs for alike in (False, True)
    )
    first = next(raced)
    return next((each for each in (first, *raced) if each.can_conflict), first)

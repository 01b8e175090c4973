"""Who stops whom: the winner is found by its version, and what it is not is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

import whitecap
from tests.reports.synthetic_recordings import aborted, tables_of, transaction
from tests.sim.sim_worlds import document
from whitecap.engine.recorded import Measure
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.measured_run import measure_run
from whitecap.reports.measures.refusals import (
    BEFORE_THE_RUN,
    ITS_OWN,
    NOBODY,
    UNKNOWN_WINNER,
    RefusalCount,
    ranked,
    refusal_sentences,
)
from whitecap.terminal.console import new_console
from whitecap.terminal.findings import show_refusals

LOADER, MERGER = WriterCommand("loader", "INSERT"), WriterCommand("merger", "MERGE")
APPEND = "ConcurrentAppendException"
MANIFEST = {"warm_up_ms": 1_000.0, "duration_ms": 3_600_000.0}
MERGE = {"writer_group": "merger", "command": "MERGE"}


def refusals(
    rows: Sequence[Mapping[str, Any]], more_commits: Sequence[Mapping[str, Any]] = ()
) -> tuple[RefusalCount, ...]:
    """Who stops whom in a run of these transactions, with these commits besides."""
    tables = tables_of(rows)
    commits = [*tables["commits"].to_pylist(), *more_commits]
    schema = tables["commits"].schema
    tables["commits"] = tables["commits"].from_pylist(commits, schema)
    return measure_run(MANIFEST, tables).refusals


def only(rows: Sequence[Mapping[str, Any]], *more: Mapping[str, Any]) -> RefusalCount:
    """The one refusal that there is."""
    (refusal,) = refusals(rows, more)
    return refusal


def test_the_winner_is_who_committed_the_version_that_refused() -> None:
    rows = [transaction(7), aborted(8, winning_version=7, **MERGE)]
    assert only(rows) == RefusalCount(MERGER, LOADER, APPEND, 1, 1)


def test_a_commit_whose_writer_never_learned_of_it_wins_too() -> None:
    rows = [
        transaction(7, outcome="unknown", committed_version=None),
        aborted(8, winning_version=3, **MERGE),
    ]
    assert only(rows, {"version": 3, "transaction_id": 7}).winner == LOADER


def test_a_commit_from_before_the_run_is_nobodys_of_the_run() -> None:
    rows = [aborted(8, winning_version=0, **MERGE)]
    assert only(rows, {"version": 0, "transaction_id": None}).winner == BEFORE_THE_RUN


def test_a_version_that_is_not_in_the_log_has_an_unknown_winner() -> None:
    assert only([aborted(8, winning_version=5, **MERGE)]).winner == UNKNOWN_WINNER


def test_who_is_refused_by_its_own_commit_is_told_so() -> None:
    """Its reply was lost, and the put was sent again."""
    rows = [aborted(8, winning_version=5, **MERGE)]
    assert only(rows, {"version": 5, "transaction_id": 8}).winner == ITS_OWN


def test_what_no_commit_is_behind_is_counted_beside_the_conflicts() -> None:
    rows = [
        transaction(7),
        aborted(8, winning_version=7, **MERGE),
        aborted(9, "WriterCrash", winning_version=None, **MERGE),
        aborted(10, "WriterCrash", winning_version=None, **MERGE),
    ]
    assert refusals(rows) == (
        RefusalCount(MERGER, NOBODY, "WriterCrash", 2, 3),
        RefusalCount(MERGER, LOADER, APPEND, 1, 3),
    )


def of_tables(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """The same rows, each of one of several tables."""
    return rows.append_column("table_name", pa.array(names))


def test_the_same_version_of_two_tables_has_two_winners() -> None:
    rows = [
        transaction(7, committed_version=5),
        transaction(6, committed_version=5, **MERGE),
        aborted(8, winning_version=5, writer_group="eraser", command="DELETE"),
        aborted(9, winning_version=5, writer_group="eraser", command="DELETE"),
    ]
    tables = tables_of(rows)
    commits = [{"version": 5, "transaction_id": 7}, {"version": 5, "transaction_id": 6}]
    schema = tables["commits"].schema
    tables["commits"] = of_tables(pa.Table.from_pylist(commits, schema), ["orders", "events"])
    names = ["orders", "events", "events", "orders"]
    tables["transactions"] = of_tables(tables["transactions"], names)
    tables["writers"] = of_tables(tables["writers"], ["orders"] * tables["writers"].num_rows)
    stopped = {(each.loser, each.winner) for each in measure_run(MANIFEST, tables).refusals}
    assert stopped == {
        (WriterCommand("eraser", "DELETE events"), WriterCommand("merger", "MERGE events")),
        (WriterCommand("eraser", "DELETE orders"), WriterCommand("loader", "INSERT orders")),
    }


def test_what_was_submitted_in_the_warm_up_is_left_out() -> None:
    rows = [transaction(7), aborted(8, winning_version=7, submitted_at_ms=500.0)]
    assert refusals(rows) == ()


def test_pooled_over_runs_counts_add_up_and_shares_are_of_all_aborts() -> None:
    first = [RefusalCount(MERGER, LOADER, APPEND, 3, 4), RefusalCount(MERGER, MERGER, APPEND, 1, 4)]
    second = [RefusalCount(MERGER, MERGER, APPEND, 6, 6)]
    pooled = ranked([*first, *second])
    assert [(each.winner, each.count, each.aborts) for each in pooled] == [
        (MERGER, 7, 10),
        (LOADER, 3, 10),
    ]
    assert pooled[0].share == 0.7


@pytest.mark.parametrize(
    ("winner", "count", "sentence"),
    [
        (LOADER, 6, "60 % of the aborts of merger come from loader (6 of 10)"),
        (MERGER, 10, "100 % of the aborts of merger come from merger itself (10 of 10)"),
        (NOBODY, 5, "50 % of the aborts of merger are no conflict with anybody's commit (5 of 10)"),
        (ITS_OWN, 9, "90 % of the aborts of merger come from a commit of their own, whose reply "
                     "was lost (9 of 10)"),
        (LOADER, 4, None),
    ],
)  # fmt: skip
def test_a_loser_with_one_main_cause_gets_a_sentence(
    winner: WriterCommand, count: int, sentence: str | None
) -> None:
    """The rest has causes of one abort each."""
    others = [
        RefusalCount(MERGER, WriterCommand(f"w{n}", "DELETE"), APPEND, 1, 0)
        for n in range(10 - count)
    ]
    # Two exceptions of the same winner are one cause.
    causes = [
        RefusalCount(MERGER, winner, APPEND, count - 1, 0),
        RefusalCount(MERGER, winner, "ConcurrentDeleteReadException", 1, 0),
        *others,
    ]
    assert list(refusal_sentences(ranked(causes))) == ([] if sentence is None else [sentence])


def test_a_few_aborts_say_nothing() -> None:
    few = ranked([RefusalCount(MERGER, LOADER, APPEND, 4, 0)])
    assert list(refusal_sentences(few)) == []


def test_of_a_writer_group_with_several_commands_it_is_said_whose_aborts_these_are() -> None:
    update = WriterCommand("merger", "UPDATE gold")
    both = [RefusalCount(MERGER, LOADER, APPEND, 2, 2), RefusalCount(update, LOADER, APPEND, 9, 9)]
    assert list(refusal_sentences(ranked(both))) == [
        "100 % of the aborts of merger · UPDATE gold come from loader (9 of 9)"
    ]


def test_almost_all_aborts_are_not_all_of_them() -> None:
    causes = [
        RefusalCount(MERGER, LOADER, APPEND, 499, 500),
        RefusalCount(MERGER, NOBODY, "WriterCrash", 1, 500),
    ]
    (sentence,) = refusal_sentences(ranked(causes))
    assert sentence == "99.8 % of the aborts of merger come from loader (499 of 500)"


def test_every_abort_of_a_run_is_in_one_refusal_and_winners_are_its_writers() -> None:
    run = whitecap.run(document())
    frame = run.refusals
    assert frame["count"].sum() == run.measured.tally(Measure.ABORTED).value > 5
    groups = set(run.transactions["writer_group"])
    assert set(frame["winner_group"]) <= groups
    made_by = run.transactions.dropna(subset="committed_version").set_index("committed_version")
    aborts = run.transactions[run.transactions["outcome"] == "aborted"]
    winners = made_by.loc[aborts["winning_version"], "writer_group"]
    expected = winners.value_counts().to_dict()
    assert frame.groupby("winner_group")["count"].sum().to_dict() == expected
    assert frame.groupby("loser_group")["share"].sum().round(9).eq(1).all()


def test_a_cause_behind_few_of_many_aborts_is_not_shown_as_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = [
        RefusalCount(MERGER, LOADER, "X", 499, 500),
        RefusalCount(MERGER, MERGER, "Y", 1, 500),
    ]
    show_refusals(new_console(), counts)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:3]] == ["99.8", "0.20"]

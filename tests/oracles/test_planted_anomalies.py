"""Every anomaly is found where it was planted, and nothing where nothing was."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracles.hand_made import HandMade, add
from tests.oracles.planted import (
    ANY_ORDER,
    PLANTED,
    ROW_3,
    SET_11,
    lost_update,
    missed_insert,
    refused_but_there,
)
from whitecap.sim.oracles.finding import Anomaly, Oracle
from whitecap.sim.oracles.invariants import Invariant

PAGE = Path(__file__).parents[2] / "docs/oracles.md"


@pytest.mark.parametrize("anomaly", Anomaly, ids=str)
def test_an_anomaly_is_found_where_it_was_planted(anomaly: Anomaly) -> None:
    assert anomaly in PLANTED[anomaly]().anomalies()


@pytest.mark.parametrize("invariant", Invariant, ids=lambda each: each.name.lower())
def test_an_invariant_is_broken_by_each_of_its_planted_bugs(invariant: Invariant) -> None:
    for anomaly in invariant.value.anomalies:
        assert anomaly in PLANTED[anomaly]().anomalies()


def test_every_anomaly_breaks_an_invariant() -> None:
    assert {anomaly for each in Invariant for anomaly in each.value.anomalies} == set(Anomaly)


def test_the_page_says_how_many_invariants_there_are() -> None:
    numbers = {15: "Fifteen", 16: "Sixteen", 17: "Seventeen"}
    assert f"{numbers[len(Invariant)]} invariants, each" in PAGE.read_text()


def test_a_table_that_does_as_it_was_told_has_none() -> None:
    table = HandMade()
    table.rewrites("a", "b", [(1, 11), (2, 20)])
    table.appends("c", [(3, 30)])
    table.rewrites("b", "d", [(1, 11), (2, 20)])
    table.did("corrector", SET_11, 0, 1)
    table.did("loader", ROW_3, 0, 2)
    table.did("compactor", "OPTIMIZE t", 1, 3)
    assert not table.findings()


def test_a_missed_insert_is_fine_where_the_order_of_versions_is_not_promised() -> None:
    table = missed_insert()
    table.promise = ANY_ORDER
    assert not table.findings()


def test_the_level_that_the_table_sets_counts_before_the_default() -> None:
    table = missed_insert()
    assert Anomaly.G_SINGLE in table.anomalies()
    relaxed = HandMade(properties={"isolationLevel": "WriteSerializable"})
    relaxed.appends("b", [(3, 30)])
    relaxed.rewrites("a", "c", [(1, 0), (2, 0)])
    relaxed.transactions = table.transactions
    assert not relaxed.findings()


def test_a_cycle_is_told_in_words_with_versions_and_transactions() -> None:
    finding = next(f for f in lost_update().findings() if f.oracle is Oracle.DEPENDENCY_GRAPH)
    assert finding.anomaly is Anomaly.LOST_UPDATE
    assert finding.cycle == (
        "version 2 (second) did not see version 1 (first), which changed rows that it read",
        "version 2 (second) overwrote rows of version 1 (first)",
    )
    assert finding.versions == (1, 2)
    assert finding.files == ("a",)


def test_a_refused_commit_that_somebody_read_names_the_reader() -> None:
    table = refused_but_there()
    table.rewrites("a", "c", [(1, 11), (2, 20)])
    table.did("reader", SET_11, 1, 2)
    (finding,) = table.findings()
    assert finding.transactions == ("refused", "reader")


def test_two_tries_of_one_job_that_both_insert_are_a_duplicate() -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.appends("c", [(3, 30)])
    table.did("first try", ROW_3, 0, 1, job="load")
    table.did("second try", ROW_3, 1, 2, job="load")
    assert table.anomalies() == {Anomaly.DUPLICATE}


def test_rows_that_a_compaction_brings_back_are_wrong() -> None:
    table = HandMade()
    table.rewrites("a", "b", [(2, 20)])
    table.rewrites("a", "c", [(1, 10), (2, 20)])
    table.did("eraser", "DELETE FROM t WHERE id = 1", 0, 1)
    table.did("compactor", "OPTIMIZE t", 0, 2)
    assert {Anomaly.DEAD_FILE, Anomaly.WRONG_ROWS} <= table.anomalies()


def test_one_transaction_that_adds_its_file_in_two_versions_is_a_duplicate_without_any_id() -> None:
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.commit(add("b"))
    table.did("loader", ROW_3, 0, 1, 2)
    assert Anomaly.DUPLICATE in table.anomalies()


def test_one_transaction_with_files_of_their_own_in_two_versions_is_none() -> None:
    table = HandMade()
    table.rewrites("a", "b", [(1, 10), (2, 20)])
    table.rewrites("b", "c", [(1, 10), (2, 20)])
    table.did("compactor", "OPTIMIZE t", 0, 1, 2)
    assert Anomaly.DUPLICATE not in table.anomalies()


def test_a_compaction_before_all_other_versions_of_a_history_hides_no_row() -> None:
    table = HandMade()
    table.rewrites("a", "b", [(1, 10), (2, 20)])
    table.rewrites("b", "c", [(1, 11), (2, 20)])
    table.did("compactor", "OPTIMIZE t", 0, 1)
    table.did("corrector", SET_11, 1, 2)
    assert not table.findings()

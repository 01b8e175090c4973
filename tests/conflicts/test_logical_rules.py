"""Protocols, metadata domains and applications: who may change them under whose feet."""

from __future__ import annotations

from typing import Any

import pytest

from tests.races import WRITE, Table, add, metadata, rule_of
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import AnyAction, DomainMetadata, Protocol, SetTransaction
from whitecap.engine.outcomes import Aborted, Committed, Outcome
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import run

LEGACY = Protocol(min_reader_version=1, min_writer_version=2)


def listing(*features: str) -> Protocol:
    return Protocol(min_reader_version=1, min_writer_version=7, writer_features=sorted(features))


BARE = listing("appendOnly", "invariants")


def domain(name: str, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration="{}", removed=removed)


def overtaken(
    protocol: Protocol,
    winner: list[AnyAction],
    actions: list[AnyAction],
    operation: Operation = WRITE,
    **session: Any,
) -> Outcome:
    table = Table(metadata(), protocol, settings=Settings(**session))
    transaction = table.start()
    table.commit(*winner, blind=True)
    return table.end(transaction, actions, operation)


@pytest.mark.parametrize(
    ("before", "winner", "end"),
    [
        (LEGACY, LEGACY, "committed"),
        (LEGACY, Protocol(min_reader_version=1, min_writer_version=4), "committed"),
        (LEGACY, BARE, "committed"),
        (Protocol(min_reader_version=1, min_writer_version=4), LEGACY, "protocol"),
        (Protocol(min_reader_version=1, min_writer_version=4), BARE, "protocol"),
        (listing("appendOnly", "domainMetadata", "invariants"), BARE, "protocol"),
        (BARE, listing("appendOnly", "checkConstraints", "invariants"), "committed"),
    ],
)
def test_features_may_be_added_but_dropping_one_aborts_everybody(
    before: Protocol, winner: Protocol, end: str
) -> None:
    assert rule_of(overtaken(before, [winner], [add("n")])) == end


@pytest.mark.parametrize(
    ("feature", "end"),
    [("checkConstraints", "protocol"), ("changeDataFeed", "committed"), ("clustering", "protocol")],
)
def test_the_enforcing_session_heeds_features_that_writers_must_know(
    feature: str, end: str
) -> None:
    won = listing("appendOnly", "domainMetadata", "invariants", feature)
    before = listing("appendOnly", "domainMetadata", "invariants")
    outcome = overtaken(before, [won], [add("n")], enforce_concurrent_feature_enablement=True)
    assert rule_of(outcome) == end


def test_two_protocols_conflict_even_if_they_are_equal() -> None:
    assert rule_of(overtaken(LEGACY, [LEGACY], [LEGACY])) == "protocol"


def test_a_protocol_beyond_this_client_is_refused_and_is_no_conflict() -> None:
    with pytest.raises(DeltaError) as refused:
        overtaken(LEGACY, [listing("appendOnly", "fancyNew", "invariants")], [add("n")])
    assert refused.value.exception == "DeltaUnsupportedTableFeatureException"


WITH_DOMAINS = listing("appendOnly", "domainMetadata", "invariants")


@pytest.mark.parametrize(
    ("winner", "own", "end"),
    [("mine", "mine", "domain_metadata"), ("yours", "mine", "committed")],
)
def test_a_domain_has_one_writer_at_a_time(winner: str, own: str, end: str) -> None:
    outcome = overtaken(WITH_DOMAINS, [domain(winner)], [domain(own)])
    assert rule_of(outcome) == end


def test_the_conflict_about_a_domain_has_plain_words_under_its_error_class() -> None:
    outcome = overtaken(WITH_DOMAINS, [domain("mine")], [domain("mine", removed=True)])
    assert isinstance(outcome, Aborted)
    verdict = outcome.verdict
    assert verdict.message == "A conflicting metadata domain mine is added."
    assert verdict.exception == "ConcurrentTransactionException"
    assert verdict.error_class == "DELTA_CONCURRENT_TRANSACTION"


def test_replacing_a_table_clears_the_clustering_that_a_winner_gave_it() -> None:
    replace = Operation("REPLACE TABLE AS SELECT")
    outcome = overtaken(WITH_DOMAINS, [domain("delta.clustering")], [add("n")], replace)
    assert isinstance(outcome, Committed)
    assert domain("delta.clustering", removed=True) in outcome.actions


@pytest.mark.parametrize("own_version", [1, 9])
def test_reading_an_application_is_a_dependency_whatever_the_versions(own_version: int) -> None:
    table = Table(metadata(), LEGACY, SetTransaction(app_id="q", version=own_version))
    transaction = table.start()
    assert transaction.txn_version("q") == own_version
    table.commit(SetTransaction(app_id="q", version=5), blind=True)
    assert rule_of(table.end(transaction, [])) == "application_transactions"


def test_an_application_that_nobody_recorded_is_a_dependency_too() -> None:
    table = Table(metadata(), LEGACY)
    transaction = table.start()
    assert transaction.txn_version("q") == -1
    table.commit(SetTransaction(app_id="q", version=0), blind=True)
    outcome = table.end(transaction, [add("n")])
    assert isinstance(outcome, Aborted)
    assert outcome.verdict.evidence == "q"


def test_writing_an_application_without_reading_it_conflicts_with_nobody() -> None:
    table = Table(metadata(), LEGACY)
    transaction = table.start()
    transaction.update_set_transaction("q", 1)
    table.commit(SetTransaction(app_id="q", version=5), blind=True)
    outcome = run(transaction.commit([add("n")], WRITE), table.store)
    assert rule_of(outcome) == "committed"
    assert table.snapshots()[-1].set_transactions == {"q": 1}, "the last writer wins"


@pytest.mark.parametrize(
    ("winner", "rule"),
    [
        ([LEGACY, metadata(mine="1"), SetTransaction(app_id="q", version=1)], "protocol"),
        ([metadata(mine="1"), SetTransaction(app_id="q", version=1), add("w")], "metadata"),
        ([SetTransaction(app_id="q", version=1), add("w")], "application_transactions"),
    ],
)
def test_the_first_check_that_fails_is_the_one_that_is_told(
    winner: list[AnyAction], rule: str
) -> None:
    before = Protocol(min_reader_version=1, min_writer_version=4)
    table = Table(metadata(), before)
    transaction = table.start()
    transaction.txn_version("q")
    transaction.read_whole_table()
    table.commit(*winner)
    assert rule_of(table.end(transaction, [add("n")])) == rule

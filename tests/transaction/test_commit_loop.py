"""The commit loop: attempts, lost replies, gaps, and giving up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.races import WRITE, Table, add, metadata, remove, rule_of, where
from whitecap.engine.errors import DeltaError
from whitecap.engine.log.actions import CommitInfo
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.outcomes import Aborted, Committed, Unknown
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import MemoryStore, run
from whitecap.engine.storage.requests import Get, ListFrom, Listing, PutIfAbsent, PutResult, Request
from whitecap.engine.transaction.lost_reply import MAX_RESENDS, LostReply


@dataclass
class Scripted:
    """A store that answers as `script` says where it says something, and records requests."""

    store: MemoryStore
    script: Callable[[Request, int], Any]
    seen: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> Any:
        self.seen.append(request)
        number = sum(isinstance(r, type(request)) for r in self.seen)
        reply = self.script(request, number)
        return self.store.answer(request) if reply is None else reply


def committing(table: Table, script: Callable[[Request, int], Any], **options: Any) -> Any:
    """An append on `table` against a scripted store: its outcome, and the requests it sent."""
    transaction = table.start(**options)
    store = Scripted(table.store, script)
    return run(transaction.commit([add("n")], WRITE), store), store.seen


def silent(_request: Request, _number: int) -> None:
    return None


def test_a_winner_in_the_way_costs_one_listing_from_the_version_that_was_tried() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.commit(add("w1"), blind=True)
    table.commit(add("w2"), blind=True)
    store = Scripted(table.store, silent)
    outcome = run(transaction.commit([add("n")], WRITE), store)
    assert isinstance(outcome, Committed)
    assert (outcome.version, outcome.attempts) == (3, 2)
    assert [r.start for r in store.seen if isinstance(r, ListFrom)] == [log_key(1)]
    assert [r.key for r in store.seen if isinstance(r, Get)] == [log_key(1), log_key(2)]


def test_each_winner_is_checked_once_however_often_the_put_is_lost() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.commit(add("w1"), blind=True)

    def somebody_is_faster(request: Request, number: int) -> None:
        if isinstance(request, PutIfAbsent) and number in (2, 3):
            table.commit(add(f"late-{number}"), blind=True)

    store = Scripted(table.store, somebody_is_faster)
    outcome = run(transaction.commit([add("n")], WRITE), store)
    assert isinstance(outcome, Committed)
    assert (outcome.version, outcome.attempts) == (4, 4)
    starts = [r.start for r in store.seen if isinstance(r, ListFrom)]
    assert starts == [log_key(1), log_key(2), log_key(3)]


def test_an_empty_listing_after_a_lost_put_tries_the_same_version_again() -> None:
    def first_put_is_refused(request: Request, number: int) -> Any:
        lost = isinstance(request, PutIfAbsent) and number == 1
        return PutResult.ALREADY_EXISTS if lost else None

    outcome, seen = committing(Table.of_files(), first_put_is_refused)
    assert isinstance(outcome, Committed)
    assert [r.key for r in seen if isinstance(r, PutIfAbsent)] == [log_key(1), log_key(1)]


def test_a_gap_among_the_winners_is_an_assertion_failure() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.store.put(log_key(1), encode_commit([add("w")]))
    table.store.put(log_key(3), encode_commit([add("w3")]))
    with pytest.raises(DeltaError) as refused:
        run(transaction.commit([add("n")], WRITE), table.store)
    assert refused.value.exception == "AssertionError"
    assert refused.value.message == "assertion failed: Expected 2 but got 3"


def test_attempts_beyond_the_limit_end_with_the_numbers_that_delta_names() -> None:
    table = Table.of_files()
    table.settings = Settings(max_commit_attempts=2)
    transaction = table.start()

    def always_too_late(request: Request, _number: int) -> None:
        if isinstance(request, PutIfAbsent):
            table.commit(add(f"w{table.version}"), blind=True)

    store = Scripted(table.store, always_too_late)
    with pytest.raises(DeltaError) as refused:
        run(transaction.commit([add("n")], WRITE), store)
    assert refused.value.error_class == "DELTA_MAX_COMMIT_RETRIES_EXCEEDED"
    assert "has been tried 3 times" in refused.value.message
    assert "Commit started at version: 1\nCommit failed at version: 3\n" in refused.value.message
    assert sum(isinstance(r, PutIfAbsent) for r in store.seen) == 3


def _reply_lost(lands: bool, times: int) -> Callable[[Table], Callable[[Request, int], Any]]:
    """The first puts get no reply; they land or they do not."""

    def on(table: Table) -> Callable[[Request, int], Any]:
        def script(request: Request, number: int) -> Any:
            if not isinstance(request, PutIfAbsent) or number > times:
                return None
            if lands:
                table.store.answer(request)
            return PutResult.UNKNOWN

        return script

    return on


LANDED = _reply_lost(lands=True, times=1)
NOT_LANDED = _reply_lost(lands=False, times=1)


def test_a_lost_reply_can_surface_as_unknown_and_no_second_put_is_sent() -> None:
    table = Table.of_files()
    outcome, seen = committing(table, LANDED(table), lost_reply=LostReply.SURFACE)
    assert outcome == Unknown(1, attempts=1)
    assert sum(isinstance(r, PutIfAbsent) for r in seen) == 1
    assert table.paths() == {"n"}


def test_a_resent_append_meets_itself_unnoticed_and_lands_twice() -> None:
    table = Table.of_files()
    outcome, _ = committing(table, LANDED(table), lost_reply=LostReply.RESEND)
    assert isinstance(outcome, Committed)
    assert (outcome.version, table.version) == (2, 2)


def test_a_resent_delete_conflicts_with_itself() -> None:
    table = Table.of_files(add("a"))
    transaction = table.start(lost_reply=LostReply.RESEND)
    transaction.filter_files(where("x = 1"))
    store = Scripted(table.store, LANDED(table))
    outcome = run(transaction.commit([remove("a")], WRITE), store)
    assert rule_of(outcome) == "removed_vs_read"
    assert isinstance(outcome, Aborted)
    assert outcome.verdict.winning_version == 1
    assert table.paths() == set()


def test_a_resent_put_that_had_not_landed_simply_lands() -> None:
    table = Table.of_files()
    outcome, _ = committing(table, NOT_LANDED(table), lost_reply=LostReply.RESEND)
    assert isinstance(outcome, Committed)
    assert (outcome.version, outcome.attempts, table.version) == (1, 2, 1)


@pytest.mark.parametrize(
    ("settings", "policy"),
    [
        (Settings(), LostReply.RESEND_AND_CHECK),
        (Settings(commit_idempotency_check=True), LostReply.RESEND),
    ],
)
def test_the_check_of_transaction_ids_takes_its_own_commit_as_success(
    settings: Settings, policy: LostReply
) -> None:
    table = Table.of_files(add("a"))
    table.settings = settings
    transaction = table.start(lost_reply=policy)
    transaction.filter_files(where("x = 1"))
    outcome = run(transaction.commit([remove("a")], WRITE), Scripted(table.store, LANDED(table)))
    assert isinstance(outcome, Committed)
    assert (outcome.version, table.version) == (1, 1)


def test_the_check_looks_at_the_first_version_in_the_way_only() -> None:
    table = Table.of_files(add("a"))
    table.settings = Settings(commit_idempotency_check=True)
    transaction = table.start()
    transaction.track_files_read(transaction.snapshot.all_files())
    table.commit(add("w"), blind=True)
    own = CommitInfo(timestamp=5, operation="WRITE", txn_id=transaction.txn_id)
    table.commit_raw(own, remove("a"))
    assert rule_of(table.end(transaction, [remove("a")])) == "removed_vs_read"


def test_replies_that_are_lost_for_ever_end_as_unknown() -> None:
    table = Table.of_files()
    never = _reply_lost(lands=False, times=10**6)(table)
    outcome, seen = committing(table, never, lost_reply=LostReply.RESEND)
    assert isinstance(outcome, Unknown)
    assert sum(isinstance(r, PutIfAbsent) for r in seen) == MAX_RESENDS + 1


def test_a_commit_of_any_kind_conflicts_with_commit_large() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.commit(operation="VACUUM START", blind=True)
    outcome = run(transaction.commit_large([add("n")], WRITE), table.store)
    assert isinstance(outcome, Aborted)
    assert outcome.verdict.error_class == "DELTA_CONCURRENT_WRITE"
    assert '"operation":"VACUUM START"' in outcome.verdict.message


def test_commit_large_always_writes_metadata_and_names_minus_one_as_its_read_version() -> None:
    table = Table()
    transaction = table.start()
    transaction.update_metadata(metadata())
    outcome = run(transaction.commit_large([add("n")], WRITE), table.store)
    assert isinstance(outcome, Committed)
    assert outcome.commit_info.read_version == -1
    assert outcome.commit_info.is_blind_append is False
    assert [type(line).__name__ for line in outcome.actions] == [
        "CommitInfo",
        "Metadata",
        "AddFile",
        "Protocol",
    ]


def test_a_transaction_commits_once() -> None:
    table = Table.of_files()
    transaction = table.start()
    table.end(transaction, [add("n")])
    with pytest.raises(DeltaError, match="already committed"):
        table.end(transaction, [add("m")])


def test_a_put_that_is_refused_for_ever_gives_up_even_without_winners() -> None:
    table = Table.of_files()
    table.settings = Settings(max_commit_attempts=3)

    def refused(request: Request, _number: int) -> Any:
        match request:
            case PutIfAbsent():
                return PutResult.ALREADY_EXISTS
            case ListFrom():
                return Listing(())
        return None

    with pytest.raises(DeltaError, match="tried 4 times"):
        committing(table, refused)

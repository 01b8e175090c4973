"""Numbers that depend on a commit's place in the log: row ids, versions, timestamps."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.races import OPTIMIZE, WRITE, Table, add, metadata, remove, rule_of
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AddFile, CommitInfo, DomainMetadata, Metadata, Protocol
from whitecap.engine.log.effects import BACKFILL
from whitecap.engine.log.schema import Field, Schema, schema_string
from whitecap.engine.outcomes import Committed, Outcome

TRACKED = Protocol(
    min_reader_version=1,
    min_writer_version=7,
    writer_features=["appendOnly", "domainMetadata", "invariants", "rowTracking"],
)
UNTRACKED = Protocol(min_reader_version=1, min_writer_version=2)
TIMED = Protocol(
    min_reader_version=1,
    min_writer_version=7,
    writer_features=["appendOnly", "inCommitTimestamp", "invariants"],
)


def rows(path: str, count: int, **fields: Any) -> AddFile:
    return add(path, stats=json.dumps({"numRecords": count}), **fields)


def ids_of(file: AddFile) -> range:
    assert file.base_row_id is not None
    return range(file.base_row_id, file.base_row_id + json.loads(file.stats or "")["numRecords"])


def committed(outcome: Outcome) -> Committed:
    assert isinstance(outcome, Committed)
    return outcome


sizes = st.lists(st.integers(1, 5), max_size=3)


@given(plans=st.lists(sizes, min_size=1, max_size=5), order=st.randoms(use_true_random=False))
def test_row_ids_never_overlap_whatever_the_order_of_commits(plans: Any, order: Any) -> None:
    table = Table(metadata(), TRACKED)
    started = [(table.start(), number, plan) for number, plan in enumerate(plans)]
    order.shuffle(started)
    for transaction, number, plan in started:
        files = [rows(f"{number}-{at}", count) for at, count in enumerate(plan)]
        outcome = committed(table.end(transaction, files))
        added = [action for action in outcome.actions if isinstance(action, AddFile)]
        assert all(file.default_row_commit_version == outcome.version for file in added)
    snapshot = table.snapshots()[-1]
    given_out = sorted(number for file in snapshot.all_files() for number in ids_of(file))
    assert given_out == list(range(sum(sum(plan) for plan in plans)))
    assert snapshot.row_id_high_watermark == len(given_out) - 1


def test_copied_rows_keep_their_ids_and_new_ones_move_above_the_winner() -> None:
    table = Table(metadata(), TRACKED)
    committed(table.end(table.start(), [rows("a", 4)]))
    transaction = table.start()
    committed(table.end(table.start(), [rows("w", 3)]))
    copy = rows("a2", 2, base_row_id=0, default_row_commit_version=1)
    outcome = committed(table.end(transaction, [remove("a"), copy, rows("n", 5)]))
    ids = {a.path: a.base_row_id for a in outcome.actions if isinstance(a, AddFile)}
    assert ids == {"a2": 0, "n": 7}
    assert isinstance(outcome.actions[1], DomainMetadata), "the watermark comes first"


def test_the_feature_may_come_from_the_winner_itself() -> None:
    table = Table(metadata(), UNTRACKED)
    transaction = table.start()
    table.commit(TRACKED)
    outcome = committed(table.end(transaction, [rows("n", 2)]))
    (added,) = [a for a in outcome.actions if isinstance(a, AddFile)]
    assert (added.base_row_id, added.default_row_commit_version) == (0, 2)


def test_a_backfill_gives_up_what_the_winner_touched_and_commits_the_rest() -> None:
    table = Table(metadata(), UNTRACKED, rows("a", 1), rows("b", 1))
    table.commit(TRACKED)
    transaction = table.start()
    transaction.track_files_read(transaction.snapshot.all_files())
    committed(table.end(table.start(), [remove("a"), rows("a2", 1)]))
    again = [rows("a", 1, data_change=False), rows("b", 1, data_change=False)]
    outcome = committed(table.end(transaction, again, Operation(BACKFILL)))
    assert [a.path for a in outcome.actions if isinstance(a, AddFile)] == ["b"]
    assert table.paths() == {"a2", "b"}


def test_a_winning_backfill_hands_its_row_ids_to_the_removes_of_others() -> None:
    table = Table(metadata(), UNTRACKED, rows("a", 2))
    table.commit(TRACKED)
    transaction = table.start()
    transaction.filter_all_files()
    backfill = [rows("a", 2, data_change=False)]
    committed(table.end(table.start(), backfill, Operation(BACKFILL)))
    outcome = committed(table.end(transaction, [remove("a"), rows("a2", 2)]))
    removed = outcome.actions[2]
    assert getattr(removed, "base_row_id", None) == 0
    assert getattr(removed, "default_row_commit_version", None) == 2


def test_a_winning_backfill_still_refuses_who_removed_the_same_rows_twice() -> None:
    table = Table(metadata(), UNTRACKED, rows("a", 2))
    table.commit(TRACKED)
    transaction = table.start()
    transaction.track_files_read(transaction.snapshot.all_files())
    committed(table.end(table.start(), [remove("a", data_change=False)], OPTIMIZE))
    assert rule_of(table.end(transaction, [remove("a", data_change=False)], OPTIMIZE)) == (
        "removed_vs_read"
    )


def test_in_commit_timestamps_grow_strictly_although_the_winner_is_ahead() -> None:
    table = Table()
    table.commit_raw(
        CommitInfo(in_commit_timestamp=10, timestamp=10),
        metadata(enableInCommitTimestamps="true"),
        TIMED,
    )
    transaction = table.start()
    far_ahead = 9_000_000_000_000
    table.commit_raw(
        CommitInfo(in_commit_timestamp=far_ahead, is_blind_append=True),
        add("w"),
    )
    outcome = committed(table.end(transaction, [add("n")]))
    assert outcome.commit_info.in_commit_timestamp == far_ahead + 1


def test_enabling_them_notes_the_version_that_the_commit_finally_takes() -> None:
    table = Table(metadata(), TIMED)
    transaction = table.start()
    table.commit(add("w"), blind=True)
    outcome = committed(table.end(transaction, [metadata(enableInCommitTimestamps="true")]))
    (written,) = [a for a in outcome.actions if isinstance(a, Metadata)]
    timestamp = outcome.commit_info.in_commit_timestamp
    assert written.configuration["delta.inCommitTimestampEnablementVersion"] == "2"
    assert written.configuration["delta.inCommitTimestampEnablementTimestamp"] == str(timestamp)


def test_a_widened_column_notes_the_version_that_the_commit_finally_takes() -> None:
    widening = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=["typeWidening"],
        writer_features=["appendOnly", "invariants", "typeWidening"],
    )
    table = Table(metadata(enableTypeWidening="true"), widening)
    transaction = table.start()
    table.commit(add("w"), blind=True)
    change = {"fromType": "integer", "toType": "long", "tableVersion": 1}
    columns = Schema((Field("x", "bigint", metadata={"delta.typeChanges": [change]}),))
    widened = replace(metadata(enableTypeWidening="true"), schema_string=schema_string(columns))
    outcome = committed(table.end(transaction, [widened], WRITE))
    (written,) = [a for a in outcome.actions if isinstance(a, Metadata)]
    assert '"tableVersion":2' in (written.schema_string or "")

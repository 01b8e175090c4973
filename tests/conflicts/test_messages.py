"""Every conflict in Delta's own words, letter by letter as Delta 4.4.0 said them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.races import Table, add, metadata, remove, where
from whitecap.engine.conflicts.messages import partition_hint
from whitecap.engine.log.actions import AnyAction, CommitInfo, Protocol, SetTransaction
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.outcomes import Aborted, Verdict

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
COMMIT_INFO = CommitInfo(
    timestamp=1700000002000,
    operation="MERGE",
    operation_parameters={"auto": False, "predicate": '["(x = 1)"]'},
    read_version=0,
    isolation_level="Serializable",
    is_blind_append=False,
    operation_metrics={"numFiles": "1"},
    tags={"a": "b"},
    engine_info="E",
    txn_id="t-1",
)
QUOTED = (
    '\nConflicting commit: {"timestamp":1700000002000,"operation":"MERGE","operationParameters":'
    '{"auto":false,"predicate":"[\\"(x = 1)\\"]"},"readVersion":0,"isolationLevel":"Serializable",'
    '"isBlindAppend":false,"operationMetrics":{"numFiles":"1"},"tags":{"a":"b"},"engineInfo":"E",'
    '"txnId":"t-1"}\nRefer to https://docs.delta.io/latest/concurrency-control.html for more'
    " details."
)
RETRY = (
    " Please retry the operation. Refer to"
    " https://docs.delta.io/latest/concurrency-control.html for more information."
)


def refused(winner: list[AnyAction], actions: list[AnyAction], partitioned: bool = True) -> Verdict:
    """The verdict on a transaction that read x = 1 and the application q."""
    plain: dict[str, Any] = {} if partitioned else {"partition_values": {}}
    table = Table(metadata(partitioned), PLAIN, add("a", **plain), add("b", 2, **plain))
    transaction = table.start(table_name="spark_catalog.default.events")
    transaction.filter_files(where("x = 1"))
    transaction.txn_version("q")
    table.commit_raw(COMMIT_INFO, *winner)
    outcome = table.end(transaction, actions)
    assert isinstance(outcome, Aborted)
    return outcome.verdict


def test_an_added_file_is_told_with_its_partition() -> None:
    verdict = refused([add("w")], [add("m")])
    assert verdict.message == (
        "[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT] Transaction conflict detected. a concurrent"
        " MERGE added data to table spark_catalog.default.events committed at version 1. The"
        " concurrent operation modified data in the partition [x=1] that should have been read by"
        " this operation." + RETRY
    )
    assert verdict.message_parameters["partitionValues"] == "[x=1]"
    assert verdict.message_parameters["version"] == "1"


def test_without_partitions_there_is_no_hint() -> None:
    plain: dict[str, str | None] = {}
    own = [add("m", partition_values=plain)]
    verdict = refused([add("w", partition_values=plain)], list(own), partitioned=False)
    assert verdict.message == (
        "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected. a concurrent MERGE"
        " added data to table spark_catalog.default.events committed at version 1. The concurrent"
        " operation modified data that should have been read by this operation." + RETRY
    )


def test_a_removed_file_that_was_read() -> None:
    assert refused([remove("a")], [add("m")]).message == (
        "[DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT] Transaction conflict detected, a"
        " concurrent MERGE deleted data from table spark_catalog.default.events (committed at"
        " version 1) that this transaction read. The concurrent operation deleted data in the"
        " partition [x=1] that was read by this operation." + RETRY
    )


def test_a_removed_file_that_is_removed_here_too() -> None:
    assert refused([remove("b", 2)], [remove("b", 2)]).message == (
        "[DELTA_CONCURRENT_DELETE_DELETE.WITH_PARTITION_HINT] Transaction conflict detected, a"
        " concurrent MERGE deleted data from table spark_catalog.default.events (committed at"
        " version 1) that this transaction attempted to delete. The concurrent operation deleted"
        " data in the partition [x=2] that was read by this operation." + RETRY
    )


def test_a_metadata_change_quotes_the_winner() -> None:
    assert refused([metadata(mine="1")], [add("m")]).message == (
        "[DELTA_METADATA_CHANGED] MetadataChangedException: The metadata of the Delta table"
        " spark_catalog.default.events has been changed by a concurrent update. Please try the"
        " operation again." + QUOTED
    )


def test_a_protocol_change_quotes_the_winner() -> None:
    assert refused([PLAIN], [PLAIN]).message == (
        "[DELTA_PROTOCOL_CHANGED] ProtocolChangedException: The protocol version of the Delta table"
        " has been changed by a concurrent update. " + QUOTED
    )


def test_an_application_that_moved_quotes_the_winner() -> None:
    assert refused([SetTransaction(app_id="q", version=1)], []).message == (
        "[DELTA_CONCURRENT_TRANSACTION] ConcurrentTransactionException: This error occurs when"
        " multiple streaming queries are using the same checkpoint to write into this table. Did"
        " you run multiple instances of the same streaming query at the same time?" + QUOTED
    )


def test_two_creators_of_one_table_are_told_to_create_it_ahead_of_time() -> None:
    table = Table()
    transaction = table.start()
    table.commit_raw(COMMIT_INFO, PLAIN, metadata())
    outcome = table.end(transaction, [metadata(), PLAIN])
    assert isinstance(outcome, Aborted)
    assert outcome.verdict.message == (
        "[DELTA_PROTOCOL_CHANGED] ProtocolChangedException: The protocol version of the Delta table"
        " has been changed by a concurrent update. This happens when multiple writers are writing"
        " to an empty directory. Creating the table ahead of time will avoid this conflict. "
        + QUOTED
    )


def test_a_winner_that_says_nothing_about_itself_is_a_transaction() -> None:
    table = Table.of_files(add("a"))
    transaction = table.start()
    transaction.filter_files(where("x = 1"))
    table.commit_raw(add("w"))
    outcome = table.end(transaction, [add("m")])
    assert isinstance(outcome, Aborted)
    assert "a concurrent TRANSACTION added data" in outcome.verdict.message


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        ({"a": "1", "b": "z"}, "[b=z, a=1]"),
        ({"a": None, "b": "z"}, "[b=z, a=null]"),
        ({"a": "1"}, "[b=null, a=1]"),
        ({}, None),
        (None, None),
    ],
)
def test_the_hint_names_every_partition_column_in_order(
    values: dict[str, str | None] | None, hint: str | None
) -> None:
    assert partition_hint(values, parse_ddl("b STRING, a INT")) == hint

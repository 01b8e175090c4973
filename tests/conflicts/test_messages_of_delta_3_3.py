"""Conflicts in the words of Delta 3.3.2, filled as it was seen to fill them.

Source: error/delta-error-classes.json of delta-spark_2.12-3.3.2; ConflictChecker.scala of 3.3.
"""

from __future__ import annotations

from typing import Any

import pytest

import whitecap
from tests.races import Table, add, metadata, remove, where
from whitecap.engine.dialects import DELTA_OSS_3_3
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.actions import AnyAction, CommitInfo, Protocol, SetTransaction
from whitecap.engine.outcomes import Aborted, Verdict

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
SEE = "\nRefer to https://docs.delta.io/latest/concurrency-control.html for more details."
QUOTED = (
    '\nConflicting commit: {"timestamp":5,"operation":"MERGE","operationParameters":{"auto":false,'
    '"mode":Append,"partitionBy":[],"predicate":["(x = 1)"]},"isBlindAppend":false}' + SEE
)
PARAMETERS = {"auto": False, "mode": "Append", "partitionBy": "[]", "predicate": '["(x = 1)"]'}
WINNER = CommitInfo(
    timestamp=5, operation="MERGE", operation_parameters=PARAMETERS, is_blind_append=False
)


def refused(
    winner: list[AnyAction], actions: list[AnyAction], partitioned: bool = True, **reads: bool
) -> Verdict:
    """The verdict on a transaction that read x = 1, or everything, and the application q."""
    plain: dict[str, Any] = {} if partitioned else {"partition_values": {}}
    table = Table(metadata(partitioned), PLAIN, add("a", **plain), add("b", 2, **plain))
    transaction = table.start(dialect=DELTA_OSS_3_3)
    if reads.get("everything"):
        transaction.read_whole_table()
    else:
        transaction.filter_files(where("x = 1"))
    transaction.txn_version("q")
    table.commit_raw(WINNER, *winner)
    outcome = table.end(transaction, actions)
    assert isinstance(outcome, Aborted)
    return outcome.verdict


def _added(place: str) -> str:
    return (
        f"[DELTA_CONCURRENT_APPEND] ConcurrentAppendException: Files were added to {place} by a"
        f" concurrent update. Please try the operation again.{QUOTED}"
    )


def _deleted(kind: str, doing: str, example: str) -> str:
    return (
        f"[DELTA_CONCURRENT_DELETE_{kind.upper()}] ConcurrentDelete{kind}Exception: This"
        f" transaction attempted to {doing} one or more files that were deleted (for example"
        f" {example}) by a concurrent update. Please try the operation again.{QUOTED}"
    )


def test_added_files_are_told_by_their_partition() -> None:
    verdict = refused([add("w")], [add("m")])
    assert verdict.error_class == "DELTA_CONCURRENT_APPEND"
    assert verdict.message == _added("partition [x=1]")


def test_without_partitions_they_were_added_to_the_root() -> None:
    plain: dict[str, str | None] = {}
    own: list[AnyAction] = [add("m", partition_values=plain)]
    verdict = refused([add("w", partition_values=plain)], own, partitioned=False)
    assert verdict.message == _added("the root of the table")


def test_a_removed_file_that_was_read_is_named_with_its_place() -> None:
    verdict = refused([remove("a")], [add("m")])
    assert verdict.error_class == "DELTA_CONCURRENT_DELETE_READ"
    assert verdict.message == _deleted("Read", "read", "a in partition [x=1]")
    unpartitioned = refused([remove("a")], [add("m", partition_values={})], partitioned=False)
    assert unpartitioned.message == _deleted("Read", "read", "a in the root of the table")


def test_one_that_was_read_with_the_whole_table_is_named_alone() -> None:
    verdict = refused([remove("c")], [add("m")], everything=True)
    assert verdict.message == _deleted("Read", "read", "c")


def test_one_that_is_removed_here_too_is_named_alone() -> None:
    verdict = refused([remove("b", 2)], [remove("b", 2)])
    assert verdict.message == _deleted("Delete", "delete", "b")


def test_a_metadata_change_names_no_table() -> None:
    assert refused([metadata(mine="1")], [add("m")]).message == (
        "[DELTA_METADATA_CHANGED] MetadataChangedException: The metadata of the Delta table has"
        " been changed by a concurrent update. Please try the operation again." + QUOTED
    )


def test_protocol_and_applications_are_told_as_later() -> None:
    assert refused([PLAIN], [PLAIN]).message == (
        "[DELTA_PROTOCOL_CHANGED] ProtocolChangedException: The protocol version of the Delta table"
        " has been changed by a concurrent update. " + QUOTED
    )
    assert refused([SetTransaction(app_id="q", version=1)], []).message == (
        "[DELTA_CONCURRENT_TRANSACTION] ConcurrentTransactionException: This error occurs when"
        " multiple streaming queries are using the same checkpoint to write into this table. Did"
        " you run multiple instances of the same streaming query at the same time?" + QUOTED
    )


@pytest.mark.parametrize("blind", [None, False])
def test_who_may_have_appended_with_an_old_version_is_told_to_upgrade(blind: bool | None) -> None:
    """Where the level lets blind appends be, and a commit does not say whether it is one."""
    level = metadata(isolationLevel=IsolationLevel.WRITE_SERIALIZABLE.value)
    table = Table(level, PLAIN, add("a"))
    transaction = table.start(dialect=DELTA_OSS_3_3)
    transaction.filter_files(where("x = 1"))
    table.commit_raw(CommitInfo(timestamp=5, operation="WRITE", is_blind_append=blind), add("w"))
    outcome = table.end(transaction, [add("m")])
    assert isinstance(outcome, Aborted)
    upgrade = "Please upgrade and then retry this operation again." in outcome.verdict.message
    assert upgrade is (blind is None)


def test_explain_speaks_in_the_words_of_its_dialect() -> None:
    table = {
        "name": "t",
        "schema": "id INT, p STRING",
        "partition_by": ["p"],
        "files": [[{"id": 1, "p": "a"}]],
    }
    statements = "UPDATE t SET id = 2 WHERE p = 'a'", "INSERT INTO t VALUES (3, 'a')"
    older, newer = (
        str(whitecap.explain(table, *statements, dialect=dialect).as_dict())
        for dialect in ("delta-oss-3.3", "delta-oss-4.4")
    )
    words = "Files were added to partition [p=a] by a concurrent update."
    assert words in older
    assert "WITH_PARTITION_HINT" not in older
    assert words not in newer

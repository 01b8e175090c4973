"""Our check of a log: what readers wrongly let pass is found, with file and line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests.log.log_samples import add, histories, remove, replayed, state, store_of, table
from tests.oracles.log_validation import validate_commits, validate_log
from whitecap.engine.conflicts.row_ids import watermark_domain
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    CommitInfo,
    DomainMetadata,
    Format,
    Metadata,
    Protocol,
    SetTransaction,
)
from whitecap.engine.log.checkpoints.checkpoint import (
    LAST_CHECKPOINT_KEY,
    checkpoint_key,
    write_checkpoint,
)
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.log.features.protocols import protocol_of_new_table
from whitecap.engine.storage.memory import MemoryStore, run

INFO = CommitInfo(timestamp=1)
FIRST: list[AnyAction] = [INFO, Protocol(1, 2), table()]
Commits = Sequence[Sequence[AnyAction]]


def problems_of(*commits: Sequence[AnyAction] | bytes) -> list[str]:
    bodies = [body if isinstance(body, bytes) else encode_commit(body) for body in commits]
    with pytest.raises(InvalidLog) as caught:
        validate_commits(dict(enumerate(bodies)))
    return [str(problem) for problem in caught.value.problems]


@given(histories())
def test_a_valid_history_has_no_problems(history: list[list[AnyAction]]) -> None:
    bodies = {version: encode_commit(actions) for version, actions in enumerate(history)}
    assert state(validate_commits(bodies))["files"] == state(replayed(*history))["files"]


def stats(text: str) -> AddFile:
    return replace(add("a"), stats=text)


def without_schema() -> Metadata:
    return Metadata("id", Format("csv", {}), [], {})


ICT = table(enableInCommitTimestamps="true")
ROW_IDS = table(enableRowTracking="true")
VECTORS = table(enableDeletionVectors="true")

BROKEN: list[tuple[str, Commits, str]] = [
    ("no protocol", [[table()]], "0000.json:1: the first version has no protocol"),
    ("no metadata", [[Protocol(1, 2)]], "0000.json:1: the first version has no metaData"),
    ("two protocols", [[*FIRST, Protocol(1, 2)]], "0000.json:4: second protocol"),
    ("two metadata", [[*FIRST, table()]], "0000.json:4: second metaData"),
    ("two commitInfo", [FIRST, [INFO, INFO]], "0001.json:2: second commitInfo"),
    (
        "two txn of an application",
        [[*FIRST, SetTransaction("q", 1), SetTransaction("q", 2)]],
        "0000.json:5: second txn of 'q'",
    ),
    ("add twice", [FIRST, [add("a"), add("a", size=2)]], "0001.json:2: second add of 'a'"),
    (
        "remove twice",
        [[*FIRST, add("a")], [remove("a"), remove("a")]],
        "0001.json:2: second remove of 'a'",
    ),
    (
        "add and remove",
        [[*FIRST, add("a")], [add("a"), remove("a")]],
        "0001.json:1: 'a' is added and removed",
    ),
    ("remove of nothing", [FIRST, [remove("a")]], "0001.json:1: removes 'a', which is not in"),
    (
        "remove with another vector",
        [[*FIRST, add("a")], [remove("a", "v")]],
        "removes 'a' with deletion vector uv@1, which is not in the table",
    ),
    (
        "vector without removing the file",
        [[*FIRST, add("a")], [add("a", "v")]],
        "0001.json:1: adds 'a' again without removing it",
    ),
    ("no path", [[*FIRST, add("")]], "0000.json:4: path is empty"),
    ("no size", [[*FIRST, add("a", size=0)]], "size of 'a' is 0"),
    (
        "negative time",
        [[*FIRST, replace(add("a"), modification_time=-1)]],
        "modificationTime of 'a' is -1",
    ),
    ("surplus partition value", [[*FIRST, add("a", x="1")]], "partition values ['x']"),
    ("missing partition value", [[INFO, Protocol(1, 2), table("x"), add("a")]], "columns ['x']"),
    (
        "partition value of another type",
        [[INFO, Protocol(1, 2), table("x"), add("a", x="one")]],
        "partition value 'one' of 'x' is no int",
    ),
    ("stats of no form", [[*FIRST, stats("{")]], "stats of 'a'"),
    ("negative count", [[*FIRST, stats('{"numRecords":-1}')]], "numRecords is -1"),
    ("more nulls than rows", [[*FIRST, stats('{"numRecords":1,"nullCount":{"v":2}}')]], "2 nulls"),
    (
        "reversed range",
        [[*FIRST, stats('{"minValues":{"v":2},"maxValues":{"v":1}}')]],
        "the smallest 'v' is above the largest",
    ),
    (
        "range of another type",
        [[*FIRST, stats('{"minValues":{"v":"a"},"maxValues":{"v":1}}')]],
        "the range of 'v' is not of type bigint",
    ),
    ("lists missing", [[INFO, Protocol(3, 7), table()]], "readerFeatures must be there"),
    ("lists too early", [[INFO, Protocol(1, 2, None, []), table()]], "writerFeatures must be"),
    ("reader 4", [[INFO, Protocol(4, 7, [], []), table()]], "minReaderVersion is 4"),
    ("writer 8", [[INFO, Protocol(1, 8, None, []), table()]], "minWriterVersion is 8"),
    (
        "reader feature alone",
        [[INFO, Protocol(3, 7, ["deletionVectors"], []), table()]],
        "reader feature 'deletionVectors' is not among writerFeatures",
    ),
    ("unknown feature", [[INFO, Protocol(1, 7, None, ["x"]), table()]], "unknown feature 'x'"),
    ("csv", [[INFO, Protocol(1, 2), without_schema()]], "format provider is 'csv'"),
    ("no schema", [[INFO, Protocol(1, 2), without_schema()]], "schemaString is missing"),
    ("partition by nothing", [[INFO, Protocol(1, 2), table("y")]], "partition column 'y' is not"),
    ("only partitions", [[INFO, Protocol(1, 2), table("x", "v")]], "every column is a partition"),
    (
        "property without meaning",
        [[INFO, Protocol(1, 2), table(checkpointInterval="0")]],
        "delta.checkpointInterval cannot be '0'",
    ),
    ("property without feature", [[INFO, Protocol(1, 2), VECTORS]], "uses feature 'deletionVec"),
    ("vector without feature", [[*FIRST, add("a", "v")]], "uses feature 'deletionVectors'"),
    (
        "domain without feature",
        [[*FIRST, DomainMetadata("d", "{}", False)]],
        "0000.json:4: uses feature 'domainMetadata'",
    ),
    (
        "vector without numRecords",
        [
            [
                INFO,
                protocol_of_new_table(VECTORS),
                VECTORS,
                replace(add("a", "v"), stats=None),
            ]
        ],
        "'a' has a deletion vector, but no numRecords",
    ),
    (
        "vector larger than its file",
        [
            [
                INFO,
                protocol_of_new_table(VECTORS),
                VECTORS,
                replace(add("a", "v"), stats='{"numRecords":0}'),
            ]
        ],
        "deletes 1 of 0 rows",
    ),
    (
        "no in-commit timestamp",
        [[INFO, protocol_of_new_table(ICT), ICT]],
        "0000.json:1: the first line is no commitInfo with an inCommitTimestamp",
    ),
    (
        "timestamps that stand still",
        [
            [CommitInfo(in_commit_timestamp=5), protocol_of_new_table(ICT), ICT],
            [CommitInfo(in_commit_timestamp=5)],
        ],
        "0001.json:1: inCommitTimestamp 5 is not after 5",
    ),
    (
        "row id above the watermark",
        [
            [
                INFO,
                protocol_of_new_table(ROW_IDS),
                ROW_IDS,
                replace(add("a"), base_row_id=3, stats='{"numRecords":2}'),
                watermark_domain(3),
            ]
        ],
        "row ids of 'a' are above the watermark 3",
    ),
]


@pytest.mark.parametrize(
    ("commits", "expected"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_a_broken_commit_is_found_with_its_place(commits: Commits, expected: str) -> None:
    problems = problems_of(*commits)
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"", "0001.json: is empty"),
        (b'{"txn":{"appId":"a","version":1}}\n\n', "0001.json:2: is blank"),
        (b'{"txn":{"appId":"a","version":1}}\r\n', "0001.json:1: ends with a carriage return"),
        (b'\xef\xbb\xbf{"txn":{"appId":"a","version":1}}\n', "starts with a byte order mark"),
        (b'{"txn":{"version":1}}\n', "0001.json:1: Object missing required field `appId`"),
        (b'{\n"txn":{"appId":"a","version":1}}\n', "0001.json:1: "),
        (b'{"add":{"path":"a","partitionValues":{},"size":1,', "0001.json:1: "),
        (
            encode_commit([add("a")])[:-2] + b"," + encode_commit([remove("b")])[1:],
            "0001.json:1: holds several actions: add, remove",
        ),
    ],
)
def test_a_badly_formed_line_is_found_with_its_place(tail: bytes, expected: str) -> None:
    problems = problems_of(FIRST, tail)
    assert any(expected in problem for problem in problems), problems


def test_a_preview_announces_what_it_became() -> None:
    preview = ["typeWidening-preview"]
    protocol = Protocol(3, 7, preview, preview)
    run(validate_log(), store_of([INFO, protocol, table(enableTypeWidening="true")]))


def test_every_problem_of_a_log_is_told_at_once() -> None:
    problems = problems_of([INFO, table()], [remove("a"), add("b", x="1")], b"nonsense\n")
    assert len(problems) == 4
    assert [re.search(r"\d+\.json:\d+", text).group()[-6:] for text in problems] == [  # type: ignore[union-attr]
        "json:1", "json:1", "json:2", "json:1",
    ]  # fmt: skip


def problems_in(store: MemoryStore) -> str:
    with pytest.raises(InvalidLog) as caught:
        run(validate_log(), store)
    return str(caught.value)


def test_a_gap_is_found_and_what_comes_after_it_is_still_checked() -> None:
    store = store_of(FIRST, [INFO], [remove("a")])
    store.delete(log_key(1))
    problems = problems_in(store)
    assert "0001.json: is missing" in problems
    assert "0002.json:1: removes 'a'" in problems


def test_a_log_that_starts_late_without_a_checkpoint_is_refused() -> None:
    store = store_of([INFO], FIRST)
    store.delete(log_key(0))
    assert "0000.json: is missing" in problems_in(store)
    assert "holds neither" in problems_in(MemoryStore())


def test_a_log_may_start_at_a_checkpoint() -> None:
    commits: Commits = (FIRST, [add("a")], [remove("a"), add("b")], [remove("b")])
    store = store_of(*commits)
    run(write_checkpoint(replayed(*commits[:3])), store)
    for version in (0, 1):
        store.delete(log_key(version))
    assert run(validate_log(), store).num_files == 0
    store.put(log_key(4), encode_commit([remove("b")]))
    assert "0004.json:1: removes 'b'" in problems_in(store)


def test_a_checkpoint_that_contradicts_its_commits_is_found() -> None:
    store = store_of(FIRST, [add("a")])
    run(write_checkpoint(replayed(FIRST, [add("other")])), store)
    assert "holds another table" in problems_in(store)
    store.put(checkpoint_key(1), b"nonsense")
    assert "cannot be read" in problems_in(store)


def test_a_pointer_to_nowhere_and_a_misnamed_commit_are_found() -> None:
    store = store_of(FIRST)
    store.put(LAST_CHECKPOINT_KEY, b'{"version":7}')
    store.put("_delta_log/1.json", b"")
    assert "points at version 7" in problems_in(store)
    assert "_delta_log/1.json: looks like a commit" in problems_in(store)


def test_a_checkpointed_log_is_valid() -> None:
    store = store_of(FIRST, [add("a"), SetTransaction("q", 1)], [remove("a", at=10**15), add("b")])
    run(write_checkpoint(replayed(FIRST, [add("a"), SetTransaction("q", 1)])), store)
    assert run(validate_log(), store).version == 2

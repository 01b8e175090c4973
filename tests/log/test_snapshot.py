"""Snapshots: replaying commits keeps every index right and old snapshots intact."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.log_samples import histories, state
from whitecap.engine.conflicts.row_ids import watermark_domain
from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.actions import (
    AddFile,
    AnyAction,
    DeletionVector,
    DomainMetadata,
    Format,
    Metadata,
    RemoveFile,
    SetTransaction,
)
from whitecap.engine.log.commit_file import commit_of
from whitecap.engine.log.file_keys import by_path
from whitecap.engine.log.files import FileSet
from whitecap.engine.log.listed_files import ListedFiles
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.packed import blocks
from whitecap.engine.packed.versions import VersionedMap


def table(*columns: str, **configuration: str) -> Metadata:
    return Metadata("id", Format("parquet", {}), list(columns), configuration)


def add(path: str, dv: str | None = None, size: int = 10, **values: str | None) -> AddFile:
    vector = None if dv is None else DeletionVector("u", dv, 1, 34, 1)
    return AddFile(
        path=path, partition_values=dict(values), size=size, modification_time=1,
        data_change=True, deletion_vector=vector,
    )  # fmt: skip


def remove(path: str, dv: str | None = None) -> RemoveFile:
    vector = None if dv is None else DeletionVector("u", dv, 1, 34, 1)
    return RemoveFile(path, True, deletion_timestamp=1, deletion_vector=vector)


def paths(files: tuple[AddFile, ...]) -> list[str]:
    return [file.path for file in files]


def test_files_are_found_by_partition_and_by_path() -> None:
    commit = commit_of(0, [add("b", x="2"), add("c", x="1"), add("a", x="1"), table("x")])
    snapshot = EMPTY_SNAPSHOT.apply(commit)
    assert paths(snapshot.files_in(("1",))) == ["a", "c"]
    assert paths(snapshot.all_files()) == ["a", "b", "c"]
    assert snapshot.partitions == (("1",), ("2",))
    assert snapshot.file_at("b") == add("b", x="2")
    assert (snapshot.num_files, snapshot.size_bytes) == (3, 30)


def test_a_removed_file_leaves_every_index_and_old_snapshots_keep_it() -> None:
    before = EMPTY_SNAPSHOT.apply(commit_of(0, [table("x"), add("a", x="1"), add("b", x="2")]))
    after = before.apply(commit_of(1, [remove("a")]))
    assert after.file_at("a") is None
    assert after.partitions == (("2",),)
    assert after.files_in(("1",)) == ()
    assert (after.num_files, after.size_bytes) == (1, 10)
    assert before.file_at("a") is not None
    assert list(after.tombstones) == [("a", None)]


def test_a_deletion_vector_replaces_the_file_of_the_same_path() -> None:
    snapshot = EMPTY_SNAPSHOT.apply(commit_of(0, [table(), add("a")]))
    once = snapshot.apply(commit_of(1, [remove("a"), add("a", dv="v1")]))
    twice = once.apply(commit_of(2, [add("a", dv="v2"), remove("a", dv="v1")]))
    file = twice.file_at("a")
    assert file is not None
    assert file.dv_id == "uv2@1"
    assert list(twice.files) == [("a", "uv2@1")]
    assert twice.apply(commit_of(3, [remove("a", dv="v2")])).file_at("a") is None


def test_adding_a_live_file_again_replaces_it() -> None:
    snapshot = EMPTY_SNAPSHOT.apply(commit_of(0, [table(), add("a", size=10)]))
    again = snapshot.apply(commit_of(1, [add("a", size=12)]))
    assert (again.num_files, again.size_bytes) == (1, 12)


def test_versions_must_follow_each_other() -> None:
    with pytest.raises(InvalidLog, match="expected version 0, found 1"):
        EMPTY_SNAPSHOT.apply(commit_of(1, []))


def test_new_partition_columns_index_the_old_files_again() -> None:
    snapshot = EMPTY_SNAPSHOT.apply(commit_of(0, [table(), add("a", x="1"), add("b")]))
    assert snapshot.partitions == ((),)
    assert snapshot.apply(commit_of(1, [table("x")])).partitions == ((None,), ("1",))


def test_applications_domains_and_row_ids_are_kept_to_their_last_value() -> None:
    domain = DomainMetadata("d", "{}", False)
    snapshot = EMPTY_SNAPSHOT.apply(
        commit_of(0, [SetTransaction("app", 4), domain, watermark_domain(9)])
    )
    later = snapshot.apply(
        commit_of(1, [SetTransaction("app", 3), DomainMetadata("d", "{}", True)])
    )
    assert later.set_transactions == {"app": 3}
    assert later.transaction_version("other") == -1
    assert list(later.domains) == ["delta.rowTracking"]
    assert later.row_id_high_watermark == 9
    assert EMPTY_SNAPSHOT.row_id_high_watermark == -1
    assert "d" in snapshot.domains


def seen(snapshot: Snapshot) -> dict[str, object]:
    """Everything that somebody may ask of a snapshot's files."""
    files = {path: snapshot.file_at(path) for path, _ in snapshot.files}
    return {**state(snapshot), "tombstones": dict(snapshot.tombstones), "files by path": files}


@given(histories(), st.permutations(range(10)), st.booleans())
def test_a_snapshot_is_the_same_whenever_somebody_asks_for_its_files(
    commits: list[list[AnyAction]], asked: list[int], repartitioned: bool
) -> None:
    if repartitioned:
        commits = [*commits[:2], [table("v")], *commits[2:]]
    at_once, later = [EMPTY_SNAPSHOT], [EMPTY_SNAPSHOT]
    for version, actions in enumerate(commits):
        commit = commit_of(version, actions)
        at_once.append(at_once[-1].apply(commit))
        seen(at_once[-1])
        later.append(later[-1].apply(commit))
    for version in (at for at in asked if at < len(later)):
        assert seen(later[version]) == seen(at_once[version])


class Listed(ListedFiles):
    """Some files as a list that is asked for each."""

    def __init__(self, columns: tuple[str, ...], files: Sequence[AddFile]) -> None:
        self.columns, self.files = columns, files
        self.size_bytes = sum(file.size for file in files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: Any) -> Any:
        return self.files[number]

    def at(self, path: str) -> AddFile | None:
        return next((file for file in self.files if file.path == path), None)

    def counts(self) -> dict[tuple[str | None, ...], int]:
        return Counter(map(self._partition, self.files))

    def within(self, partition: tuple[str | None, ...]) -> list[AddFile]:
        return [file for file in self.files if self._partition(file) == partition]

    def _partition(self, file: AddFile) -> tuple[str | None, ...]:
        return tuple((file.partition_values or {}).get(column) for column in self.columns)


file_paths = st.sampled_from("abcdef")
vectors = st.sampled_from([None, "v1", "v2"])
values = st.sampled_from(["1", "2", None])
sizes = st.integers(1, 9)
first_files = st.lists(
    st.builds(lambda path, size, x: add(path, size=size, x=x), file_paths, sizes, values),
    unique_by=lambda file: file.path,
)
changes = st.tuples(
    st.lists(st.builds(remove, file_paths, vectors), max_size=3),
    st.lists(st.builds(lambda p, dv, s, x: add(p, dv, s, x=x), file_paths, vectors, sizes, values)),
)


def asked_of(files: FileSet) -> dict[str, object]:
    """What somebody may ask of a set of files."""
    return {
        "count": len(files),
        "size": files.size_bytes,
        "files": dict(files.files),
        "ordered": files.ordered(),
        "partitions": {key: files.within(key) for key in files.partition_keys()},
        "by path": [files.at(path) for path in "abcdef"],
        "live": [add(path, dv) in files for path in "abcdef" for dv in (None, "v1", "v2")],
        "tombstones": dict(files.tombstones),
        "gone": sorted(files.tombstones.values(), key=by_path),
    }


@given(first_files, st.lists(changes, max_size=5), st.booleans(), st.sampled_from([(), ("x",)]))
def test_listed_files_are_found_as_those_that_were_added_one_by_one(
    first: list[AddFile],
    later: list[tuple[list[RemoveFile], list[AddFile]]],
    at_once: bool,
    columns: tuple[str, ...],
) -> None:
    """Whatever comes later: removed, replaced, hidden by a vector, added anew."""
    plain = FileSet(columns).after((), first)
    listed = FileSet(columns).after((), Listed(columns, first))
    for removes, adds in later:
        if at_once:
            assert asked_of(listed) == asked_of(plain)
        plain, listed = plain.after(removes, adds), listed.after(removes, adds)
    assert asked_of(listed) == asked_of(plain)
    other = ("x",) if columns == () else ()
    assert asked_of(listed.partitioned_by(other)) == asked_of(plain.partitioned_by(other))


@given(first_files, st.lists(changes, max_size=8), st.integers(1, 3), st.sampled_from([(), ("x",)]))
def test_listed_files_are_found_while_those_that_came_later_are_packed(
    first: list[AddFile],
    later: list[tuple[list[RemoveFile], list[AddFile]]],
    kept: int,
    columns: tuple[str, ...],
) -> None:
    """Also where a path is listed, removed, added anew, packed, and removed again."""
    plain = FileSet(columns).after((), first)
    expected = [asked_of(plain := plain.after(*change)) for change in one_by_one(later)]
    with pytest.MonkeyPatch.context() as patched:
        pack_beyond(kept, patched)
        packed = FileSet(columns).after((), Listed(columns, first))
        assert [
            asked_of(packed := packed.after(*change)) for change in one_by_one(later)
        ] == expected
        other = ("x",) if columns == () else ()
        assert asked_of(packed.partitioned_by(other)) == asked_of(plain.partitioned_by(other))


def one_by_one(
    changes: list[tuple[list[RemoveFile], list[AddFile]]],
) -> list[tuple[list[RemoveFile], list[AddFile]]]:
    """The same changes, each of one file: what comes together is not packed."""
    return [
        change
        for removes, adds in changes
        for change in (
            *(([removed], list[AddFile]()) for removed in removes),
            *((list[RemoveFile](), [added]) for added in adds),
        )
    ]


def pack_beyond(kept: int, patched: pytest.MonkeyPatch) -> None:
    """Few files stay as they are, and few are packed together."""
    patched.setattr(blocks, "KEPT", kept)
    patched.setattr(blocks, "BLOCK", 2)
    patched.setattr(blocks, "KEPT_BLOCKS", 1)


@given(first_files, first_files)
def test_listed_files_that_are_not_the_first_are_added_one_by_one(
    first: list[AddFile], second: list[AddFile]
) -> None:
    before = FileSet(("x",)).after((), first)
    listed = before.after((), Listed(("x",), second))
    assert asked_of(listed) == asked_of(before.after((), second))
    in_other_columns = FileSet(("y",)).after((), Listed(("x",), second))
    assert asked_of(in_other_columns) == asked_of(FileSet(("y",)).after((), second))


@given(histories(), st.integers(1, 3))
def test_a_snapshot_is_the_same_when_its_older_files_are_packed(
    commits: list[list[AnyAction]], kept: int
) -> None:
    def snapshots() -> list[dict[str, object]]:
        snapshot, met = EMPTY_SNAPSHOT, []
        moved: list[AnyAction] = [table("v")]
        for version, actions in enumerate([*commits, moved, *commits]):
            snapshot = snapshot.apply(commit_of(version, actions))
            met.append(seen(snapshot))
        return met

    expected = snapshots()
    with pytest.MonkeyPatch.context() as patched:
        pack_beyond(kept, patched)
        assert snapshots() == expected


def test_many_files_that_come_one_by_one_are_packed_and_those_of_one_commit_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "KEPT", 4)
    together = [add(f"t{n}", x=str(n % 2)) for n in range(20)]
    snapshot = EMPTY_SNAPSHOT.apply(commit_of(0, [table("x"), *together]))
    for n in range(30):
        snapshot = snapshot.apply(commit_of(n + 1, [add(f"p{n}", x=str(n % 3))]))
        assert snapshot.num_files == 21 + n
    files = snapshot.live.files
    assert isinstance(files, VersionedMap)
    assert 20 + 4 <= len(files.whole) < 20 + 8
    snapshot = snapshot.apply(commit_of(31, [remove(f"p{n}") for n in range(26)]))
    for n in range(26):
        snapshot = snapshot.apply(commit_of(n + 32, [add(f"q{n}", x="q")]))
        assert snapshot.file_at(f"p{n}") is None
        assert len(snapshot.files) == len(snapshot.all_files()) == 25 + n
    assert snapshot.num_files == 50
    assert len(snapshot.files_in(("q",))) == 26
    assert sorted(snapshot.files) == sorted((file.path, None) for file in snapshot.all_files())
    assert sorted(snapshot.tombstones) == sorted((f"p{n}", None) for n in range(26))

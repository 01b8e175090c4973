"""What a process counts of the files that it adds to partitions: when auto compaction is due."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from whitecap.engine.log.actions import AddFile, AnyAction, RemoveFile
from whitecap.engine.log.file_counts import FileCounts
from whitecap.engine.log.file_keys import partition_of
from whitecap.engine.settings import Settings

DAYS = ("1", "2", None)


def add(day: str | None, size: int = 10) -> AddFile:
    return AddFile(
        path="a", partition_values={"day": day}, size=size, modification_time=0, data_change=True
    )


def remove(day: str | None, size: int | None = 10) -> RemoveFile:
    return RemoveFile(path="a", partition_values={"day": day}, size=size, data_change=True)


def crowded(counts: FileCounts, fewest: int) -> set[str | None]:
    """The days that have so many files."""
    return {day for day in DAYS if counts.crowded([partition_of(add(day))], fewest)}


def counted(*commits: list[AnyAction], largest: int | None = None) -> FileCounts:
    counts = FileCounts()
    for actions in commits:
        counts.note(actions, Settings(auto_compact_min_file_size=largest))
    return counts


def test_a_partition_is_crowded_by_the_files_that_were_added_to_it() -> None:
    counts = counted([add("1"), add("1"), add("2")], [add(None), add("2")])
    assert crowded(counts, 1) == {"1", "2", None}
    assert crowded(counts, 2) == {"1", "2"}
    assert crowded(counts, 3) == set()


def test_nothing_is_crowded_where_nothing_was_added_however_few_it_takes() -> None:
    assert crowded(counted([add("1")]), 0) == {"1"}


def test_files_beyond_a_size_do_not_count_where_one_is_set() -> None:
    actions: list[AnyAction] = [add("1", 10), add("1", 11), remove("1", 11)]
    assert crowded(counted(actions, largest=10), 1) == {"1"}
    assert crowded(counted(actions, largest=None), 1) == {"1"}
    assert crowded(counted([add("1", 11)], largest=10), 1) == set()
    assert crowded(counted([add("1"), remove("1", None)], largest=10), 1) == set()


def test_files_of_others_count_when_they_are_removed_but_not_below_none() -> None:
    counts = counted([add("1")], [remove("1"), remove("1"), remove("1")], [add("1")])
    assert crowded(counts, 1) == {"1"}
    assert crowded(counts, 2) == set()


def test_a_partition_that_is_being_compacted_is_left_alone() -> None:
    counts = counted([add("1"), add("2")])
    with counts.compacting([partition_of(add("1"))]):
        assert crowded(counts, 1) == {"2"}
    assert crowded(counts, 1) == {"1", "2"}


def test_a_copy_goes_its_own_way() -> None:
    counts = counted([add("1")])
    other = counts.copy()
    other.note([add("1")], Settings())
    assert crowded(other, 2) == {"1"}
    assert crowded(counts, 2) == set()


ACTIONS = st.lists(st.sampled_from([make(day) for make in (add, remove) for day in DAYS]))


@given(st.lists(ACTIONS))
def test_numbers_are_those_of_commits_one_after_the_other(commits: list[list[AnyAction]]) -> None:
    counts, expected = counted(*commits), dict[str | None, int]()
    for actions in commits:
        for day, change in _changes(actions).items():
            expected[day] = max(0, expected.get(day, 0) + change)
    for fewest in range(1, 5):
        assert crowded(counts, fewest) == {d for d, n in expected.items() if n >= fewest}


def _changes(actions: list[AnyAction]) -> Mapping[str | None, int]:
    changes = dict[str | None, int]()
    for action in actions:
        assert isinstance(action, AddFile | RemoveFile)
        assert action.partition_values is not None
        day = action.partition_values["day"]
        changes[day] = changes.get(day, 0) + (1 if isinstance(action, AddFile) else -1)
    return changes

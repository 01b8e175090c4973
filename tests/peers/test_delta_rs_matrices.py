"""The dialects of delta-rs against what was measured of its packages, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from tests.peers.published_matrices import (
    OTHER_PARTITION,
    SAME_FILE,
    Matrix,
    matrix,
    of_1_6_3,
    outcome_of,
    plain,
)
from tests.peers.races_of_pairs import OPERATIONS, race
from whitecap.engine.races.conformance.statement_cases import run_case

SAME, OTHER = matrix(SAME_FILE), matrix(OTHER_PARTITION)
PUBLISHED: dict[tuple[str, str], Matrix] = {
    ("delta-rs-1.6.6", "a"): SAME,
    ("delta-rs-1.6.6", "b"): OTHER,
    ("delta-rs-1.6.6", "c"): SAME,
    ("delta-rs-1.6.3", "a"): of_1_6_3(SAME),
    ("delta-rs-1.6.3", "b"): of_1_6_3(OTHER),
    ("delta-rs-1.6.3", "c"): of_1_6_3(SAME),
}


def raced(dialect: str, layout: str, first: str, second: str, **settings: str) -> Mapping[str, Any]:
    """What a race ends in on this engine: how the second ended, and the rows that are left."""
    case = race(dialect, layout, first, second)
    asked = {"current": None, "winner": None, "rows": None}
    case = replace(case, expect=asked, settings={**case.settings, **settings})
    return {difference.key: difference.actual for difference in run_case(case).differences}


def ids_left(observed: Mapping[str, Any]) -> Counter[int]:
    return Counter(row["id"] for row in observed["rows"])


@pytest.mark.parametrize(("dialect", "layout"), PUBLISHED)
def test_every_pair_ends_as_it_did_on_the_package(dialect: str, layout: str) -> None:
    published = {pair: plain(cell) for pair, cell in PUBLISHED[dialect, layout].items()}
    here = {pair: outcome_of(raced(dialect, layout, *pair)["current"]) for pair in published}
    assert here == published


@pytest.mark.parametrize("dialect", ["delta-rs-1.6.3", "delta-rs-1.6.6"])
@pytest.mark.parametrize("layout", ["a", "a2", "b", "c", "c2"])
def test_adding_a_column_is_a_change_of_metadata_like_a_property(dialect: str, layout: str) -> None:
    """What was alike on the package: the rows and columns that the tables leave out."""
    for name in OPERATIONS:
        assert raced(dialect, layout, "col", name)["current"] == "MetadataChangedException"
        ended = raced(dialect, layout, name, "col")["current"]
        assert ended == raced(dialect, layout, name, "prop")["current"]


@pytest.mark.parametrize("dialect", ["delta-rs-1.6.3", "delta-rs-1.6.6"])
@pytest.mark.parametrize("layout", ["a", "a2", "b", "c", "c2"])
def test_deleting_everything_disturbs_everybody(dialect: str, layout: str) -> None:
    for name in OPERATIONS:
        assert raced(dialect, layout, "all", name)["current"] == "ConcurrentDeleteReadException"
        ended = raced(dialect, layout, name, "all")["current"]
        assert ended == raced(dialect, layout, name, "ovw")["current"]


@pytest.mark.parametrize("dialect", ["delta-rs-1.6.3", "delta-rs-1.6.6"])
def test_statistics_stand_in_for_partitions(dialect: str) -> None:
    """On an unpartitioned table other files are as far away as another partition.

    But for what is about the whole table there: compactions.
    """
    same, other = PUBLISHED[dialect, "a"], PUBLISHED[dialect, "b"]
    for pair in same:
        whole = {"cmp", "zord"} & {*pair}
        expected = plain((same if whole else other)[pair])
        assert outcome_of(raced(dialect, "a2", *pair)["current"]) == expected, pair


@pytest.mark.parametrize("dialect", ["delta-rs-1.6.3", "delta-rs-1.6.6"])
def test_different_files_of_a_partition_differ_for_changes_of_single_rows_only(
    dialect: str,
) -> None:
    """A winner that rewrote the one file with its row, and whoever changes a row of another."""
    for pair, cell in PUBLISHED[dialect, "c"].items():
        first, second = pair
        apart = first in ("del", "upd", "mrgE", "mrgI") and second in ("del", "upd")
        expected = "ok" if apart else plain(cell)
        assert outcome_of(raced(dialect, "c2", *pair)["current"]) == expected, pair


@pytest.mark.parametrize("pair", [p for p, cell in SAME.items() if cell == "!!"])
def test_the_newer_version_doubles_rows_where_the_older_one_aborts(pair: tuple[str, str]) -> None:
    assert raced("delta-rs-1.6.3", "a", *pair)["current"] == "ConcurrentDeleteDeleteException"
    left = ids_left(raced("delta-rs-1.6.6", "a", *pair))
    if pair[1] == "ovw":
        assert left.total() == 41  # one row was to be left: those that the compaction wrote stay
    else:
        assert left == Counter(dict.fromkeys(range(40), 2))


@pytest.mark.parametrize("first", ["app", "txn", "mrgN"])
def test_an_overwrite_erases_an_append_that_it_never_saw(first: str) -> None:
    for dialect in ("delta-rs-1.6.3", "delta-rs-1.6.6"):
        left = ids_left(raced(dialect, "a", first, "ovw"))
        assert 201 in left
        assert left.total() == 2  # the row that it wrote, and the one that was appended meanwhile

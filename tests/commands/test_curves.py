"""Rows that ZORDER BY and clustering cut into files lie as Delta Lake lays them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from tests.commands.sql_database import made
from whitecap.engine.commands.maintenance.curves import Curve, cut
from whitecap.engine.settings import Settings

Bounds = tuple[int, int]

BY_Z = [
    [(35, 443), (24, 514), (135, 889)],
    [(18, 474), (8, 888), (90, 962)],
    [(112, 941), (3, 892), (0, 958)],
    [(550, 933), (5, 943), (41, 987)],
    [(568, 974), (534, 968), (6, 981)],
]
BY_HILBERT = [
    [(42, 443), (24, 514), (135, 474)],
    [(86, 387), (411, 888), (90, 508)],
    [(474, 974), (517, 968), (41, 462)],
    [(611, 941), (3, 692), (0, 209)],
    [(598, 939), (17, 392), (406, 865)],
    [(568, 969), (5, 793), (604, 987)],
    [(95, 623), (567, 892), (589, 981)],
    [(18, 421), (8, 388), (552, 962)],
]
BY_HILBERT_OF_FOUR = [
    [(4, 29), (0, 39), (0, 43), (0, 21)],
    [(20, 36), (0, 31), (3, 27), (7, 45)],
    [(5, 29), (21, 37), (1, 43), (25, 45)],
    [(0, 37), (1, 24), (7, 49), (0, 44)],
    [(6, 38), (40, 48), (2, 48), (3, 47)],
    [(39, 49), (0, 44), (5, 46), (0, 47)],
]
"""Of each file the least and the greatest value of each column, as Delta Lake 4.4.0 on Spark 4.2.0
left 64 rows in files of a fifth, an eighth and a sixth of their bytes."""


def drawn(columns: int, below: int) -> list[tuple[int, ...]]:
    """The rows of the tables that were observed."""
    draw = random.Random(9)
    return [tuple(draw.randrange(below) for _ in range(columns)) for _ in range(64)]


def bounds(rows: Sequence[Sequence[int]], columns: int) -> list[Bounds]:
    return [(min(row[c] for row in rows), max(row[c] for row in rows)) for c in range(columns)]


@pytest.mark.parametrize(
    ("curve", "below", "observed"),
    [
        (Curve.Z, 1000, BY_Z),
        (Curve.HILBERT, 1000, BY_HILBERT),
        (Curve.HILBERT, 50, BY_HILBERT_OF_FOUR),
    ],
)
def test_rows_are_in_the_files_that_delta_puts_them_into(
    curve: Curve, below: int, observed: list[list[Bounds]]
) -> None:
    columns = len(observed[0])
    files = cut(drawn(columns, below), range(columns), curve, len(observed))
    assert [bounds(rows, columns) for rows in files] == observed


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("curve", Curve)
def test_a_curve_goes_through_every_point_once(curve: Curve, size: int) -> None:
    places = [curve.place(point) for point in itertools.product(range(4), repeat=size)]
    assert sorted(places) == list(range(4**size))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_from_one_point_of_the_hilbert_curve_to_the_next_is_one_step(size: int) -> None:
    points = sorted(itertools.product(range(4), repeat=size), key=Curve.HILBERT.place)
    steps = [
        sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in itertools.pairwise(points)
    ]
    assert set(steps) == {1}


def test_files_have_equally_many_rows_in_their_order() -> None:
    rows = [(value,) for value in range(10)]
    files = list(cut(rows, [0], Curve.Z, 4))
    assert files == [rows[:3], rows[3:5], rows[5:8], rows[8:]]


def test_there_are_no_more_files_than_rows() -> None:
    assert list(cut([(1,), (2,)], [0], Curve.Z, 5)) == [[(1,)], [(2,)]]


def test_no_value_comes_before_any_other() -> None:
    rows = [(3,), (None,), (1,), (2,)]
    assert list(cut(rows, [0], Curve.Z, 2)) == [[(None,), (1,)], [(3,), (2,)]]


@pytest.mark.parametrize("clustered", [False, True])
def test_a_file_is_made_for_each_time_that_the_bytes_fill_one(clustered: bool) -> None:
    db = made()
    if clustered:
        db.sql("ALTER TABLE t CLUSTER BY (v)")
    for row in range(20):
        db.sql(f"INSERT INTO t VALUES ({row}, {row % 7})")
    rows = db.rows("t")
    total = sum(file.size for file in db.snapshot("t").all_files())
    db.settings = Settings(optimize_max_file_size=total // 4)
    db.sql("OPTIMIZE t" if clustered else "OPTIMIZE t ZORDER BY (v)")
    files = db.snapshot("t").all_files()
    assert len(files) == 4
    assert len({(file.tags or {}).get("ZCUBE_ID") for file in files}) == 1
    assert sorted(db.rows("t")) == sorted(rows)

"""Numbers are addressed, so that nobody's draws depend on who else draws, or how often."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from whitecap.sim.time.draws import DrawnColumns, DrawTable, block_of
from whitecap.sim.time.random_streams import RandomSource, RandomStreams, row_of


def _first(streams: RandomStreams, component: str, entity: str, count: int = 50) -> list[float]:
    source = streams.source(component, entity)
    return [source.uniform(0, place) for place in range(count)]


def test_a_number_is_the_same_whoever_drew_before_it() -> None:
    alone = _first(RandomStreams(7), "think", "loader-1")
    streams = RandomStreams(7)
    for other in range(20):
        _first(streams, "think", f"other-{other}")
    assert _first(streams, "think", "loader-1") == alone


def test_seed_replication_component_and_entity_each_make_another_source() -> None:
    variants = [
        _first(RandomStreams(7), "think", "a"),
        _first(RandomStreams(8), "think", "a"),
        _first(RandomStreams(7, replication=1), "think", "a"),
        _first(RandomStreams(7), "compute", "a"),
        _first(RandomStreams(7), "think", "b"),
    ]
    assert len({tuple(draws) for draws in variants}) == len(variants)


def test_component_and_entity_are_not_glued_together() -> None:
    assert _first(RandomStreams(1), "a", "bc") != _first(RandomStreams(1), "ab", "c")


def test_a_matrix_holds_the_numbers_that_are_drawn_one_by_one() -> None:
    source = RandomStreams(3).source("x", "y")
    rows, places = [row_of(5), row_of(5, 1), row_of(10**6, 40)], [0, 1, 7 << 40 | 3]
    single = [[source.uniform(row, place) for place in places] for row in rows]
    assert source.uniforms(rows, places).tolist() == single


def test_runs_of_a_job_have_numbers_of_their_own() -> None:
    rows = [row_of(job, rerun) for job in range(300) for rerun in range(300)]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize(
    ("rows", "places"),
    [
        (range(200_000), [0]),
        ([row_of(job) for job in range(200_000)], [3 << 40]),
        ([0], range(200_000)),
        ([1], [number << 24 for number in range(200_000)]),
    ],
)
def test_numbers_are_uniform_and_unrelated_along_rows_and_places(rows, places) -> None:  # type: ignore[no-untyped-def]
    draws = RandomSource(12345).uniforms(rows, places).ravel()
    counted = np.histogram(draws, 100, (0, 1))[0]
    chi_squared = ((counted - 2000.0) ** 2 / 2000).sum()
    assert 55 < chi_squared < 160  # 99 degrees of freedom: beyond, less than once in a thousand
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(draws[:-lag], draws[lag:])[0, 1]) < 4 / 200_000**0.5


def test_a_row_is_the_same_in_whichever_block_it_was_made() -> None:
    source = RandomStreams(3).source("x", "y")
    columns = [DrawnColumns([0, 4], lambda u: u), DrawnColumns([9], lambda u: 10 * u)]

    def table() -> DrawTable:
        return DrawTable(source, columns)

    jobs = [0, 7, 8, 63, 64, 65, 200, 3]
    for rerun in (0, 1, 5):
        kept = table()
        assert [kept.row(job, rerun) for job in jobs] == [table().row(job, rerun) for job in jobs]
    first, second, third = table().row(65, 2)
    row = row_of(65, 2)
    assert [first, second] == [source.uniform(row, 0), source.uniform(row, 4)]
    assert third == 10 * source.uniform(row, 9)


def test_draws_that_are_made_ahead_take_little_more_than_eight_bytes_each() -> None:
    draws = DrawTable(RandomStreams(3).source("x", "y"), [DrawnColumns(range(64), lambda u: u)])
    tracemalloc.start()
    draws.row(100)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    made_ahead = len(block_of(100, 0, 64)) * 64
    assert kept_bytes < 1.5 * 8 * made_ahead

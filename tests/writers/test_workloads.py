"""Choices follow the distributions that a scenario names; rows lie where their slice says."""

from __future__ import annotations

from collections import Counter
from datetime import date
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sim.sim_worlds import TABLE, document
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import scenario_of
from whitecap.sim.quantities.bounds import MAX_JOBS
from whitecap.sim.quantities.start import DEFAULT_START_MS
from whitecap.sim.scenario.parameters import ChoiceSection, Parameter
from whitecap.sim.scenario.table import TableSection
from whitecap.sim.table.rows import ScenarioRows
from whitecap.sim.table.slices import InitialSlices, KeysInUse
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.writers.choices import ALONE, EXACT_RANKS, Member, pick, zipf_rank
from whitecap.sim.writers.workload import NewKeys, Workload, draws_for

DAY_MS = 86_400_000.0
DRAWS = RandomStreams(1).source("new keys", "w")


def _workload(parameters: dict[str, Any], member: Member = ALONE, **table: Any) -> Workload:
    rows = ScenarioRows.of(TableSection.model_validate({**TABLE, **table}), DEFAULT_START_MS)
    parsed = {name: Parameter.model_validate(given) for name, given in parameters.items()}
    draws_of = draws_for(rows, parsed, RandomStreams(1).source("workload", "w"))
    keys = KeysInUse(rows.initial)
    return Workload(rows, parsed, draws_of, keys, NewKeys(3, draws=DRAWS), DEFAULT_START_MS, member)


def _values(parameters: dict[str, Any], name: str, count: int = 4000) -> Counter[Any]:
    workload = _workload(parameters)
    return Counter(workload.work(job, 0.0).values[name] for job in range(count))


def test_uniform_takes_every_value_equally_often() -> None:
    counts = _values({"date": "uniform"}, "date")
    assert sorted(counts) == [date(2026, 1, 12), date(2026, 1, 13), date(2026, 1, 14)]
    assert all(count == pytest.approx(4000 / 3, rel=0.1) for count in counts.values())


def test_newest_takes_the_last_days_only() -> None:
    counts = _values({"date": {"newest": {"within": 2}}}, "date")
    assert sorted(counts) == [date(2026, 1, 13), date(2026, 1, 14)]


def test_the_newest_day_moves_on_at_midnight() -> None:
    workload = _workload({"date": "newest"})
    days = [workload.work(n, n * DAY_MS).values["date"].day for n in range(4)]
    assert days == [14, 15, 16, 17]


def test_zipf_prefers_the_newest_day_and_the_first_listed_value() -> None:
    days = _values({"date": {"zipf": {"exponent": 1.0}}}, "date")
    weights = [1, 1 / 2, 1 / 3]
    for day, weight in zip((14, 13, 12), weights, strict=True):
        expected = 4000 * weight / sum(weights)
        assert days[date(2026, 1, day)] == pytest.approx(expected, rel=0.1)
    countries = _values({"country": {"zipf": {"exponent": 1.0}}}, "country")
    assert countries["DE"] == pytest.approx(4000 * 2 / 3, rel=0.05)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("size", [1, 7, EXACT_RANKS, 3 * EXACT_RANKS])
def test_zipf_ranks_have_the_weights_of_zipfs_law(exponent: float, size: int) -> None:
    draws = 20_000
    ranks = Counter(zipf_rank(exponent, size, (n + 0.5) / draws) for n in range(draws))
    total = sum(k**-exponent for k in range(1, size + 1))
    assert min(ranks) >= 0
    assert max(ranks) < size
    for border in {1, size // 3 + 1, size}:
        expected = sum(k**-exponent for k in range(1, border + 1)) / total
        share = sum(count for rank, count in ranks.items() if rank < border) / draws
        assert share == pytest.approx(expected, abs=0.003)


def test_a_pick_is_always_below_the_size() -> None:
    almost_one = 1 - 2**-53
    for choice in ("uniform", {"zipf": {"exponent": 1.2}}, {"newest": {"within": 5}}):
        for size in (1, 2, 3, 10_000):
            assert 0 <= pick(ChoiceSection.model_validate(choice), size, almost_one) < size


def test_each_member_has_a_value_of_its_own_until_there_are_no_more() -> None:
    made = [
        _workload({"date": "member", "country": "member", "n": "member"}, Member(number, 4))
        for number in (1, 2, 3, 4)
    ]
    values = [workload.work(0, 0.0).values for workload in made]
    assert [value["date"].day for value in values] == [14, 13, 12, 14]
    assert [value["country"] for value in values] == ["DE", "FR", "DE", "FR"]
    assert [value["n"] for value in values] == [1, 2, 3, 4]
    assert made[1].work(1, DAY_MS).values["date"].day == 14


def test_members_choose_keys_in_parts_that_cover_all_and_do_not_overlap() -> None:
    parts = []
    for number in (1, 2, 3):
        keys = {"keys": {"keys": {"count": 5, "choose": "member"}}, "date": "newest"}
        workload = _workload({**keys, "country": {"value": "DE"}}, Member(number, 3))
        works = (workload.work(job, 0.0) for job in range(200))
        parts.append({key for work in works for key in work.values["keys"]})
    assert not parts[0] & parts[1] | parts[0] & parts[2] | parts[1] & parts[2]
    assert sorted(len(part) for part in parts) == [6, 7, 7]


def test_new_rows_lie_in_the_chosen_slice_and_have_keys_of_their_own() -> None:
    workload = _workload({"date": "newest", "rows": {"rows": {"count": 5}}})
    made = [row for n in range(50) for row in workload.work(n, n * 10.0).values["rows"]]
    assert {row[1] for row in made} == {date(2026, 1, 14)}
    assert {row[2] for row in made} == {"DE", "FR"}
    keys = [row[0] for row in made]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)


def test_writers_never_give_the_same_key() -> None:
    writers = [NewKeys(code, 120, DRAWS) for code in (0, 1, 2**19 - 1)]
    most = 4096
    given = [
        list(islice(keys.of_job(job, most), most)) for keys in writers for job in range(0, 99, 5)
    ]
    assert all(keys == sorted(keys) for keys in given)
    assert len({key for keys in given for key in keys}) == len(given) * most
    assert min(map(min, given)) >= 120
    last = NewKeys(2**19 - 1, 2**62, DRAWS).of_job(MAX_JOBS, most)
    assert max(last) < 2**63


@pytest.mark.parametrize("parameters", [1, 15, 16])
def test_a_job_has_keys_for_the_most_rows_of_each_of_its_parameters(parameters: int) -> None:
    most = parameters * 4096
    first = [NewKeys(code, draws=DRAWS).of_job(0, most) for code in (0, 1)]
    assert all(len(list(keys)) >= most for keys in first)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("n", [2, 3, 10, 16, 64, 100])
def test_new_rows_have_every_remainder_equally_often(count: int, n: int) -> None:
    schema = "event_id BIGINT, v INT, amount DOUBLE"
    parameters = {"rows": {"rows": {"count": count}}}
    workload = _workload(parameters, schema=schema, partition_by=[], values={})
    jobs = 200 * n
    made = [row for job in range(jobs) for row in workload.work(job, 0.0).values["rows"][:1]]
    for column in (0, 1):
        remainders = Counter(row[column] % n for row in made)
        chi_square = sum((remainders[each] - 200) ** 2 / 200 for each in range(n))
        assert chi_square < n - 1 + 4 * (2 * n) ** 0.5


def test_keys_are_chosen_from_the_slice_that_the_other_parameters_name() -> None:
    parameters = {"date": "newest", "country": "uniform", "keys": {"keys": {"count": 4}}}
    workload = _workload(parameters)
    slices = InitialSlices(120, ScenarioRows.of(TableSection(**TABLE), DEFAULT_START_MS).dimensions)
    for job in range(100):
        values = workload.work(job, 0.0).values
        assert 1 <= len(set(values["keys"])) == len(values["keys"]) <= 4
        for key in values["keys"]:
            assert slices.slice_of(key) == (values["date"], values["country"])


def test_the_initial_rows_are_spread_evenly_over_their_slices() -> None:
    rows = ScenarioRows.of(TableSection(**TABLE), DEFAULT_START_MS)
    counted = Counter(rows.initial.slice_of(key) for key in range(120))
    assert len(counted) == 6
    assert set(counted.values()) == {20}
    for slice_, count in counted.items():
        keys = list(rows.initial.keys_of(slice_))
        assert len(keys) == count
        assert {rows.initial.slice_of(key) for key in keys} == {slice_}


@given(st.integers(0, 119), st.integers(0, 119), st.integers(1, 9))
def test_the_slices_of_a_range_of_rows_are_those_of_each(begin: int, end: int, step: int) -> None:
    initial = ScenarioRows.of(TableSection(**TABLE), DEFAULT_START_MS).initial
    keys = range(begin, end, step)
    assert initial.slices_of(keys) == [initial.slice_of(key) for key in keys]


def test_existing_rows_are_changed_in_all_but_their_key_and_slice() -> None:
    workload = _workload({"rows": {"rows": {"count": 10, "existing": 1.0}}})
    rows = ScenarioRows.of(TableSection(**TABLE), DEFAULT_START_MS)
    existing = workload.work(0, 0.0).values["rows"]
    assert len(existing) == 10
    for row in existing:
        before = rows.maker.row(row[0], (row[1], row[2]))
        assert row[:3] == before[:3]
        assert row[3] != before[3]


@pytest.mark.parametrize(("count", "share"), [(1, 0.4), (5, 0.1), (3, 0.5), (7, 0.7)])
def test_a_share_of_existing_rows_holds_on_average_where_no_job_can_have_it(
    count: int, share: float
) -> None:
    workload = _workload({"rows": {"rows": {"count": count, "existing": share}}})
    jobs = 2_000
    existing = sum(count - len(workload.work(job, 0.0).new_keys) for job in range(jobs))
    error = (share * (1 - share) / (count * jobs)) ** 0.5  # of as many rows drawn apart
    assert existing / (count * jobs) == pytest.approx(share, abs=4 * error)


def test_rows_are_the_same_whatever_the_layout() -> None:
    from whitecap.sim.table.initial_files import partitions

    for layout in ([], ["date"], ["country"], ["date", "country"], ["country", "date"]):
        table = TableSection.model_validate({**TABLE, "partition_by": layout})
        rows = ScenarioRows.of(table, DEFAULT_START_MS)
        parts = partitions(rows, layout, 20)
        files = [file.keys() for partition in parts for file in partition.files(rows)]
        assert sorted(key for keys in files for key in keys) == list(range(120))
        assert all(len(keys) <= 20 for keys in files)
        assert all(list(partition.values) == layout for partition in parts)


def test_where_there_is_no_row_to_change_a_new_one_is_made() -> None:
    workload = _workload({"rows": {"rows": {"count": 3, "existing": 1.0}}}, initial={"rows": 0})
    work = workload.work(0, 0.0)
    assert len(work.values["rows"]) == len(work.new_keys) == 3


def test_a_batch_of_a_stream_is_of_no_member() -> None:
    stream = {
        "streaming": {"checkpoint": "clicks", "rows": {"choose": "member"}},
        "parameters": {"country": "member"},
        "arrival": "closed",
    }
    with pytest.raises(InvalidInput) as raised:
        scenario_of(document(writers={"s": stream}))
    places = [str(problem.place).split()[-1] for problem in raised.value.problems]
    assert places == ["writers.s.streaming.rows.choose", "writers.s.parameters.country"]

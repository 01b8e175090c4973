"""Requests for data files count against a store's limits, and what is refused takes longer."""

from __future__ import annotations

import math
from collections import Counter as TallyOfSpans
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sim.sim_worlds import INSERT, UPDATE, ran, rows, scenario
from whitecap.engine.errors import InvalidInput
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.store import Limits
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.store.requests.limits import (
    SPAN_MS,
    Counter,
    DataRequests,
    LimitsBite,
    Throttle,
    TokenBucket,
)

ONE_PUT = {"data_files": {"read": [], "write": ["put"], "source": "me"}}
EVERY = {"schedule": {"every": "10 s"}}


def _throttle(in_order: bool = True, **limits: Any) -> Throttle:
    return Throttle(Limits(source="me", **limits), in_order, lambda: 0.0)


# Counting ------------------------------------------------------------------------------------


def test_a_bucket_refuses_as_many_of_several_as_one_after_the_other() -> None:
    together, apart = TokenBucket(10), TokenBucket(10)
    for now_ms in (0.0, 150.0, 400.0, 2000.0):
        refused = sum(apart.refuses(1, now_ms) for _ in range(7))
        assert together.refuses(7, now_ms) == refused


def test_a_counter_gives_up_where_a_bucket_might_refuse() -> None:
    counter = Counter(10, lambda: 0.0)
    counter.passes(100.0)
    assert counter.refuses(4, 100.0) == counter.refuses(5, 500.0) == 0
    counter.settle()
    counter.passes(499.0)
    with pytest.raises(LimitsBite):
        counter.settle()


@given(
    st.lists(
        st.tuples(
            st.integers(1, 40),
            st.floats(0, 200_000),
            st.one_of(st.just(0.0), st.floats(0, 150_000)),
        ),
        max_size=30,
    )
)
def test_a_counter_gives_up_as_soon_as_a_half_second_is_too_full(
    jobs: list[tuple[int, float, float]],
) -> None:
    counter, spans = Counter(30, lambda: 0.0), TallyOfSpans[int]()
    for count, began_ms, spent_ms in jobs:
        pieces = min(count, max(1, math.ceil(spent_ms / SPAN_MS)))
        for request in range(count):
            piece = next(at for at in range(pieces) if request < count * (at + 1) // pieces)
            spans[int((began_ms + spent_ms * (piece + 0.5) / pieces) / SPAN_MS)] += 1
        counter.passes_evenly(count, began_ms, spent_ms)
        if max(spans.values()) > 15:
            with pytest.raises(LimitsBite):
                counter.settle()
            return
        counter.settle()


def test_requests_of_a_job_are_spread_over_its_time_and_all_are_there() -> None:
    data = DataRequests(
        _throttle(reads_per_s=1, writes_per_s=1), (RequestKind.GET,) * 3, (RequestKind.PUT,)
    )
    pulses = data.pulses(["d=1/a", "d=1/b", "d=2/c"], ["d=1/x"] * 40, 10_000.0)
    assert sum(pulse.requests for pulse in pulses) == 3 * 3 + 40
    times = [pulse.after_ms for pulse in pulses]
    assert times == sorted(times)
    assert 0 < times[0] < times[-1] < 10_000
    assert len(pulses) == 6 + 3 + 20  # at most one each half second


@pytest.mark.parametrize(("of_each", "shared"), [("prefix", False), ("account", True)])
def test_a_prefix_has_limits_of_its_own_and_an_account_has_one(of_each: str, shared: bool) -> None:
    throttle = _throttle(writes_per_s=5, reads_per_s=5, of_each=of_each)
    of_log = throttle.buckets[RequestKind.PUT]
    first, second = (throttle.of_data(directory, RequestKind.PUT) for directory in ("d=1", "d=2"))
    assert (first is second) == (first is of_log) == shared
    assert throttle.of_data("d=1", RequestKind.COPY) is first
    assert throttle.of_data("d=1", RequestKind.GET) is not first


def test_all_requests_may_have_one_limit_of_which_others_take_a_part() -> None:
    throttle = _throttle(requests_per_s=10, others_per_s=4, of_each="account")
    kinds = (
        RequestKind.GET,
        RequestKind.PUT,
        RequestKind.LIST,
        RequestKind.HEAD,
        RequestKind.COPY,
        RequestKind.DELETE,
        RequestKind.PUT,
    )
    assert [throttle.refuses(kind, 0.0) for kind in kinds] == [False] * 6 + [True]
    assert not throttle.refuses(RequestKind.PUT_ITEM, 0.0)  # another service


# In runs -------------------------------------------------------------------------------------


def _ran(limits: dict[str, Any], store: dict[str, Any] = ONE_PUT, **writer: Any) -> FinishedRun:
    """A writer that puts one file every ten seconds into one partition, ten files at least."""
    loader = {**INSERT, "arrival": EVERY, "compute": "1 s", **writer}
    given = {"profile": "s3", "limits": limits, "client": {"backoff_cap": "500 ms"}, **store}
    return ran(store=given, duration="2 min", writers={"loader": loader})


def _compute_ms(run: FinishedRun) -> list[float]:
    return [row["compute_ms"] for row in rows(run) if row["outcome"] == "committed"]


def _crowded(of_each: str) -> FinishedRun:
    """Four jobs that begin at once, each with as many requests as a second has."""
    files = {"read": ["get"] * 60, "write": ["put"] * 60, "source": "me"}
    limits = {"writes_per_s": 60, "reads_per_s": 60, "of_each": of_each}
    return _ran(limits, store={"data_files": files}, count=4)


def _throttled(run: FinishedRun) -> int:
    """How many requests for the log were refused."""
    return sum(row["result"] == "throttled" for row in rows(run, "requests"))


def test_a_crowded_prefix_delays_jobs_and_the_log_has_one_of_its_own() -> None:
    run = _crowded("prefix")
    assert max(_compute_ms(run)) > 2000
    assert _throttled(run) == 0


def test_jobs_get_through_at_the_rate_of_their_limit() -> None:
    """Each job puts 200 times and a second has 50 of them: four seconds, or one less at first."""
    puts = {"read": [], "write": ["put"] * 200, "source": "me"}
    run = _ran({"writes_per_s": 50, "reads_per_s": 5000}, store={"data_files": puts})
    times_s = [ms / 1000 for ms in _compute_ms(run)]
    assert len(times_s) > 8
    assert all(3.0 <= time_s < 5.0 for time_s in times_s)


def test_data_files_and_the_log_share_an_account() -> None:
    run = _crowded("account")
    assert max(_compute_ms(run)) > 2000
    assert _throttled(run) > 0


def test_a_job_whose_requests_are_refused_too_often_fails() -> None:
    puts = {"read": [], "write": ["put"] * 500, "source": "me"}
    client = {"throttle_retries": 1, "backoff_base": "10 ms"}
    run = _ran({"writes_per_s": 10, "reads_per_s": 999}, {"data_files": puts, "client": client})
    ended = [row for row in rows(run) if row["outcome"] != "in_flight"]
    assert {row["rule"] for row in ended} == {"store_refused"}
    assert {row["outcome"] for row in ended} == {"aborted"}
    assert all(row["message"] == "a data file's request was throttled 2 times" for row in ended)


def test_what_a_job_reads_counts_as_well() -> None:
    reads = {"data_files": {"read": ["get"] * 200, "write": [], "source": "me"}}
    corrector = {**UPDATE, "arrival": EVERY, "compute": "1 s"}
    limits = {"writes_per_s": 5000, "reads_per_s": 100}
    store = {"profile": "s3", "limits": limits, **reads}
    run = ran(store=store, duration="1 min", writers={"corrector": corrector})
    assert max(_compute_ms(run)) > 2000


@pytest.mark.parametrize("profile", ["s3", "azure", "gcs", "s3-express"])
def test_where_no_limit_is_reached_a_run_is_as_without_data_files(profile: str) -> None:
    assert scenario(store={"profile": profile}).store.data_files is not None
    runs = [
        run_scenario(scenario(store={"profile": profile, **without}))
        for without in ({}, {"data_files": None}, {"limits": {"source": "none"}})
    ]
    tables = [run.recording.tables for run in runs]
    assert tables[0] == tables[1] == tables[2]
    assert not any(run.world.kernel.patient for run in runs)


# The vendor's library ------------------------------------------------------------------------

SDK = {"attempts": 3, "backoff_base": "1 s", "backoff_cap": "20 s", "source": "me"}


def _waits(sdk: dict[str, Any] | None, retries: int) -> list[float]:
    """Between the sendings of requests that are always refused; backoff at its longest."""
    client = {"throttle_retries": retries, "backoff_base": "500 ms", "sdk": sdk}
    every = {"throttling": {"probability": 1, "requests": ["list"]}}
    writer = {**INSERT, "arrival": {"schedule": {"at": ["1 s"]}}}
    store = {"profile": "s3", "client": client, "list": {"latency": "0 ms"}}
    run = ran(store=store, writers={"w": writer}, faults=[every], duration="10 min")
    sent_ms = [r["sent_at_ms"] for r in rows(run, "requests") if r["kind"] == "list"]
    return [after - before for before, after in pairwise(sent_ms)]


def test_each_retry_is_made_of_the_librarys_attempts() -> None:
    assert len(_waits(None, 3)) == 3
    assert len(_waits(SDK, 3)) == 3 * 3 + 2


def test_the_library_waits_its_own_times() -> None:
    """With full jitter a wait is at most its bound: 1 s, 2 s, then half a second doubling."""
    bounds_ms = [1000, 2000, 500] * 3 + [1000, 2000]
    bounds_ms[5], bounds_ms[8] = 1000, 2000
    waits_ms = _waits(SDK, 3)
    assert all(wait <= bound for wait, bound in zip(waits_ms, bounds_ms, strict=True))
    assert sum(waits_ms) > 0.2 * sum(bounds_ms)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"requests_per_s": 5}, "give requests_per_s, or writes_per_s and reads_per_s"),
        ({"others_per_s": 4000}, "others_per_s leaves nothing"),
        ({"of_each": "bucket"}, "of_each"),
    ],
)
def test_limits_that_do_not_fit_are_refused(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        scenario(store={"profile": "s3", "limits": limits})

"""However a scenario is run, recorded, patiently, with faults that never strike: one recording.

Processes go ahead of the kernel where nobody else is concerned (`sim/time/kernel.py`). That may
change how many events a run takes, and nothing else.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, event, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.sim.sim_worlds import TABLE
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, finished, run_scenario
from whitecap.sim.scenario import Scenario
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import World

Document = dict[str, Any]

STATEMENTS = {
    "INSERT INTO events VALUES :rows": {"rows": {"rows": {"count": 2}}},
    "UPDATE events SET amount = 0.5 WHERE date = :date": {"date": {"newest": {"within": 2}}},
    "DELETE FROM events WHERE event_id IN (:keys)": {"keys": {"keys": {"count": 1}}},
    "MERGE INTO events t USING (SELECT * FROM VALUES :rows AS v(event_id, date, country, amount)) "
    "s ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *": {
        "rows": {"rows": {"count": 2, "existing": 0.5}}
    },
    "OPTIMIZE events": {},
    "INSERT INTO events SELECT event_id + 1000000, date, country, amount FROM events": {},
    "VACUUM events": {},
}
USUAL = list(STATEMENTS)[:5]

TIMES = st.sampled_from(["0 ms", "40 ms", "1 s", {"exponential": {"mean": "300 ms"}}])
PAUSES = st.sampled_from(["100 ms", "400 ms", {"exponential": {"mean": "1 s"}}])
ARRIVALS = st.one_of(
    PAUSES.map(lambda think: {"closed": {"think": think}}),
    st.sampled_from([None, 1, 2]).map(
        lambda most: {"open": {"rate": "1 per s"} | ({"concurrency": most} if most else {})}
    ),
    st.sampled_from(["700 ms", "2 s"]).map(lambda every: {"schedule": {"every": every}}),
)
RERUNS = st.sampled_from(
    ["none", {"fixed": {"wait": "0 ms", "budget": 2}}, {"fixed": {"wait": "1 s", "budget": 1}}]
)


@st.composite
def writers(draw: st.DrawFn) -> Document:
    """One group: a statement or a stream, in a cluster of its own or with others."""
    group: Document = {
        "count": draw(st.sampled_from([1, 1, 2, 3])),
        "arrival": draw(ARRIVALS),
        "compute": draw(TIMES),
        "rerun": draw(RERUNS),
    }
    if draw(st.booleans()):
        group["cluster"] = draw(st.sampled_from(["etl", "ad hoc"]))
    if draw(st.integers(0, 4)) == 0:
        return group | {"streaming": {"checkpoint": "c", "rows": {"count": 2}}}
    statement = draw(st.sampled_from(USUAL * 8 + list(STATEMENTS)))
    return group | {"statement": statement, "parameters": STATEMENTS[statement]}


CONSTANT: Document = {
    "list": {"latency": "20 ms", "per_1000_keys": "0 ms"},
    "get": {"latency": "20 ms", "per_mib": "0 ms"},
    "head": {"latency": "20 ms"},
    "put": {"latency": "20 ms", "per_mib": "0 ms"},
    "put_if_absent": {"success": {"latency": "20 ms"}, "loss": {"latency": "20 ms"}},
    "spark": {"job": "20 ms"},
}
"""So that many come to the same instants."""


SERVICES = st.sampled_from(["0 ms", "20 ms", "300 ms", {"exponential": {"mean": "60 ms"}}])
WAYS = st.sampled_from(["0 ms", "20 ms", {"exponential": {"mean": "20 ms"}}])


@st.composite
def queues(draw: st.DrawFn) -> Document:
    """A put-if-absent that waits at its key, served at once or for long, by chance or not."""
    at_key = {
        "success": draw(SERVICES),
        "loss": draw(SERVICES),
        "effect_share": draw(st.sampled_from([0, 0.25, 1])),
        "source": "drawn",
    }
    answers = {name: {"back": draw(WAYS)} for name in ("success", "loss")}
    return {"out": draw(WAYS), "at_key": at_key, **answers}


PROFILES = [
    *("s3", "azure", "gcs", "local", "instant"),
    *("s3-dynamodb", "s3-dynamodb", "s3-single-driver", "hdfs", "abfs"),
    *("catalog-managed", "catalog-managed"),
]
"""Of each commit protocol at least one, of those with most to go wrong two."""


@st.composite
def stores(draw: st.DrawFn) -> Document:
    """A profile, perhaps with constant latencies, a queue, narrow limits, no put-if-absent."""
    store: Document = {"profile": draw(st.sampled_from(PROFILES))}
    if draw(st.booleans()):
        store |= {name: dict(part) for name, part in CONSTANT.items()}
    if draw(st.booleans()):
        store["put_if_absent"] = draw(queues())
    if draw(st.booleans()):
        store["list"] = store.get("list", {}) | {"page_size": draw(st.integers(1, 30))}
    if draw(st.integers(0, 7)) == 0:
        limits = {
            name: draw(st.sampled_from([2, 8, 50])) for name in ("writes_per_s", "reads_per_s")
        }
        store["limits"] = limits | {"of_each": draw(st.sampled_from(["prefix", "account"]))}
        if "azure" in store["profile"] or store["profile"] == "abfs":
            store["limits"] |= {"requests_per_s": None}
        store["data_files"] = {"read": ["get"], "write": ["put"] * 3, "source": "drawn"}
    if draw(st.integers(0, 9)) == 0:
        store["put_if_absent"] = store.get("put_if_absent", {}) | {"exclusive": False}
    spark = store.get("spark", {}) | {"fast_listing": draw(st.booleans())}
    store["spark"] = spark | {"parallel_reads": draw(st.sampled_from([1, 3, 8]))}
    store["client"] = {
        "timeout": "2 s",
        "on_lost_reply": draw(st.sampled_from(["surface", "resend", "resend_and_check"])),
    }
    return store


FAULTS = st.lists(
    st.sampled_from(
        [
            {"lost_reply": {"probability": 0.1}},
            {"lost_reply": {"probability": 0.1, "requests": ["put_item", "ratify", "rename"]}},
            {"lost_reply": {"probability": 0.05, "requests": ["get", "list", "head", "copy"]}},
            {"late_effect": {"probability": 0.1, "delay": "1 s"}},
            {"throttling": {"probability": 0.1}},
            {"writer_crash": {"rate": "6 per min", "restart": "1 s"}},
            {"writer_crash": {"rate": "6 per min", "restart": "0 ms"}, "between": ["5 s", "9 s"]},
        ]
    ),
    max_size=2,
)

NEVER: list[Document] = [
    {"throttling": {"probability": 1e-300}},
    {"lost_reply": {"probability": 1e-300, "requests": ["list", "get", "put_if_absent"]}},
    {"late_effect": {"probability": 1e-300, "delay": "1 s"}},
    {"writer_crash": {"rate": "0.001 per d", "restart": "1 s"}},
]
"""Faults that might strike any request, and strike none."""

PAST_LOGS = st.sampled_from(
    [None, {"commits": 7}, {"rate": "1 per h"}, {"rate": "1 per d", "retention": "2 d"}]
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A scenario of some seconds."""
    properties: Document = {"delta.checkpointInterval": draw(st.sampled_from([2, 3, 10]))}
    if draw(st.integers(0, 3)) == 0:
        properties["delta.autoOptimize.autoCompact"] = "true"
    table = {**TABLE, "properties": properties, "initial": {"rows": 12, "rows_per_file": 2}}
    store = draw(stores())
    if store["profile"] == "catalog-managed":
        properties["delta.enableInCommitTimestamps"] = "true"
    past = draw(PAST_LOGS)
    groups = draw(st.lists(writers(), min_size=1, max_size=3))
    return {
        "name": "drawn",
        "seed": draw(st.integers(1, 10_000)),
        "start": "2026-01-14 23:59:55",
        "duration": "12 s",
        "store": store,
        "table": table | ({} if past is None else {"log": past}),
        "writers": {f"w{number}": group for number, group in enumerate(groups)},
        "faults": draw(FAULTS),
    }


def _patient(scenario: Scenario, requests: bool) -> FinishedRun:
    world = World.of(scenario, RandomStreams(scenario.seed, 0), requests, patient=True)
    world.start()
    world.kernel.run_until(scenario.duration)
    return finished(world)


def _content(run: FinishedRun) -> dict[str, Any]:
    """Everything but the requests, and every byte of the log."""
    tables = run.recording.tables
    content: dict[str, Any] = {n: t.to_pylist() for n, t in tables.items() if n != "requests"}
    log = {key: (kept.body, kept.entry) for key, kept in run.world.store.objects.items()}
    return content | {"log": log}


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
@given(documents())
def test_all_ways_make_the_same_recording(document: Document) -> None:
    scenario = scenario_of(document)
    ahead = run_scenario(scenario)
    event(f"patient: {ahead.world.kernel.patient}")
    expected = _content(ahead)
    assert _content(_patient(scenario, requests=False)) == expected
    recorded, patient = run_scenario(scenario, requests=True), _patient(scenario, requests=True)
    assert _content(recorded) == expected
    assert _content(patient) == expected
    requests = recorded.recording.tables["requests"]
    assert requests.num_rows
    assert patient.recording.tables["requests"].equals(requests)
    never = scenario_of({**document, "faults": document["faults"] + NEVER})
    assert _content(run_scenario(never)) == expected

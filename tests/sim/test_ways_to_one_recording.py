"""However a scenario is run, recorded, patiently, with faults that never strike: one recording.

Processes go ahead of the kernel where nobody else is concerned (`sim/time/kernel.py`). That may
change how many events a run takes, and nothing else.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, event, given, reject
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.sim.sim_worlds import INSERT, TABLE, scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.log.commit_file import decode_commit, log_key
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, finished, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.contents.history import CommitHistory
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld

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
ARRIVALS: st.SearchStrategy[Document] = st.one_of(
    PAUSES.map(lambda think: {"closed": {"think": think}}),
    st.sampled_from([None, 1, 2]).map(
        lambda most: {"open": {"rate": "1 per s"} | ({"concurrency": most} if most else {})}
    ),
    st.sampled_from(["700 ms", "2 s"]).map(lambda every: {"schedule": {"every": every}}),
    st.sampled_from(
        [
            {"open": {"rate": "1 per s", "batch": 2}},
            {"open": {"rate": "1 per s", "bursts": {"every": "3 s", "lasts": "1 s", "times": 5}}},
            {"schedule": {"every": "2 s", "jitter": {"exponential": {"mean": "1 s"}}}},
            {"trace": {"text": "at_s\n1\n1\n2\n2.5\n3\n7\n"}},
        ]
    ),
)
RERUNS = st.sampled_from(
    ["none", {"fixed": {"wait": "0 ms", "budget": 2}}, {"fixed": {"wait": "1 s", "budget": 1}}]
)

CLUSTERS = st.sampled_from(
    [{"slots": 1}, {"slots": 2, "full_speed": 1}, {"full_speed": 1}, {"full_speed": 2}]
)


def _one_at_a_time(arrival: Document) -> Document:
    """The same for a query, whose batches do not overlap."""
    ((kind, options),) = arrival.items()
    limit = {"concurrency": 1} if kind in {"open", "trace"} else {}
    return {kind: options | limit}


@st.composite
def writers(draw: st.DrawFn) -> Document:
    """One group: a statement or a stream, in a cluster of its own or with others."""
    group: Document = {
        "count": draw(st.sampled_from([1, 1, 2, 3])),
        "arrival": draw(ARRIVALS),
        "compute": draw(TIMES),
        "rerun": draw(RERUNS),
    }
    if draw(st.integers(0, 3)) == 0:
        group["deadline"] = draw(st.sampled_from(["500 ms", "3 s"]))
    if draw(st.integers(0, 3)) == 0:
        group["restart"] = {"fixed": {"wait": "200 ms", "budget": 2}, "takes": "300 ms"}
    if draw(st.booleans()):
        group["cluster"] = draw(st.sampled_from(["etl", "ad hoc"]))
    if draw(st.integers(0, 4)) == 0:
        streaming = {"checkpoint": "c", "rows": {"count": 2}}
        return group | {"streaming": streaming, "arrival": _one_at_a_time(group["arrival"])}
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
            {"duplicate_delivery": {"probability": 0.3, "delay": "1 s"}},
            {"conflict_409": {"probability": 0.2}},
            {"pause": {"probability": 0.1, "lasts": "2 s", "requests": ["put", "list"]}},
            {"throttling": {"nth": [2, 5], "requests": ["put"]}},
            {"stale_listing": {"probability": 0.3, "misses": 3}},
        ]
    ),
    max_size=2,
)

NEVER: list[Document] = [
    {"throttling": {"probability": 1e-300}},
    {"lost_reply": {"probability": 1e-300, "requests": ["list", "get", "put_if_absent"]}},
    {"late_effect": {"probability": 1e-300, "delay": "1 s"}},
    {"writer_crash": {"rate": "0.001 per d", "restart": "1 s"}},
    {"pause": {"probability": 1e-300, "lasts": "1 s"}},
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
    named = {group["cluster"] for group in groups if "cluster" in group}
    clusters = {name: draw(CLUSTERS) for name in sorted(named) if draw(st.booleans())}
    return {
        "name": "drawn",
        "clusters": clusters,
        "seed": draw(st.integers(1, 10_000)),
        "start": "2026-01-14 23:59:55",
        "duration": "12 s",
        "store": store,
        "table": table | ({} if past is None else {"log": past}),
        "writers": {f"w{number}": group for number, group in enumerate(groups)},
        "faults": draw(FAULTS),
    }


MORE_STATEMENTS: list[Document] = [
    {"statement": statement, "parameters": parameters}
    for statement, parameters in {
        "ALTER TABLE events ADD COLUMNS (note STRING)": {},
        "ALTER TABLE events SET TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')": {},
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')": {},
        "ALTER TABLE events SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')": {},
        "ALTER TABLE events ADD CONSTRAINT small CHECK (event_id < 268000000)": {},
        "INSERT INTO events (event_id) VALUES :keys": {"keys": {"keys": {"count": 2}}},
        "INSERT INTO events (event_id, date, country, amount) VALUES :rows": {
            "rows": {"rows": {"count": 2}}
        },
    }.items()
]
MORE_PROPERTIES = st.sampled_from(
    [
        {},
        {"delta.enableDeletionVectors": "true"},
        {"delta.enableInCommitTimestamps": "true"},
        {"delta.enableRowTracking": "true"},
        {"delta.columnMapping.mode": "name"},
        {"delta.enableChangeDataFeed": "true"},
        {"delta.dataSkippingNumIndexedCols": "2"},
        {"delta.appendOnly": "true"},
    ]
)
MORE_SETTINGS = st.sampled_from(
    [
        {},
        {"spark.databricks.delta.history.metricsEnabled": "false"},
        {"spark.databricks.delta.commitInfo.userMetadata": "nightly"},
        {"spark.databricks.delta.maxCommitAttempts": "1"},
        {"spark.databricks.delta.commit.idempotencyCheck.enabled": "true"},
        {"whitecap.values.tasks": "2"},
        {"spark.databricks.delta.schema.autoMerge.enabled": "true"},
    ]
)
DIALECTS = st.sampled_from(["delta-oss-4.4", "delta-oss-4.4", "databricks-14.3"])


@st.composite
def documents_with_appends(draw: st.DrawFn) -> Document:
    """Appends among statements that change the table's metadata, in dialects that resolve rows."""
    document = draw(documents())
    table, groups = document["table"], document["writers"]
    table["properties"] |= draw(MORE_PROPERTIES)
    table["isolation"] = draw(st.sampled_from(["Serializable", "WriteSerializable"]))
    appends = draw(writers())
    for name in ("statement", "parameters", "streaming"):
        appends.pop(name, None)
    for number, more in enumerate(draw(st.lists(st.sampled_from(MORE_STATEMENTS), max_size=2))):
        arrival: Document = {"schedule": {"at": [f"{draw(st.integers(1, 9))} s"]}}
        if ":rows" in more["statement"]:
            arrival = draw(ARRIVALS)
        groups[f"m{number}"] = {**more, "arrival": arrival, "compute": draw(TIMES)}
    rows: Document = {"rows": {"rows": {"count": draw(st.integers(1, 3))}}}
    rows |= draw(st.sampled_from([{}, {"country": "uniform"}]))
    insert = {"statement": "INSERT INTO events VALUES :rows", "parameters": rows}
    groups["a"] = appends | insert
    if draw(st.booleans()):
        _let_nothing_befall(document)
    return document | {"dialect": draw(DIALECTS), "settings": draw(MORE_SETTINGS)}


def _let_nothing_befall(document: Document) -> None:
    """Then appends go the shortest way, stale listings or not."""
    document["faults"] = [fault for fault in document["faults"] if "stale_listing" in fault]
    document["store"].pop("limits", None)
    for group in document["writers"].values():
        group.pop("deadline", None)


def _general(scenario: Scenario, requests: bool, patient: bool) -> FinishedRun:
    """Every statement the general way, none by a plan."""
    streams = RandomStreams(scenario.seed, 0)
    world = SimulatedWorld.of(
        scenario, streams, with_requests=requests, patient=patient, with_plans=False
    )
    world.start()
    world.kernel.run_until(scenario.duration)
    return finished(world)


def _patient(scenario: Scenario, requests: bool) -> FinishedRun:
    world = SimulatedWorld.of(
        scenario, RandomStreams(scenario.seed, 0), with_requests=requests, patient=True
    )
    world.start()
    world.kernel.run_until(scenario.duration)
    return finished(world)


def _check_kept_commits(run: FinishedRun) -> None:
    """What is known of commits without reading them is what their files say, in their order."""
    history = CommitHistory(run.world.store, run.world.tables[0].shared.commits)
    for version in range(run.world.initial_version + 1, run.world.store.log.newest + 1):
        commit, stored = history.commit(version), run.world.store.objects[log_key(version)]
        read = decode_commit(stored.body, version, stored.modified_at_ms)
        assert repr(commit) == repr(read)


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


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
@given(documents_with_appends())
def test_plans_make_the_recording_of_the_general_way(document: Document) -> None:
    try:
        scenario = scenario_of(document)
    except InvalidInput:
        reject()
    by_plans = run_scenario(scenario, requests=True)
    _check_kept_commits(by_plans)
    general = _general(scenario, True, by_plans.world.kernel.patient)
    assert _content(by_plans) == _content(general)
    assert by_plans.recording.tables["requests"].equals(general.recording.tables["requests"])
    assert _content(run_scenario(scenario)) == _content(general)


def test_an_append_that_is_shown_no_winner_tries_the_same_version_again() -> None:
    insert = {**INSERT, "count": 4, "arrival": {"closed": {"think": "1 s"}}, "compute": "2 s"}
    stale = {"stale_listing": {"probability": 0.5, "misses": 3}}
    appends = scenario(writers={"etl": insert}, faults=[stale], duration="2 min")
    ahead = run_scenario(appends)
    assert ahead.recording.tables["attempts"].num_rows > 2 * ahead.recording.transactions.num_rows
    assert _content(_general(appends, requests=False, patient=False)) == _content(ahead)

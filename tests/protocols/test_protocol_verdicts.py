"""Where requests take no time, every protocol that excludes gives the verdicts of any other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from tests.sim.test_ways_to_one_recording import Document, documents
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

AT_ONCE = {"latency": "0 ms", "source": "by definition"}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "rename": {"rename": AT_ONCE},
    "dynamodb": {
        "dynamodb": {
            **dict.fromkeys(("get_item", "query", "put_item"), AT_ONCE),
            "source": "by definition",
        }
    },
    "catalog": {"catalog": {"get_commits": AT_ONCE, "ratify": AT_ONCE, "source": "by definition"}},
    "single_driver": {},
}
VERDICT = (
    "transaction_id", "outcome", "read_version", "committed_version", "exception", "rule",
    "winning_version", "attempts", "submitted_at_ms", "ended_at_ms",
)  # fmt: skip


def _verdicts(run: FinishedRun) -> list[dict[str, Any]]:
    rows = run.recording.tables["transactions"].to_pylist()
    return [{name: row[name] for name in VERDICT} for row in rows]


def _on(document: Document, protocol: str, service: dict[str, Any]) -> FinishedRun:
    log_store = {"protocol": protocol, "probe": ["head", "list"]}
    store = {"profile": "instant", "log_store": log_store, **service}
    properties = {**document["table"]["properties"], "delta.enableInCommitTimestamps": "true"}
    table = {**document["table"], "properties": properties}
    writers = {name: {**group, "compute": "40 ms"} for name, group in document["writers"].items()}
    parts = {"store": store, "table": table, "writers": writers, "faults": []}
    return run_scenario(scenario_of({**document, **parts}))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@hypothesis_settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_on_an_instant_store_verdicts_are_those_of_a_conditional_put(
    protocol: str, document: Document
) -> None:
    expected = _on(document, "conditional_put", {})
    run = _on(document, protocol, PROTOCOLS[protocol])
    assert _verdicts(run) == _verdicts(expected)
    assert not run.world.store.overwritten

"""Every field of the services beside a store changes what is recorded where a protocol has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, rows, scenario
from whitecap.sim.run import run_scenario

BASE: dict[str, Any] = {
    "duration": "3 min",
    "table": {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}},
    "writers": {
        "w": {**INSERT, "count": 3, "arrival": {"schedule": {"every": "5 s"}}, "compute": "1 s"}
    },
}
SLOW = {"store.put.latency": "900 ms"}
CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "probe": ("s3-dynamodb", {}, {"store.log_store.probe": ["head"]}),
    "get_item": ("s3-dynamodb", {}, {"store.dynamodb.get_item.latency": "90 ms"}),
    "put_item": ("s3-dynamodb", {}, {"store.dynamodb.put_item.latency": "90 ms"}),
    "query": ("s3-dynamodb", {}, {"store.dynamodb.query": {"out": "50 ms", "back": "9 ms"}}),
    "ttl": ("s3-dynamodb", SLOW, {"store.dynamodb.ttl": "0 s"}),
    "get_commits": ("catalog-managed", {}, {"store.catalog.get_commits.latency": "90 ms"}),
    "ratify": ("catalog-managed", {}, {"store.catalog.ratify.latency": "90 ms"}),
}
"""By field: a profile, what is changed beforehand, and the change of the field."""


def _requests(profile: str, changes: dict[str, Any]) -> list[dict[str, Any]]:
    run = run_scenario(scenario(changes, store={"profile": profile}, **BASE), requests=True)
    return rows(run, "requests")


@pytest.mark.parametrize("field", CHANGES)
def test_changing_a_field_of_a_service_changes_some_request(field: str) -> None:
    profile, before, change = CHANGES[field]
    assert _requests(profile, before | change) != _requests(profile, before)

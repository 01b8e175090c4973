"""What only some stores have changes what is recorded where they do: each field of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sim.sim_worlds import INSERT, TABLE, UPDATE, rows, scenario
from whitecap.sim.run import run_scenario

BASE: dict[str, Any] = {
    "duration": "3 min",
    "table": {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}},
    "writers": {
        "w": {**INSERT, "count": 3, "arrival": {"schedule": {"every": "5 s"}}, "compute": "1 s"},
        "u": {**UPDATE, "arrival": {"schedule": {"every": "20 s"}}, "compute": "1 s"},
    },
}
SLOW = {"store.put.latency": "900 ms"}
CROWDED: dict[str, Any] = {
    "store.limits": {"writes_per_s": 30, "reads_per_s": 60},
    "store.data_files": {"read": ["get"] * 40, "write": ["put"] * 40, "source": "me"},
}
ONE_LIMIT: dict[str, Any] = {
    "store.limits": {"writes_per_s": None, "reads_per_s": None, "requests_per_s": 30},
    "store.data_files": CROWDED["store.data_files"],
}
SDK: dict[str, Any] = {
    **CROWDED,
    "store.client.sdk": {
        "attempts": 3,
        "backoff_base": "1 s",
        "backoff_cap": "20 s",
        "source": "me",
    },
}

CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "LogStore.probe": ("s3-dynamodb", {}, {"store.log_store.probe": ["head"]}),
    "Store.dynamodb": ("s3-dynamodb", {}, {"store.dynamodb.query.latency": "1 s"}),
    "DynamoDB.get_item": ("s3-dynamodb", {}, {"store.dynamodb.get_item.latency": "90 ms"}),
    "DynamoDB.put_item": ("s3-dynamodb", {}, {"store.dynamodb.put_item.latency": "90 ms"}),
    "DynamoDB.query": ("s3-dynamodb", {}, {"store.dynamodb.query": {"out": "5 s", "back": "9 s"}}),
    "DynamoDB.ttl": ("s3-dynamodb", SLOW, {"store.dynamodb.ttl": "0 s"}),
    "Store.catalog": ("catalog-managed", {}, {"store.catalog.ratify.latency": "1 s"}),
    "Catalog.get_commits": ("catalog-managed", {}, {"store.catalog.get_commits.latency": "90 ms"}),
    "Catalog.ratify": ("catalog-managed", {}, {"store.catalog.ratify.latency": "90 ms"}),
    "Store.data_files": ("s3", CROWDED, {"store.data_files": None}),
    "DataFiles.read": ("s3", CROWDED, {"store.data_files.read": []}),
    "DataFiles.write": ("s3", CROWDED, {"store.data_files.write": []}),
    "Limits.requests_per_s": ("s3", ONE_LIMIT, {"store.limits.requests_per_s": 20}),
    "Limits.others_per_s": ("s3", CROWDED, {"store.limits.others_per_s": 15}),
    "Limits.of_each": ("s3", CROWDED, {"store.limits.of_each": "account"}),
    "Client.sdk": ("s3", SDK, {"store.client.sdk": None}),
    "Sdk.attempts": ("s3", SDK, {"store.client.sdk.attempts": 2}),
    "Sdk.backoff_base": ("s3", SDK, {"store.client.sdk.backoff_base": "2 s"}),
    "Sdk.backoff_cap": ("s3", SDK, {"store.client.sdk.backoff_cap": "500 ms"}),
}
"""By field: a profile, what is changed beforehand, and the change of the field."""


def _recorded(profile: str, changes: dict[str, Any]) -> list[list[dict[str, Any]]]:
    run = run_scenario(scenario(changes, store={"profile": profile}, **BASE), requests=True)
    return [rows(run), rows(run, "requests")]


@pytest.mark.parametrize("field", CHANGES)
def test_changing_a_field_of_some_stores_changes_a_record(field: str) -> None:
    profile, before, change = CHANGES[field]
    assert _recorded(profile, before | change) != _recorded(profile, before)

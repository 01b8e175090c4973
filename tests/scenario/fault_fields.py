"""One change for each field that says which requests a fault strikes, and what it does to them.

For `test_every_field_counts.py`.
"""

from __future__ import annotations

from typing import Any


def _alone(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """A scenario with one fault, of writers whose drivers serve nobody else."""
    return {"faults": [{kind: options, "writers": ["loader"]}]}


CRASH = {"nth": 1, "restart": "10 s"}
TWICE = {"nth": 1, "delay": "1 s"}
STILL = {"nth": 1, "lasts": "7 s"}

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "LostReply": ("lost_reply", {}),
    "LateEffect": ("late_effect", {"delay": "5 s"}),
    "Throttling": ("throttling", {"requests": ["put"]}),
    "Conflict409": ("conflict_409", {}),
    "DuplicateDelivery": ("duplicate_delivery", {"delay": "1 s"}),
    "Pause": ("pause", {"lasts": "7 s"}),
    "StaleListing": ("stale_listing", {}),
    "CrashAtRequest": ("crash_at_request", {"restart": "10 s"}),
}
"""Faults that strike requests, with what else they need."""

WITHOUT_FILES = {"Conflict409", "DuplicateDelivery", "StaleListing"}

CHOSEN: dict[str, dict[str, Any]] = {
    "nth": {"nth": 2},
    "of_jobs": {"nth": 1, "of_jobs": 3},
    "files": {"nth": 1, "files": ["commit"]},
}
"""Fields that say which requests a fault strikes."""

STRIKES = {
    f"{model}.{name}": _alone(kind, {**needed, **chosen})
    for model, (kind, needed) in KINDS.items()
    for name, chosen in CHOSEN.items()
    if name != "files" or model not in WITHOUT_FILES
}

OF_FAULTS: dict[str, dict[str, Any]] = {
    **STRIKES,
    "LateEffect.files": _alone(
        "late_effect", {"delay": "5 s", "nth": 1, "requests": ["put"], "files": ["checksum"]}
    ),
    "Throttling.files": _alone(
        "throttling", {"nth": 1, "requests": ["put"], "files": ["checksum"]}
    ),
    "Fault.conflict_409": _alone("conflict_409", {"nth": 1}),
    "Fault.crash_at_request": _alone("crash_at_request", CRASH),
    "Fault.duplicate_delivery": _alone("duplicate_delivery", TWICE),
    "Fault.pause": _alone("pause", STILL),
    "Client.on_409": {**_alone("conflict_409", {"nth": 1}), "store.client.on_409": "fail"},
    "WriterGroup.log_store": {"writers.loader.log_store": "s3-single-driver"},
    "Conflict409.probability": _alone("conflict_409", {"probability": 0.5}),
    "CrashAtRequest.probability": _alone(
        "crash_at_request", {"probability": 0.5, "restart": "10 s"}
    ),
    "CrashAtRequest.requests": _alone("crash_at_request", {**CRASH, "requests": ["put"]}),
    "CrashAtRequest.restart": _alone("crash_at_request", {**CRASH, "restart": "9 s"}),
    "CrashAtRequest.when": _alone("crash_at_request", {**CRASH, "when": "before"}),
    "DuplicateDelivery.delay": _alone("duplicate_delivery", {**TWICE, "delay": "2 s"}),
    "DuplicateDelivery.probability": _alone(
        "duplicate_delivery", {"probability": 0.5, "delay": "1 s"}
    ),
    "Fault.stale_listing": _alone("stale_listing", {"probability": 0.5}),
    "StaleListing.probability": _alone("stale_listing", {"probability": 0.9}),
    "StaleListing.misses": _alone("stale_listing", {"probability": 0.9, "misses": 3}),
    "Pause.lasts": _alone("pause", {**STILL, "lasts": "8 s"}),
    "Pause.probability": _alone("pause", {"probability": 0.5, "lasts": "7 s"}),
    "Pause.requests": _alone("pause", {**STILL, "requests": ["list"]}),
}
"""One change per field, by class and name. Each is another run than any other here."""

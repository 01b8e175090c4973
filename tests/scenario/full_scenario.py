"""A scenario in which nearly every field of a scenario has an effect; it runs in a second or so.

For `test_every_field_counts.py`.
"""

from __future__ import annotations

from typing import Any

from tests.sim.sim_worlds import TABLE

FULL: dict[str, Any] = {
    "name": "full",
    "start": "2026-01-14 23:59:20",
    "duration": "80 s",
    "store": {"profile": "s3"},
    "table": {
        **TABLE,
        "log": {"rate": "1 per d"},
        "values": {"date": {"days": 3}, "country": ["DE", "FR", "GB"]},
        "properties": {"delta.enableDeletionVectors": True},
    },
    "writers": {
        "loader": {
            "count": 2,
            "statement": "INSERT INTO events VALUES :rows",
            "parameters": {
                "date": {"zipf": {"exponent": 1.0}},
                "country": {"newest": {"within": 2}},
                "rows": {"rows": {"count": 4}},
            },
            "arrival": {"closed": {"think": "5 s"}},
            "compute": {"time": {"lognormal": {"median": "4 s", "sigma": 0.3}}},
        },
        "corrector": {
            "statement": "UPDATE events SET amount = :n WHERE date = :day AND event_id IN (:keys)",
            "parameters": {
                "day": {"column": "date", "newest": {"within": 2}},
                "n": "counter",
                "keys": {"keys": {"count": 2, "choose": {"zipf": {"exponent": 1.0}}}},
            },
            "arrival": {"open": {"rate": "20 per min", "concurrency": 3}},
            "compute": {"time": {"uniform": {"low": "2 s", "high": "9 s"}}},
            "rerun": {"exponential": {"base": "2 s", "cap": "9 s", "jitter": "full", "budget": 4}},
        },
        "upserter": {
            "count": 2,
            "cluster": "nightly",
            "statement": (
                "MERGE INTO events t USING (SELECT * FROM VALUES :rows AS v"
                "(event_id, date, country, amount)) s ON t.event_id = s.event_id "
                "AND t.country = :country WHEN MATCHED THEN UPDATE SET * "
                "WHEN NOT MATCHED THEN INSERT *"
            ),
            "parameters": {
                "country": {"among": ["DE", "FR"]},
                "rows": {"rows": {"count": 4, "existing": 0.5}},
            },
            "arrival": {"schedule": {"every": "10 s", "offset": "3 s"}},
            "compute": {"time": {"exponential": {"mean": "6 s"}}},
            "rerun": {"fixed": {"wait": "1 s", "budget": 2}},
        },
        "eraser": {
            "statement": "DELETE FROM events WHERE country = :country AND event_id = 3",
            "parameters": {"country": {"value": "DE"}},
            "arrival": {"schedule": {"at": ["30 s", "70 s"]}},
            "compute": {"time": "3 s"},
        },
        "stream": {
            "count": 2,
            "streaming": {"checkpoint": "clicks", "rows": {"count": 3}},
            "arrival": {"closed": {"think": "10 s"}},
            "compute": "3 s",
        },
    },
    "clusters": {"nightly": {"full_speed": 1}},
    "faults": [
        {"lost_reply": {"probability": 0.15, "requests": ["put_if_absent"]}},
        {"late_effect": {"probability": 0.1, "delay": "5 s"}},
        {"throttling": {"probability": 0.2}},
        {"writer_crash": {"rate": "1 per min", "restart": "10 s"}},
    ],
}

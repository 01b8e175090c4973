"""A scenario with each field somewhere, and values that are wrong for most of them."""

from __future__ import annotations

from datetime import date
from typing import Any

ORIGIN = {"source": "me", "date": "2025-06", "basis": "assumed", "assumption": "much"}
MEASURED = {"latency": "5 ms", **ORIGIN}
APART = {"out": "10 ms", "back": "5 ms", **ORIGIN}
QUANTILES = {
    "points": {"p50": "30 ms", "p99": "120 ms"}, "between": "logarithmic", "mean": "60 ms",
}  # fmt: skip

EVERY_FIELD: dict[str, Any] = {
    "format_version": 1,
    "name": "every-field",
    "description": "Each field of a scenario somewhere.",
    "dialect": "delta-oss-4.4",
    "seed": 1,
    "start": "2026-01-14 08:00:00",
    "duration": "100 s",
    "warm_up": "10 s",
    "settings": {"spark.databricks.delta.history.metricsEnabled": "false"},
    "table": {
        "name": "events",
        "schema": "event_id BIGINT, date DATE, country STRING, amount DOUBLE",
        "exists": True,
        "partition_by": ["date"],
        "cluster_by": [],
        "key": "event_id",
        "isolation": "Serializable",
        "properties": {"delta.enableDeletionVectors": "true"},
        "values": {"date": {"days": 3}, "country": {"among": ["DE", "FR"]}},
        "initial": {"rows": 30, "rows_per_file": 10},
        "log": {"rate": "1 per d", "retention": "9 d", "checkpoint_interval": 10},
        "bytes_per_row": 100,
    },
    "store": {
        "profile": "s3",
        "description": "a store",
        "put_if_absent": {
            "exclusive": True,
            "out": "9 ms",
            "success": {"back": "60 ms", **ORIGIN},
            "loss": {"back": "50 ms", **ORIGIN},
        },
        "put": {**APART, "per_mib": "1 ms"},
        "get": {"latency": {"quantiles": QUANTILES}, **ORIGIN},
        "head": MEASURED,
        "copy": APART,
        "delete": MEASURED,
        "rename": APART,
        "list": {**MEASURED, "page_size": 1000, "per_1000_keys": "1 ms"},
        "dynamodb": {
            **dict.fromkeys(("get_item", "query", "put_item"), MEASURED),
            "ttl": "1 d",
            **ORIGIN,
        },
        "catalog": {"get_commits": MEASURED, "ratify": APART, **ORIGIN},
        "log_store": {
            "protocol": "dynamodb",
            "probe": ["head", "list"],
            "before_put": ["head"],
            "after_put": ["head"],
            "read": ["get"],
            "checksum": ["put", "rename"],
            "pointer": ["put"],
            "delete": ["delete"],
            "commit_lock": True,
            **ORIGIN,
        },
        "spark": {
            "job": "500 ms",
            "metadata_job": "200 ms",
            "parallel_reads": 8,
            "fast_listing": False,
            **ORIGIN,
        },
        "effect": {"share": 0.5, **ORIGIN},
        "limits": {
            "writes_per_s": 3500.0,
            "reads_per_s": 5500.0,
            "others_per_s": 5.0,
            "of_each": "account",
            **ORIGIN,
        },
        "data_files": {"read": ["get"], "write": ["put"], **ORIGIN},
        "client": {
            "timeout": "10 s",
            "on_lost_reply": "surface",
            "on_409": "resend",
            "throttle_retries": 5,
            "backoff_base": "50 ms",
            "backoff_cap": "20 s",
            "sdk": {"attempts": 3, "backoff_base": "1 s", "backoff_cap": "20 s", **ORIGIN},
            **ORIGIN,
        },
    },
    "load": {"cv": 0.5, "lasts": "20 s"},
    "price": {"per_slot_hour": 0.5, "currency": "USD", "requests": "s3-us-east"},
    "clusters": {"etl": {"slots": 2, "full_speed": 1, "load": {"cv": 0.5, "lasts": "20 s"}}},
    "faults": [
        {
            "lost_reply": {"probability": 0.1, "requests": ["put_if_absent"]},
            "writers": ["loader"],
            "between": ["10 s", "20 s"],
            "description": "words",
            "source": "words",
        },
        {"late_effect": {"probability": 0.1, "delay": "5 s", "requests": ["put"]}},
        {"throttling": {"probability": 0.1, "requests": ["get"]}},
        {"writer_crash": {"rate": "1 per min", "restart": "10 s"}},
        {"duplicate_delivery": {"nth": [2], "of_jobs": [1], "delay": "1 s"}},
        {"stale_listing": {"nth": [2], "of_jobs": [1], "misses": 2}},
        {"conflict_409": {"nth": [2]}, "writers": ["stream-1"]},
        {"pause": {"nth": [1], "files": ["checksum"], "requests": ["put"], "lasts": "1 s"}},
        {
            "crash_at_request": {
                "nth": [1],
                "files": ["commit"],
                "requests": ["put_if_absent"],
                "when": "before",
                "restart": "1 s",
            },
            "writers": ["stream"],
        },
    ],
    "writers": {
        "loader": {
            "count": 2,
            "cluster": "etl",
            "clock_skew": {"ahead": "2 s"},
            "dialect": "delta-oss-3.3",
            "statement": "INSERT INTO events VALUES :rows",
            "parameters": {
                "date": {"newest": {"within": 2}},
                "rows": {"rows": {"count": 3, "existing": 0.5, "choose": {"uniform": {}}}},
            },
            "arrival": {"closed": {"think": {"lognormal": {"median": "5 s", "sigma": 0.3}}}},
            "starts": "1 s",
            "stops": "90 s",
            "compute": {
                "time": {"uniform": {"low": "1 s", "high": "2 s"}},
                "per_million_rows": "1 s",
                "per_gib": "1 s",
            },
            "rerun": {"none": {}},
            "restart": {
                "preset": "airflow",
                "description": "words",
                "source": "me",
                "fixed": {"wait": "5 min", "budget": 3, "after_unknown": True},
                "takes": "90 s",
            },
            "deadline": "2 h",
        },
        "corrector": {
            "clock_skew": {"behind": {"constant": "2 s"}},
            "statement": "UPDATE events SET amount = :n WHERE date = :day AND event_id IN (:keys)",
            "parameters": {
                "day": {"column": "date", "zipf": {"exponent": 1.5}},
                "n": {"counter": {}},
                "keys": {"keys": {"count": 2, "choose": {"zipf": {"exponent": 1.5}}}},
            },
            "arrival": {
                "open": {
                    "rate": "20 per min",
                    "concurrency": 3,
                    "profile": {"hours": {"8-18": 4}, "weekdays": {"Sat": 0.5}},
                    "bursts": {"every": "20 s", "lasts": "5 s", "times": 6},
                    "batch": 2,
                }
            },
            "compute": {"time": {"exponential": {"mean": "5 s"}}},
            "rerun": {"fixed": {"wait": "1 s", "budget": 2, "after_unknown": True}},
            "restart": {"exponential": {"base": "1 s", "cap": "9 s"}},
        },
        "eraser": {
            "clock_skew": {"either_way": {"exponential": {"mean": "2 s"}}},
            "statement": (
                "DELETE FROM events WHERE country = :a AND country = :b AND date = :date "
                "AND country = :country AND event_id IN (:keys)"
            ),
            "parameters": {
                "a": {"value": "DE"},
                "b": {"among": ["DE", "FR"]},
                "date": {"uniform": {}},
                "country": {"member": {}},
                "keys": {"keys": {"count": 2, "choose": {"member": {}}}},
            },
            "arrival": {"schedule": {"at": ["30 s", "70 s"]}},
            "compute": {"time": {"lognormal": {"mean": "5 s", "cv": 0.3}}, "per_file": "1 ms"},
            "rerun": {
                "exponential": {
                    "base": "1 s",
                    "cap": "9 s",
                    "jitter": "full",
                    "budget": 4,
                    "after_unknown": False,
                }
            },
        },
        "replayed": {
            "log_store": "s3-single-driver",
            "statement": "DELETE FROM events WHERE event_id = 3",
            "arrival": {"trace": {"text": "at_s\n40\n", "concurrency": 1}},
            "compute": {
                "time": {
                    "mixture": [
                        {"share": 0.25, "of": {"constant": "5 s"}},
                        {"share": 0.75, "of": {"pareto": {"minimum": "2 s", "alpha": 2.5}}},
                    ]
                }
            },
        },
        "both": {
            "foreach_batch": {"checkpoint": "orders", "idempotent": True},
            "statements": [
                {
                    "statement": "UPDATE events SET amount = :n WHERE event_id = 3",
                    "parameters": {"n": {"counter": {}}},
                    "compute": "2 s",
                },
            ],
            "arrival": {"schedule": {"at": ["40 s"]}},
        },
        "stream": {
            "streaming": {
                "checkpoint": "clicks",
                "table": "events",
                "reads_table": False,
                "rows": {"count": 3, "choose": {"newest": {"within": 1}}},
            },
            "arrival": {
                "schedule": {
                    "every": "10 s",
                    "offset": "3 s",
                    "weekdays": ["Wed"],
                    "jitter": {"uniform": {"low": "1 s", "high": "2 s"}},
                }
            },
            "compute": {"time": {"constant": "5 s"}},
        },
    },
    "expect": [
        {
            "measure": "conflict_rate",
            "writer": "loader",
            "command": "INSERT",
            "exception": "ConcurrentAppendException",
            "exactly": True,
            "at_least": 0.01,
            "at_most": 0.9,
            "because": "words",
            "when": {"size": "small"},
        },
        {"measure": "aborted", "equals": 0.0},
    ],
    "objective": ["conflict_rate of loader <= 50 %", "job_success_rate >= 90 %"],
    "may_change": ["isolation", "size"],
    "sweep": {
        "replications": 2,
        "axes": {"size": {"role": "load", "small": {"writers.loader.count": 1}, "large": {}}},
    },
}

WRONG = {
    "nothing": None,
    "true": True,
    "a number": 3,
    "a negative number": -7,
    "a large number": 10**30,
    "a word": "words",
    "a date": date(2026, 1, 14),
    "a list": [1, [2]],
    "keys": {"a": 1},
    "no keys": {},
    "not a number": float("nan"),
}

PYDANTIC = (
    "Input should", "String should", "pattern", "dictionary", "valid ", "Value error",
    "input_value", "type=", "pydantic", "Field required", "parse", "does not fit here", "items",
)  # fmt: skip
"""Words of pydantic's messages, and ours for an error that has no sentence of its own."""

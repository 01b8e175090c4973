"""A scenario with each field somewhere, and values that are wrong for most of them."""

from __future__ import annotations

from datetime import date
from typing import Any

MEASURED = {"latency": "5 ms", "source": "me"}
APART = {"out": "10 ms", "back": "5 ms", "source": "me"}

EVERY_FIELD: dict[str, Any] = {
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
            "success": {"back": "60 ms", "source": "me"},
            "loss": {"back": "50 ms", "source": "me"},
        },
        "put": {**APART, "per_mib": "1 ms"},
        "get": {"latency": {"quantiles": {"p50": "30 ms", "p99": "120 ms"}}, "source": "me"},
        "head": MEASURED,
        "copy": APART,
        "delete": MEASURED,
        "rename": APART,
        "list": {**MEASURED, "page_size": 1000, "per_1000_keys": "1 ms"},
        "dynamodb": {
            **dict.fromkeys(("get_item", "query", "put_item"), MEASURED),
            "ttl": "1 d",
            "source": "me",
        },
        "catalog": {"get_commits": MEASURED, "ratify": APART, "source": "me"},
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
            "source": "me",
        },
        "spark": {
            "job": "500 ms",
            "parallel_reads": 8,
            "fast_listing": False,
            "source": "me",
        },
        "effect": {"share": 0.5, "source": "me"},
        "limits": {
            "writes_per_s": 3500.0,
            "reads_per_s": 5500.0,
            "others_per_s": 5.0,
            "of_each": "account",
            "source": "me",
        },
        "data_files": {"read": ["get"], "write": ["put"], "source": "me"},
        "client": {
            "timeout": "10 s",
            "on_lost_reply": "surface",
            "throttle_retries": 5,
            "backoff_base": "50 ms",
            "backoff_cap": "20 s",
            "sdk": {
                "attempts": 3,
                "backoff_base": "1 s",
                "backoff_cap": "20 s",
                "source": "me",
            },
            "source": "me",
        },
    },
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
    ],
    "writers": {
        "loader": {
            "count": 2,
            "cluster": "etl",
            "clock_skew": {"ahead": "2 s"},
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
        },
        "corrector": {
            "clock_skew": {"behind": {"constant": "2 s"}},
            "statement": "UPDATE events SET amount = :n WHERE date = :day AND event_id IN (:keys)",
            "parameters": {
                "day": {"column": "date", "zipf": {"exponent": 1.5}},
                "n": {"counter": {}},
                "keys": {"keys": {"count": 2, "choose": {"zipf": {"exponent": 1.5}}}},
            },
            "arrival": {"open": {"rate": "20 per min", "concurrency": 3}},
            "compute": {"time": {"exponential": {"mean": "5 s"}}},
            "rerun": {"fixed": {"wait": "1 s", "budget": 2, "after_unknown": True}},
        },
        "eraser": {
            "clock_skew": {"either_way": {"exponential": {"mean": "2 s"}}},
            "statement": "DELETE FROM events WHERE country = :a AND country = :b AND date = :date",
            "parameters": {
                "a": {"value": "DE"},
                "b": {"among": ["DE", "FR"]},
                "date": {"uniform": {}},
            },
            "arrival": {"schedule": {"at": ["30 s", "70 s"]}},
            "compute": {"time": {"lognormal": {"mean": "5 s", "cv": 0.3}}},
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
        "stream": {
            "streaming": {
                "checkpoint": "clicks",
                "reads_table": False,
                "rows": {"count": 3, "choose": {"newest": {"within": 1}}},
            },
            "arrival": {"schedule": {"every": "10 s", "offset": "3 s"}},
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

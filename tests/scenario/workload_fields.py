"""One change for each field that says what work there is, for `test_every_field_counts.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

LOADER, CORRECTOR = "writers.loader", "writers.corrector"
UPSERTER, ERASER, STREAM = "writers.upserter", "writers.eraser", "writers.stream"

BURSTS = {"every": "20 s", "lasts": "5 s", "times": 6}

RECORDED_JOBS = Path(__file__).parents[1] / "writers" / "recorded_jobs.csv"

PARETO = {"pareto": {"minimum": "2 s", "alpha": 2}}
LONG = {"share": 0.5, "of": "9 s"}
MIXTURE = {"mixture": [{"share": 0.5, "of": "2 s"}, LONG]}

LOAD = {"cv": 0.5, "lasts": "20 s"}

RESTART = {"fixed": {"wait": "1 s"}, "takes": "3 s"}

ERASES = "DELETE FROM events WHERE country = 'DE' AND event_id = 3"

ADDS = "UPDATE events SET amount = :n WHERE event_id = 3"

ADDING = {"statement": ADDS, "parameters": {"n": "counter"}}


def erasing(*parts: Any) -> dict[str, Any]:
    """The eraser with jobs of several statements."""
    return {
        f"{ERASER}.statement": None,
        f"{ERASER}.parameters": {},
        f"{ERASER}.statements": list(parts),
    }


def in_batches(**options: Any) -> dict[str, Any]:
    """The eraser as the function of a streaming query."""
    return {f"{ERASER}.foreach_batch": {"checkpoint": "orders", **options}}


WORKLOAD: dict[str, dict[str, Any]] = {
    "Scenario.clusters": {"clusters": {}},
    "Scenario.load": {"load": LOAD},
    "Load.cv": {"load": {**LOAD, "cv": 0.6}},
    "Load.lasts": {"load": {**LOAD, "lasts": "15 s"}},
    "ClusterOptions.slots": {"clusters.nightly.slots": 1},
    "ClusterOptions.full_speed": {"clusters.nightly.full_speed": 2},
    "ClusterOptions.load": {"clusters.nightly.load": LOAD},
    "Open.profile": {f"{CORRECTOR}.arrival.open.profile": {"hours": {"23-24": 5}}},
    "Profile.hours": {f"{CORRECTOR}.arrival.open.profile": {"hours": {"23-24": 4}}},
    "Profile.weekdays": {f"{CORRECTOR}.arrival.open.profile": {"weekdays": {"Wed": 4}}},
    "Open.bursts": {f"{CORRECTOR}.arrival.open.bursts": BURSTS},
    "Bursts.every": {f"{CORRECTOR}.arrival.open.bursts": {**BURSTS, "every": "25 s"}},
    "Bursts.lasts": {f"{CORRECTOR}.arrival.open.bursts": {**BURSTS, "lasts": "4 s"}},
    "Bursts.times": {f"{CORRECTOR}.arrival.open.bursts": {**BURSTS, "times": 3}},
    "Open.batch": {f"{CORRECTOR}.arrival.open.batch": 2},
    "Schedule.weekdays": {f"{UPSERTER}.arrival.schedule.weekdays": ["Thu"]},
    "Schedule.jitter": {f"{UPSERTER}.arrival.schedule.jitter": {"exponential": {"mean": "2 s"}}},
    "Arrival.trace": {f"{ERASER}.arrival": {"trace": {"text": "at_s\n40\n"}}},
    "Trace.text": {f"{ERASER}.arrival": {"trace": {"text": "at_s\n41\n"}}},
    "Trace.file": {
        f"{ERASER}.arrival": {"trace": {"file": str(RECORDED_JOBS)}},
        f"{ERASER}.compute": "0 s",
    },
    "Trace.concurrency": {
        f"{ERASER}.arrival": {"trace": {"text": "at_s\n40\n41\n", "concurrency": 1}}
    },
    "Compute.per_file": {f"{CORRECTOR}.compute.per_file": "1 s"},
    "Parameter.member": {f"{UPSERTER}.parameters.country": "member"},
    "Choice.member": {f"{UPSERTER}.parameters.rows.rows.choose": "member"},
    "Distribution.pareto": {f"{LOADER}.compute.time": PARETO},
    "Pareto.minimum": {f"{LOADER}.compute.time": {"pareto": {"minimum": "3 s", "alpha": 2}}},
    "Pareto.alpha": {f"{LOADER}.compute.time": {"pareto": {"minimum": "2 s", "alpha": 3}}},
    "Distribution.mixture": {f"{LOADER}.compute.time": MIXTURE},
    "Part.share": {
        f"{LOADER}.compute.time": {"mixture": [{"share": 0.2, "of": "2 s"}, {**LONG, "share": 0.8}]}
    },
    "Part.of": {f"{LOADER}.compute.time": {"mixture": [{"share": 0.5, "of": "3 s"}, LONG]}},
    "WriterGroup.deadline": {f"{CORRECTOR}.deadline": "8 s"},
    "WriterGroup.restart": {f"{ERASER}.restart": RESTART},
    "Restart.fixed": {f"{ERASER}.restart": {"fixed": {"wait": "2 s"}}},
    "Restart.exponential": {f"{ERASER}.restart": {"exponential": {"base": "1 s", "cap": "2 s"}}},
    "Restart.takes": {f"{ERASER}.restart": {**RESTART, "takes": "4 s"}},
    "WriterGroup.statements": erasing(ERASES, ADDING),
    "JobPart.statement": erasing(ERASES, {**ADDING, "statement": ADDS.replace("3", "4")}),
    "JobPart.parameters": erasing(ERASES, {**ADDING, "parameters": {"n": {"value": 7}}}),
    "JobPart.compute": erasing(ERASES, {**ADDING, "compute": "1 s"}),
    "WriterGroup.foreach_batch": in_batches(),
    "ForeachBatch.checkpoint": in_batches(checkpoint="others", idempotent=True),
    "ForeachBatch.idempotent": in_batches(idempotent=True),
    "Restart.preset": {f"{ERASER}.restart": "spark-streaming"},
}

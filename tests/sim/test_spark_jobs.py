"""How long Spark jobs take: by what they read, by chance, and by the load of their cluster."""

from __future__ import annotations

from typing import Any

from tests.sim.sim_worlds import TABLE, document, rows
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario

READ_ALL = "UPDATE events SET amount = 0.5"


def played(writers: dict[str, Any], **parts: Any) -> FinishedRun:
    return run_scenario(scenario_of(document(store="instant", writers=writers, **parts)))


def computed(run: FinishedRun, group: str) -> list[float]:
    return [row["compute_ms"] for row in rows(run) if row["writer_group"] == group]


def at(*instants: str) -> dict[str, Any]:
    return {"schedule": {"at": list(instants)}}


FILES = TABLE["initial"]["rows"] // TABLE["initial"]["rows_per_file"]
DAYS = TABLE["values"]["date"]["days"]


def test_a_job_takes_time_for_each_file_that_it_reads_and_less_once_they_are_compacted() -> None:
    reader = {
        "statement": READ_ALL,
        "compute": {"time": "1 s", "per_file": "10 s"},
        "arrival": at("5 min"),
    }
    compactor = {
        "statement": "OPTIMIZE events",
        "compute": {"per_file": "2 s"},
        "arrival": at("0 s", "9 min"),
    }
    assert computed(played({"reader": reader}), "reader") == [1_000 + 10_000 * FILES]
    run = played({"reader": reader, "compactor": compactor})
    assert computed(run, "reader") == [1_000 + 10_000 * DAYS]
    assert computed(run, "compactor") == [2_000 * FILES, 0]

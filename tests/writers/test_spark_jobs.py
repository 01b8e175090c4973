"""How long Spark jobs take: by what they read, by chance, and by the load of their cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sim.sim_worlds import TABLE, document, rows
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.clusters import Load
from whitecap.sim.spark.spark_jobs import LoadOverTime
from whitecap.sim.time.random_streams import RandomStreams

READ_ALL = "UPDATE events SET amount = 0.5"


def played(writers: dict[str, Any], **parts: Any) -> FinishedRun:
    return run_scenario(scenario_of(document(store="instant", writers=writers, **parts)))


def computed(run: FinishedRun, group: str) -> list[float]:
    return [row["compute_ms"] for row in rows(run) if row["writer_group"] == group]


def at(*instants: str) -> dict[str, Any]:
    return {"schedule": {"at": list(instants)}}


ROWS, PER_FILE = TABLE["initial"]["rows"], TABLE["initial"]["rows_per_file"]
DAYS = TABLE["values"]["date"]["days"]

READERS = {
    "UPDATE events SET amount = 0.5": ROWS // PER_FILE,
    "UPDATE events SET amount = 0.5 WHERE date = DATE'2026-01-14'": ROWS // PER_FILE // DAYS,
    "UPDATE events SET amount = 0.5 WHERE amount = -1.0": 0,
    "DELETE FROM events WHERE country = 'DE' AND amount < 1e9": ROWS // PER_FILE,
    "DELETE FROM events WHERE date = DATE'2026-01-14'": 0,
    "MERGE INTO events t USING (SELECT * FROM VALUES (7L, 1.0) AS v(event_id, amount)) s ON "
    "t.event_id + 0 = s.event_id WHEN MATCHED THEN UPDATE SET amount = s.amount": ROWS // PER_FILE,
}
"""How many files each has to open: partitions and statistics leave out some, or all."""


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("statement", list(READERS))
def test_a_job_takes_time_for_each_file_that_it_has_to_open(statement: str, vectors: bool) -> None:
    reader = {
        "statement": statement,
        "compute": {"time": "1 s", "per_file": "10 s"},
        "arrival": at("0 s"),
    }
    table = {**TABLE, "properties": {"delta.enableDeletionVectors": vectors}}
    compute_ms = computed(played({"reader": reader}, table=table), "reader")
    assert compute_ms == [1_000 + 10_000 * READERS[statement]]


def test_what_is_compacted_takes_less_time_to_read() -> None:
    reader = {"statement": READ_ALL, "compute": {"per_file": "10 s"}, "arrival": at("5 min")}
    compactor = {
        "statement": "OPTIMIZE events",
        "compute": {"per_file": "2 s"},
        "arrival": at("0 s", "9 min"),
    }
    assert computed(played({"reader": reader}), "reader") == [10_000 * ROWS // PER_FILE]
    run = played({"reader": reader, "compactor": compactor})
    assert computed(run, "reader") == [10_000 * DAYS]
    assert computed(run, "compactor") == [2_000 * ROWS // PER_FILE, 0]


LASTS_MS = 600_000


def _load(cv: float, steps: int, replication: int = 0) -> np.ndarray[Any, Any]:
    """The factor of a load that lasts ten minutes, minute by minute."""
    load = Load.model_validate({"cv": cv, "lasts": "10 min"})
    factor_at = LoadOverTime(load, RandomStreams(1, replication).source("load", "x"))
    return np.array([factor_at(60_000.0 * step) for step in range(steps)])


def test_a_load_has_its_mean_its_spread_and_its_memory() -> None:
    factors = np.concatenate([_load(0.5, 20_000, n) for n in range(5)])
    assert factors.mean() == pytest.approx(1, rel=0.02)
    assert factors.std() == pytest.approx(0.5, rel=0.05)
    logs = np.log(factors) - np.log(factors).mean()
    for minutes in (10, 20):
        correlation = (logs[minutes:] * logs[:-minutes]).mean() / logs.var()
        assert correlation == pytest.approx(np.exp(-minutes / 10), abs=0.03)


def test_a_load_belongs_to_its_instants_whoever_asks_first() -> None:
    load = Load.model_validate({"cv": 0.5, "lasts": "10 min"})
    source = RandomStreams(1).source("load", "x")
    forwards, backwards = LoadOverTime(load, source), LoadOverTime(load, source)
    instants = [60_000.0 * minute for minute in range(50)]
    assert [forwards(t) for t in instants] == [backwards(t) for t in instants[::-1]][::-1]


def _slowed(**parts: Any) -> dict[str, list[float]]:
    writer = {
        "statement": "INSERT INTO events VALUES (1, DATE'2026-01-14', 'DE', 1.0)",
        "compute": "10 s",
        "arrival": {"schedule": {"every": "1 min"}},
    }
    names = {"one": "a", "other": "a", "third": "b"}
    writers = {name: {**writer, "cluster": cluster} for name, cluster in names.items()}
    run = played(writers, duration="2 h", **parts)
    return {name: computed(run, name) for name in names}


def test_a_load_is_on_all_clusters_and_one_of_a_cluster_on_its_own_writers() -> None:
    load = {"cv": 0.5, "lasts": "10 min"}
    everywhere = _slowed(load=load)
    assert everywhere["one"] == everywhere["other"] == everywhere["third"]
    assert len(set(everywhere["one"])) > 10
    of_one = _slowed(clusters={"a": {"load": load}})
    assert of_one["one"] == of_one["other"] != everywhere["one"]
    assert set(of_one["third"]) == {10_000.0}
    both = _slowed(load=load, clusters={"a": {"load": load}})
    product = np.array(everywhere["one"]) * of_one["one"] / 10_000
    assert both["one"] == pytest.approx(product)

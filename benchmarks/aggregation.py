"""`make bench-aggregation`: all tables of a report from ten million recorded transactions.

The recordings are made up: a real run of the demo, repeated behind itself until it is long enough,
with other computing times in every run.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.sweeps import measured
from whitecap.reports.aggregate import aggregate
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import cell_of, load_scenario
from whitecap.sim.recording.dataset.layout import batch_folder
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.rows import Ran
from whitecap.sim.recording.recording import Recording
from whitecap.sim.run import run_scenario
from whitecap.sim.sweeps.experiment import Experiment, load_experiment
from whitecap.sim.sweeps.opening import open_place
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import recorded_runs

TRANSACTIONS = 10_000_000
REPLICATIONS = 16
PARTS = 4
MASTER = "local[2]"

IDS = ("transaction_id", "job_id")
VERSIONS = ("version", "read_version", "committed_version", "winning_version")
INSTANTS = tuple(
    f"{name}_at_ms"
    for name in ("submitted", "snapshot", "ended", "sent", "effect", "reply", "committed")
)


def longer(recording: Recording, times: int) -> Recording:
    """A run that goes through the same again and again; job by job its numbers stay apart."""
    manifest = dict(recording.manifest)
    duration_ms = manifest["duration_ms"]
    steps = {
        **dict.fromkeys(IDS, recording.transactions.num_rows),
        **dict.fromkeys(VERSIONS, recording.commits.num_rows),
        **dict.fromkeys((*INSTANTS, "commit_started_at_ms"), duration_ms),
    }
    tables = {
        name: table if name == "writers" else _repeated(table, steps, times)
        for name, table in recording.tables.items()
    }
    manifest["duration_ms"] = duration_ms * times
    return Recording.of(manifest, recording.scenario, tables)


def _repeated(table: pa.Table, steps: dict[str, float], times: int) -> pa.Table:
    turns = np.repeat(np.arange(times), table.num_rows)
    whole = pa.concat_tables([table] * times).combine_chunks()
    for place, field in enumerate(table.schema):
        if field.name in steps:
            later = pa.array(turns * steps[field.name]).cast(field.type)
            whole = whole.set_column(place, field, pc.add(whole[field.name], later))
    return whole


def made_up(experiment: Experiment, base: Recording) -> Iterator[Ran]:
    """Every run of the sweep."""
    place = base.transactions.schema.get_field_index("compute_ms")
    field = base.transactions.schema.field(place)
    names = itertools.product((cell.name for cell in experiment.cells), range(REPLICATIONS))
    for number, name in enumerate(names):
        noise = np.random.default_rng(number).lognormal(0, 0.3, base.transactions.num_rows)
        compute = pc.multiply(base.transactions["compute_ms"], pa.array(noise))
        transactions = base.transactions.set_column(place, field, compute)
        manifest = {**base.manifest, "replication": name[1]}
        tables = {**base.tables, "transactions": transactions}
        yield Ran(name, Recording.of(manifest, base.scenario, tables), None, 1.0)


def main() -> None:
    """Make the recordings, aggregate them on Spark, and print what both took."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else TRANSACTIONS
    path = SCENARIOS / "events.yaml"
    experiment = load_experiment(path, replications=REPLICATIONS)
    scenario = load_scenario(path)
    first = cell_of(scenario, experiment.cells[0].labels)
    base = run_scenario(first).recording
    runs = len(experiment.cells) * REPLICATIONS
    base = longer(base, -(-wanted // (runs * base.transactions.num_rows)))
    with tempfile.TemporaryDirectory() as folder:
        place = LocalPlace(Path(folder))
        open_place(experiment, place)
        making = measured(partial(_write, place, experiment, base))
        count = runs * base.transactions.num_rows
        print(f"{count:,} transactions in {runs} runs, made in {making.wall_s:.0f} s", flush=True)
        engine = sweep_engine("spark", MASTER)
        engine()
        recordings = recorded_runs(place.path, engine)
        cost = measured(partial(aggregate, recordings))
        print(f"aggregated on {MASTER}: {cost.wall_s:.0f} s, {cost.cpu_s:.0f} CPU s", flush=True)


def _write(place: LocalPlace, experiment: Experiment, base: Recording) -> None:
    batch = batch_folder(0, "made")
    runs = made_up(experiment, base)
    share = -(-len(experiment.cells) * REPLICATIONS // PARTS)
    for part in range(PARTS):
        place.add(batch, part, itertools.islice(runs, share))
    place.close(batch)


if __name__ == "__main__":
    main()

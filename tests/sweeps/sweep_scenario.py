"""A scenario small enough to be swept in a test, and what tests ask of a sweep's directory."""

from __future__ import annotations

from pathlib import Path

from whitecap.engine.recorded import RunName
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import finished_runs, recorded_run, whole_batches
from whitecap.sim.recording.dataset.rows import rows_sha256

SCENARIO = """\
name: tiny
seed: 5
duration: 8 min
warm_up: 2 min
store: instant
table:
  name: events
  schema: "event_id BIGINT, date DATE, amount DOUBLE"
  partition_by: [date]
  key: event_id
  values:
    date: {days: 2}
  initial: {rows: 40, rows_per_file: 10}
writers:
  loader:
    count: 2
    statement: INSERT INTO events VALUES :rows
    parameters:
      date: newest
      rows: {rows: {count: 2}}
    arrival: {open: {rate: 4 per min}}
    compute: {constant: 5 s}
  corrector:
    count: 2
    statement: UPDATE events SET amount = amount + 1.0 WHERE date = :date
    parameters:
      date: uniform
    arrival: {closed: {think: {exponential: {mean: 5 s}}}}
    compute: {lognormal: {median: 4 s, sigma: 0.3}}
    rerun:
      fixed: {wait: 1 s, budget: 2}
sweep:
  replications: 2
  axes:
    partitioning:
      unpartitioned: {table.partition_by: []}
      by date: {table.partition_by: [date]}
    isolation:
      Serializable: {table.isolation: Serializable}
      WriteSerializable: {table.isolation: WriteSerializable}
"""


def write_scenario(directory: Path, text: str = SCENARIO) -> Path:
    """The scenario as a file."""
    path = directory / "tiny.yaml"
    path.write_text(text)
    return path


def kept_in(root: Path) -> dict[RunName, str]:
    """Each finished run with the batch that holds it, which changes when it is made again."""
    place = LocalPlace(root)
    batches = whole_batches(place)
    return {name: batch for batch in batches for name in finished_runs(place, [batch])}


def rows_of(root: Path) -> dict[RunName, dict[str, str]]:
    """Each finished run with a hash of the rows of every table, as they are read."""
    place = LocalPlace(root)
    return {
        name: {table: rows_sha256(rows) for table, rows in recorded_run(place, name).tables.items()}
        for name in kept_in(root)
    }

"""What leaves memory while a run goes on comes back the same: limits are all that differs here."""

from __future__ import annotations

import os
import re
import tempfile
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from tests.sim.sim_worlds import TABLE, ran, scenario
from tests.sim.test_ways_to_one_recording import Document, documents
from whitecap.engine.packed import blocks
from whitecap.sim.loading import scenario_of
from whitecap.sim.machine.spool import Spool
from whitecap.sim.recording import recorded_table, recorder, row_stream
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.store.contents import log_directory
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld

GROUP_ROWS = 6

LIMITS: list[tuple[Any, str, int]] = [
    (recorder, "SETTLED_TOGETHER", 3),
    (row_stream, "CHUNK_ROWS", 2),
    (row_stream, "GROUP_ROWS", GROUP_ROWS),
    (blocks, "KEPT", 3),
    (blocks, "BLOCK", 2),
    (blocks, "KEPT_BLOCKS", 1),
    (log_directory, "CHECKSUMS_KEPT", 2),
]
"""Where a limit stands, and a value that short runs go far beyond."""


def _content(run: FinishedRun) -> dict[str, Any]:
    """Every row, and every byte of the log."""
    log = {key: (kept.body, kept.entry) for key, kept in run.world.store.objects.items()}
    return {**{n: t.to_pylist() for n, t in run.recording.tables.items()}, "log": log}


@hypothesis_settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
@given(documents())
def test_narrow_limits_make_the_same_recording(document: Document) -> None:
    scenario = scenario_of(document)
    expected = _content(run_scenario(scenario, requests=True))
    with pytest.MonkeyPatch.context() as patched:
        for place, name, value in LIMITS:
            patched.setattr(place, name, value)
        assert _content(run_scenario(scenario, requests=True)) == expected


def test_narrow_limits_make_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_table, "GROUP_ROWS", GROUP_ROWS)
    run_scenario(scenario(), out=tmp_path / "wide", requests=True)
    for place, name, value in LIMITS:
        monkeypatch.setattr(place, name, value)
    run_scenario(scenario(), out=tmp_path / "narrow", requests=True)
    names = sorted(path.name for path in (tmp_path / "wide").iterdir())
    for name in names:
        assert (tmp_path / "narrow" / name).read_bytes() == (tmp_path / "wide" / name).read_bytes()


def test_transactions_leave_memory_soon_after_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "SETTLED_TOGETHER", 5)
    run = SimulatedWorld.of(scenario(), RandomStreams(1, 0), with_requests=True)
    run.start()
    run.kernel.run_until(run.scenario.duration)
    noted = run.recorder
    left = noted._transactions, noted._attempts, noted._requests
    assert noted.submitted > 50
    assert len(left[0]) < 20
    assert all(len(records) < 200 for records in left)


def test_a_run_that_is_started_again_begins_its_recording_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limited = {"profile": "s3", "limits": {"writes_per_s": 3, "reads_per_s": 30}}
    expected = _content(ran(store=limited))
    for place, name, value in LIMITS:
        monkeypatch.setattr(place, name, value)
    run = ran(store=limited)
    assert run.world.kernel.patient
    assert _content(run) == expected


def test_what_happens_long_after_a_commit_was_published_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A put whose effect is late is sent again: the thread ends, the late one is still to come."""
    late = {"late_effect": {"probability": 0.5, "delay": "3 min", "requests": ["put_if_absent"]}}
    table = {**TABLE, "properties": {"delta.enableInCommitTimestamps": True}}
    parts: dict[str, Any] = {
        "store": {"profile": "catalog-managed"},
        "table": table,
        "faults": [late],
    }
    expected = _content(ran(**parts))
    for place, name, value in LIMITS:
        monkeypatch.setattr(place, name, value)
    assert _content(ran(**parts)) == expected


@pytest.mark.parametrize("partly", [True, False])
def test_a_full_temporary_directory_is_named(monkeypatch: pytest.MonkeyPatch, partly: bool) -> None:
    def full(descriptor: int, block: bytes, begin: int) -> int:
        del descriptor, begin
        if partly:
            return len(block) - 1
        raise OSError(ENOSPC, "No space left on device")

    spool = Spool()
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match=re.escape(tempfile.gettempdir())) as refused:
        spool.keep(b"block")
    assert refused.value.errno == ENOSPC


def test_a_recording_names_the_temporary_directory_that_it_fills(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Path("/dev/full")
    monkeypatch.setattr(row_stream, "CHUNK_ROWS", 1)
    monkeypatch.setattr(row_stream, "GROUP_ROWS", 1)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: device.open("wb"))
    rows = row_stream.RowStream("attempts")
    with pytest.raises(OSError, match=re.escape(tempfile.gettempdir())) as refused:
        rows.extend([(0, 1, 1, 0.0, None, None, "in flight")])
    assert refused.value.errno == ENOSPC

"""What a recording says of the code that made it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from whitecap.sim.machine.code_version import code_version, deciding_files

ROOT = Path(__file__).parents[2]


def test_every_source_of_engine_and_simulator_counts_but_those_that_no_run_uses() -> None:
    deciding = {name for name, _ in deciding_files()}
    every = {
        path.relative_to(ROOT).as_posix()
        for room in ("engine", "sim")
        for path in (ROOT / room).rglob("*.py")
    }
    assert {
        "engine/transaction/commit_loop.py",
        "sim/run.py",
        "sim/store/contents/objects.py",
    } <= deciding
    assert {name.split("/")[1] for name in every - deciding} == {"races", "replay"}


def test_the_code_version_is_no_hash_of_nothing() -> None:
    assert not code_version().endswith(hashlib.sha256().hexdigest()[:12])

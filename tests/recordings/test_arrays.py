"""Arrays made of their buffers are those that pyarrow makes; no run needs pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whitecap.scenarios import SCENARIOS
from whitecap.sim.recording.arrays import array_of, scalar_of

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])),
    pa.bool_(): st.booleans(),
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
@given(data=st.data())
def test_an_array_is_that_of_pyarrow(type_: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[type_], max_size=20).map(tuple))
    made, expected = array_of(values, type_), pa.array(values, type=type_)
    made.validate(full=True)
    assert made.equals(expected)
    assert made.null_count == expected.null_count


def test_a_scalar_is_that_of_pyarrow() -> None:
    assert scalar_of("created", pa.string()) == pa.scalar("created")


def test_a_run_and_its_summary_do_not_import_pandas(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "whitecap", "run"]
    command += [str(SCENARIOS / "events.yaml"), "--out", str(tmp_path / "run")]
    command += ["--set", "duration=4 min", "--set", "warm_up=1 min"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "aborts" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pyarrow" in imported
    assert "pandas" not in imported

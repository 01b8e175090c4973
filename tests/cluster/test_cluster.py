"""A sweep as far as Spark reaches: a cluster whose workers share no directory, S3, and a loss.

Run by `make test-cluster`; its last result stands in docs/sweeps.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FileSelector

from tests.cluster.machines import (
    bucket,
    kill,
    master,
    s3_server,
    spark_settings,
    wait_until,
    worker,
)
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario

pytestmark = pytest.mark.cluster

REPLICATIONS = 15
RUNS = 4 * REPLICATIONS
WITHIN_S = 900

HASHES = """
import sys
import whitecap
print(whitecap.load_sweep(sys.argv[1], engine=sys.argv[2]).hashes.to_json(orient="records"))
"""

Hashes = list[dict[str, object]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the driver works."""
    return tmp_path_factory.mktemp("driver")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """An S3 server."""
    with s3_server(tmp_path_factory.mktemp("s3")) as port:
        yield port


@pytest.fixture(scope="module")
def variables(folder: Path, port: int) -> dict[str, str]:
    """What a user sets."""
    return {**os.environ, **spark_settings(folder / "conf", port)}


@pytest.fixture(scope="module")
def alone(folder: Path, variables: dict[str, str]) -> Hashes:
    """The same sweep without Spark."""
    run(folder, variables, sweep_command(folder, "alone", "--engine", "processes"))
    return hashes(folder, variables, "alone", "processes")


def run(folder: Path, variables: dict[str, str], command: list[str]) -> str:
    """What a command prints, which must end well."""
    ended = subprocess.run(
        command, cwd=folder, env=variables, text=True, capture_output=True, check=False,
        timeout=WITHIN_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def hashes(folder: Path, variables: dict[str, str], place: str, engine: str) -> Hashes:
    """Of every run of a sweep, as whoever loads it sees them."""
    by_run: Hashes = json.loads(
        run(folder, variables, [sys.executable, "-c", HASHES, place, engine])
    )
    return by_run


def sweep_command(folder: Path, out: str, *arguments: str) -> list[str]:
    """Long runs, so that there is time to lose a worker."""
    scenario = write_scenario(folder, SCENARIO.replace("duration: 8 min", "duration: 30 min"))
    options = ["--replications", str(REPLICATIONS), "--out", out, *arguments]
    return [sys.executable, "-m", "whitecap", "sweep", str(scenario), *options]


def batches(port: int, sweep: str) -> dict[str, bool]:
    """The batches that lie in the bucket, and whether each is whole."""
    root = f"sweeps/{sweep}/recordings"
    listed = bucket(port).get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    names = [each.path.removeprefix(f"{root}/") for each in listed]
    folders = {name.split("/")[0] for name in names if name.startswith("batch=")}
    return {folder: f"{folder}/_SUCCESS" in names for folder in folders}


def test_no_run_is_lost_or_twice_when_a_worker_dies_and_nobody_shares_a_directory(
    folder: Path,
    port: int,
    variables: dict[str, str],
    alone: Hashes,
    tmp_path: Path,
) -> None:
    uri = "s3a://sweeps/lost"
    with ExitStack() as machines:
        url = machines.enter_context(master(tmp_path / "master"))
        machines.enter_context(worker(tmp_path / "one", url))
        dies = machines.enter_context(worker(tmp_path / "other", url))
        with (tmp_path / "driver.log").open("wb") as log:
            driver = subprocess.Popen(
                sweep_command(folder, uri, "--master", url), cwd=folder, env=variables,
                stdout=log, stderr=log,
            )  # fmt: skip
        try:
            wait_until(
                lambda: any(batches(port, "lost").values()) or driver.poll() is not None,
                "a whole batch", WITHIN_S,
            )  # fmt: skip
            assert driver.poll() is None, (tmp_path / "driver.log").read_text()
            kill(dies)
            assert driver.wait(WITHIN_S) == 0, (tmp_path / "driver.log").read_text()
        finally:
            driver.kill()
    assert all(batches(port, "lost").values())
    assert len(batches(port, "lost")) > 1, "it was lost half way"
    assert rows_in(port, "lost", "runs") == len(alone) == RUNS
    assert hashes(folder, variables, uri, "spark") == alone


def rows_in(port: int, sweep: str, table: str) -> int:
    """How many rows of a table lie in the bucket, without Spark."""
    listed = bucket(port).get_file_info(FileSelector(f"sweeps/{sweep}", recursive=True))
    files = [each.path for each in listed if f"/table={table}/" in each.path]
    rows = 0
    for path in files:
        if path.endswith(".parquet"):
            with bucket(port).open_input_file(path) as file:
                rows += pq.ParquetFile(file).metadata.num_rows
    return rows


def test_report_and_replay_read_it_from_there(folder: Path, variables: dict[str, str]) -> None:
    """After the test above, which made it."""
    for arguments in (["report"], ["replay", "--transactions", "6"]):
        command = [sys.executable, "-m", "whitecap", *arguments, "s3a://sweeps/lost"]
        run(folder, variables, command)
    assert (folder / "out" / "lost" / "report" / "report.html").is_file()
    agreement = json.loads((folder / "out" / "lost" / "replay" / "agreement.json").read_text())
    assert (agreement["mismatches"], agreement["matches"] > 0) == (0, True)


def test_a_bucket_that_is_not_there_is_named_before_anything_runs(
    folder: Path, variables: dict[str, str]
) -> None:
    ended = subprocess.run(
        sweep_command(folder, "s3a://nowhere/s", "--master", "local[2]"), cwd=folder,
        env=variables, text=True, capture_output=True, check=False, timeout=WITHIN_S,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    assert "s3a://nowhere/s: cannot be used" in ended.stderr

"""`whitecap calibrate`: measures a store, leaves nothing behind, and writes a profile that runs."""

from __future__ import annotations

import builtins
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.calibration.loopback_s3 import Bucket, loopback_s3
from tests.command_line import invoked
from tests.sim.sim_worlds import document
from whitecap.exit_codes import ExitCode
from whitecap.sim.calibration import contention
from whitecap.sim.calibration.directory import DirectoryTarget
from whitecap.sim.calibration.measuring import MeasuringPlan, measure
from whitecap.sim.calibration.s3 import S3Target
from whitecap.sim.calibration.samples import StoreOperation, read_samples
from whitecap.sim.loading.profiles import profile_named
from whitecap.sim.scenario.figures import assumptions_of
from whitecap.sim.scenario.origin import Basis

QUICK = ("--count", "30", "--for", "60 s", "--quiet")


def _calibrate(*arguments: object, code: int = 0) -> Result:
    result = invoked("calibrate", *arguments)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def _short_contests(monkeypatch: pytest.MonkeyPatch) -> None:
    """How well they fit is tested beside (`test_fitting`)."""
    monkeypatch.setattr(contention, "COMMITS", 30)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "whitecap")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with loopback_s3() as bucket:
        yield bucket


def _is_measured(profile: Path, assumed: set[str]) -> None:
    """Everything but what cannot be measured is."""
    store = profile_named(str(profile))
    for part in ("get", "put", "head", "delete", "list"):
        assert getattr(store, part).basis is Basis.MEASURED
    assert store.put_if_absent.success.basis is Basis.MEASURED
    assert store.put_if_absent.loss.basis is Basis.MEASURED
    assert store.put_if_absent.at_key is not None
    parts = {path.partition(".")[0] for path in assumptions_of(store)}
    assert parts - {"list", "put_if_absent", "spark"} == assumed


def test_a_directory_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    disk, out = tmp_path / "disk", tmp_path / "mine.yaml"
    _calibrate(disk, "--out", out, "--save-samples", tmp_path / "samples.csv", *QUICK)
    assert not disk.exists()
    _is_measured(out, {"effect", "log_store", "limits", "client"})
    assert profile_named(str(out)).rename is not None
    counts = Counter(
        (s.operation.value, s.clients, s.outcome) for s in read_samples(tmp_path / "samples.csv")
    )
    assert {clients for _, clients, _ in counts} == {1, 2, 4}
    assert counts["put_if_absent", 1, "already_exists"] == 30
    assert counts["put_if_absent", 4, "created"] >= 30
    assert counts["rename", 1, "done"] == 30


def test_directories_above_a_new_one_are_taken_away_too(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    _calibrate(kept / "new" / "disk", "--out", tmp_path / "mine.yaml", *QUICK)
    assert list(kept.iterdir()) == []


def test_the_profile_is_what_a_run_takes(tmp_path: Path) -> None:
    out, scenario = tmp_path / "mine.yaml", tmp_path / "scenario.yaml"
    _calibrate(tmp_path / "disk", "--out", out, *QUICK)
    scenario.write_text(json.dumps(document(duration="2 min")))
    command = ["run", str(scenario), "--set", f"store.profile={out}", "--json"]
    result = invoked(*command)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["store"]["profile"] == "mine"


def test_samples_of_a_file_make_the_same_profile(tmp_path: Path) -> None:
    samples = tmp_path / "samples.csv"
    _calibrate(tmp_path / "disk", "--save-samples", samples, *QUICK)
    again = tmp_path / "again.yaml"
    _calibrate("--samples", samples, "--like", "local", "--out", again)
    _is_measured(again, {"effect", "log_store", "limits", "client"})


def test_files_that_are_there_are_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    samples, out = tmp_path / "samples.csv", tmp_path / "mine.yaml"
    out.write_text("precious")
    given = ("--out", out, "--save-samples", samples)
    said = _calibrate(tmp_path / "disk", *given, *QUICK, code=ExitCode.BAD_INPUT).stderr
    assert f"{out}: is there already: say --overwrite" in said
    assert out.read_text() == "precious"
    assert not samples.exists()
    _calibrate(tmp_path / "disk", *given, "--overwrite", *QUICK)
    _is_measured(out, {"effect", "log_store", "limits", "client"})


def test_without_a_file_the_profile_is_printed(tmp_path: Path) -> None:
    result = _calibrate(tmp_path / "disk", *QUICK)
    assert result.stdout.startswith("description: ")


def test_too_few_samples_are_no_profile(tmp_path: Path) -> None:
    samples = tmp_path / "samples.csv"
    samples.write_text("operation,latency_ms\n" + "put_if_absent,5\n" * 19)
    said = _calibrate("--samples", samples, code=ExitCode.BAD_INPUT).stderr
    assert "19 put_if_absent by one client that created its key: needs 20" in said


def test_a_place_that_is_not_empty_is_left_alone_unless_one_says_so(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    (disk / "theirs").write_text("x")
    said = _calibrate(disk, *QUICK, code=ExitCode.BAD_INPUT).stderr
    assert "is not empty: --nonempty measures beside what is there" in said
    _calibrate(disk, "--nonempty", *QUICK)
    assert os.listdir(disk) == ["theirs"]


def test_interrupted_it_leaves_nothing_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: Any) -> None:
        raise KeyboardInterrupt

    disk, out = tmp_path / "disk", tmp_path / "mine.yaml"
    monkeypatch.setattr(DirectoryTarget, "another", pressed)
    _calibrate(disk, "--out", out, *QUICK, code=ExitCode.INTERRUPTED)
    assert not disk.exists()
    assert not out.exists()


def test_it_ends_when_the_time_is_up(tmp_path: Path) -> None:
    plan = MeasuringPlan(count=10**6, sizes=(4096,), clients=(1,), seconds=1)
    samples = measure(DirectoryTarget(tmp_path / "disk"), plan, lambda *_: None)
    assert 0 < len(samples) < 10**6
    assert not (tmp_path / "disk").exists()


def test_progress_says_what_is_measured_and_how_far_it_is(tmp_path: Path) -> None:
    progress: list[tuple[int, int, str]] = []
    measure(
        DirectoryTarget(tmp_path / "disk"), MeasuringPlan(20), lambda *now: progress.append(now)
    )
    assert {"requests", "sizes", "1 client", "4 clients"} <= {what for _, _, what in progress}
    assert [done for done, _, _ in progress] == sorted(done for done, _, _ in progress)
    assert all(0 <= done <= total for done, total, _ in progress)


def test_a_prefix_in_s3_is_measured_and_left_empty(tmp_path: Path, s3: Bucket) -> None:
    out, samples = tmp_path / "mine.yaml", tmp_path / "samples.csv"
    s3.objects["elsewhere/theirs"] = b"x"
    where = ["s3://bucket/a/place", "--endpoint-url", s3.url]
    _calibrate(*where, "--out", out, "--save-samples", samples, *QUICK)
    assert list(s3.objects) == ["elsewhere/theirs"]
    assert all(key.startswith("a/place/whitecap-calibrate-") for key in s3.written)
    _is_measured(out, {"effect", "log_store", "limits", "client"})
    store = profile_named(str(out))
    assert store.copy_object is not None
    assert store.copy_object.basis is Basis.MEASURED
    assert f"s3://bucket/a/place at {s3.url}" in store.get.source
    lost = [s for s in read_samples(samples) if s.outcome == "already_exists" and s.clients > 1]
    assert lost


def test_a_prefix_that_is_not_empty_is_left_alone(s3: Bucket) -> None:
    s3.objects["a/theirs"] = b"x"
    said = _calibrate("s3://bucket/a", "--endpoint-url", s3.url, *QUICK, code=2).stderr
    assert "is not empty" in said
    assert not s3.written


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("s3://", "names no bucket: write s3://BUCKET/PREFIX"),
        ("s3://another/a", "NoSuchBucket"),
        ("gs://bucket/a", "is neither a directory nor an s3:// URL"),
        ("s3:/bucket/a", "is neither a directory nor an s3:// URL"),
    ],
)
def test_a_place_that_cannot_be_measured_is_told(url: str, expected: str, s3: Bucket) -> None:
    endpoint = ["--endpoint-url", s3.url] if url.startswith("s3") else []
    assert expected in _calibrate(url, *endpoint, *QUICK, code=ExitCode.BAD_INPUT).stderr


def test_a_file_is_told_to_be_no_store(tmp_path: Path) -> None:
    file = tmp_path / "samples.csv"
    file.write_text("operation,latency_ms\n")
    said = _calibrate(file, *QUICK, code=ExitCode.BAD_INPUT).stderr
    assert f"error: {file}: is a file, and neither a directory nor an s3:// URL" in said
    assert "--samples takes" in said
    assert "cannot be written" not in said


def test_without_its_library_s3_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def without_boto3(name: str, *rest: Any) -> Any:
        if name == "boto3":
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_boto3)
    said = _calibrate("s3://bucket/a", code=ExitCode.ENVIRONMENT_MISSING).stderr
    assert "boto3 is not installed. Run: pip install 'whitecap[s3]'" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "give either a directory or an s3:// URL, or --samples"),
        (["disk", "--samples", "x.csv"], "give either"),
        (["--samples", "x.csv", "--nonempty"], "--nonempty does not go with --samples"),
        (["disk", "--clients", "0,a", "--for", "3"], "'0' is not a number from 1 to 64"),
        (["disk", "--clients", "2,²"], "'²' is not a number from 1 to 64"),
        (["disk", "--clients", "9" * 5000], "is not a number from 1 to 64"),
        (["disk", "--for", "2 d"], "is not between 1 s and 1 d"),
        (["disk", "--like", "s4"], "did you mean 's3'?"),
        (["disk", "--endpoint-url", "http://x"], "--endpoint-url goes with an s3:// URL"),
    ],
)
def test_options_that_do_not_fit_are_told(
    arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in _calibrate(*arguments, code=ExitCode.BAD_INPUT).stderr
    assert not (tmp_path / "disk").exists()


def test_what_s3_refuses_is_told_apart(s3: Bucket) -> None:
    def tell(*now: Any) -> None:
        if now[-1] == "sizes":
            s3.refusing = 1

    plan = MeasuringPlan(20, sizes=(64,), clients=(1,), seconds=30)
    samples = measure(S3Target.of("s3://bucket/a", s3.url), plan, tell)
    refused = [sample for sample in samples if sample.outcome == "refused"]
    assert len(refused) > 3
    assert {sample.operation for sample in refused} == {StoreOperation.PUT, StoreOperation.GET}

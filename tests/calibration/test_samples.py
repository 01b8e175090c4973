"""Samples of requests come from a CSV file, and everything wrong with one is told by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from whitecap.engine.errors import InvalidInput
from whitecap.sim.calibration.samples import Sample, StoreOperation, read_samples, samples_text

SAMPLES = [
    Sample(StoreOperation.PUT_IF_ABSENT, 4096, 61.5, 2, "already_exists"),
    Sample(StoreOperation.GET, 1 << 20, 47.0, 1, "done"),
]


def _file(folder: Path, text: str) -> Path:
    path = folder / "samples.csv"
    path.write_text(text)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert read_samples(_file(tmp_path, samples_text(SAMPLES))) == SAMPLES


def test_operation_and_latency_are_enough(tmp_path: Path) -> None:
    path = _file(tmp_path, "latency_ms,operation\n12.5,put_if_absent\n3,head\n")
    assert read_samples(path) == [
        Sample(StoreOperation.PUT_IF_ABSENT, 0, 12.5, 1, "created"),
        Sample(StoreOperation.HEAD, 0, 3.0, 1, "done"),
    ]


def test_every_bad_line_is_told_with_its_number(tmp_path: Path) -> None:
    text = (
        "operation,bytes,latency_ms,clients,outcome\n"
        "put,4096,5,1,done\n"
        "putt,4096,5,1,done\n"
        "get,4096,-5,1,done\n"
        "get,4096,soon,1.5,lost\n"
        "put_if_absent,4096,5,1,done\n"
        "get,4096,,1,done\n"
        "get,4096\n"
    )
    with pytest.raises(InvalidInput) as caught:
        read_samples(_file(tmp_path, text))
    said = [str(problem).partition("samples.csv:")[2] for problem in caught.value.problems]
    assert [line.partition(":")[0] for line in said] == [
        "3 operation", "4 latency_ms", "5 outcome", "5 latency_ms", "5 clients", "6 outcome",
        "7 latency_ms", "8",
    ]  # fmt: skip
    assert "did you mean 'put'?" in said[0]
    assert "'done' is none of created, already_exists, refused" in said[5]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: has no column 'operation'"),
        ("operation,latency_ms\n", "holds no samples"),
        ("operation,latency\nput,5\n", r"unknown column 'latency' \(did you mean 'latency_ms'"),
    ],
)
def test_a_file_without_samples_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InvalidInput, match=expected):
        read_samples(_file(tmp_path, text))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        read_samples(tmp_path / "nowhere.csv")

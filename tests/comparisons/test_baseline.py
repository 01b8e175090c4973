"""The file of a baseline: what it keeps, how it can be read, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tests.comparisons.two_sides import ETL, side
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.baseline import (
    Baseline,
    BaselineScenario,
    as_stored,
    read_baseline,
)
from whitecap.reports.comparisons.changes import changes_between
from whitecap.reports.comparisons.sides import PerRun
from whitecap.reports.comparisons.wording import counts_text
from whitecap.sim.machine.places import write_whole

CONFLICTS = [10, 12, 11]
LATENCIES = [[100.0, 2 / 3, 300.0], [400.5], []]
STORED = BaselineScenario(
    "tiny", "tiny.yaml", 7, {"": side(CONFLICTS, [5, 6, 7], LATENCIES, of=ETL)}
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "deep" / "baseline.json"
    write_whole(path, Baseline().with_these([STORED], "0.1.0+abc").text.encode())
    return path


def test_what_is_read_back_is_the_same_as_what_was_written(file: Path) -> None:
    back = read_baseline(file).scenarios["tiny"]
    assert (back.name, back.source, back.seed, back.replications) == ("tiny", "tiny.yaml", 7, 3)
    changes = changes_between(back.sides, as_stored(STORED).sides, paired=True)
    assert counts_text(changes) == "4 comparisons the same"


def test_of_latencies_the_percentile_of_each_replication_is_kept(file: Path) -> None:
    kept = read_baseline(file).scenarios["tiny"].sides[""].groups[ETL][Measure.LATENCY_P95_MS]
    values = [each.value for each in kept.values() if isinstance(each, PerRun)]
    assert values[:2] == [pytest.approx(280.0), 400.5]
    assert math.isnan(values[2])


def test_every_measure_of_a_writer_group_is_one_line(file: Path) -> None:
    lines = [line.strip() for line in file.read_text().splitlines()]
    assert '"conflict_rate": {"part": [10, 12, 11], "whole": [100, 100, 100]},' in lines
    assert '"replications": [0, 1, 2],' in lines


def test_scenarios_that_were_not_checked_stay_as_they_were(file: Path) -> None:
    other = BaselineScenario("another", "another.yaml", 1, {"": side([1, 2])})
    before = file.read_text().splitlines()
    file.write_text(read_baseline(file).with_these([other], "0.2.0").text)
    assert set(before) - {"  {", "   ]"} <= set(file.read_text().splitlines())
    assert list(read_baseline(file).scenarios) == ["another", "tiny"]
    assert read_baseline(file).made_by == {"another": "0.2.0", "tiny": "0.1.0+abc"}


def test_writing_what_was_read_changes_no_byte(file: Path) -> None:
    assert read_baseline(file).text == file.read_text()


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (2, "a newer Whitecap wrote it, and reads it: pip install --upgrade whitecap"),
        (0, "remove it and write it anew with whitecap check --update-baseline"),
    ],
)
def test_another_format_version_is_refused_with_what_to_do(
    file: Path, version: int, message: str
) -> None:
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "format_version": version}))
    with pytest.raises(InvalidInput, match=message):
        read_baseline(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read: it is no JSON from line 1, column 2 on$"),
        ("", "cannot be read: it is empty$"),
        ("[]", "is no baseline"),
        ('{"name": 1}', "is no baseline"),
        ('{"format_version": 1}', "is damaged .* remove it and write it anew"),
        ('{"format_version": 1, "scenarios": [3]}', "is damaged"),
    ],
)
def test_what_is_no_baseline_is_told(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_baseline(file)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"whole"', '"hole"'),
        ("[10, 12, 11]", "[10, 12]"),
        ("[10, 12, 11]", "[10, 120, 11]"),
        ("[10, 12, 11]", '[10, "a", 11]'),
        ("[10, 12, 11]", "[10, null, 11]"),
        ("conflict_rate", "konflict_rate"),
    ],
)
def test_a_baseline_that_was_changed_by_hand_is_damaged(file: Path, was: str, now: str) -> None:
    text = file.read_text()
    assert was in text
    file.write_text(text.replace(was, now, 1))
    with pytest.raises(InvalidInput, match="is damaged"):
        read_baseline(file)


def test_a_baseline_that_is_not_there_is_answered_with_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="whitecap check --update-baseline writes it"):
        read_baseline(tmp_path / "none.json")

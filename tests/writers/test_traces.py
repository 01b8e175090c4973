"""Recorded jobs come when they came, and take as long as they took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.sim.sim_worlds import document
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import cell_of, load_scenario, scenario_of
from whitecap.sim.recording.recording import SCENARIO
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario

RECORDED = Path(__file__).parent / "recorded_jobs.csv"
UPDATE = "UPDATE events SET amount = 0.5"


def traced(trace: dict[str, Any], **more: Any) -> dict[str, Any]:
    writer = {"statement": UPDATE, "arrival": {"trace": trace}, **more}
    return document(store="instant", writers={"w": writer})


def played(given: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Of each job the writer, when it came, and how long it computed."""
    rows = run_scenario(scenario_of(given)).recording.transactions.to_pylist()
    return [(row["writer"], row["submitted_at_ms"], row["compute_ms"]) for row in rows]


def test_jobs_come_when_they_came_and_take_as_long_as_they_took() -> None:
    """What came before the run begins is left out; so are columns of other names."""
    expected = [("w-1", 5_000, 12_000), ("w-1", 5_500, 1_500), ("w-1", 60_000, 250)]
    assert played(traced({"file": str(RECORDED)})) == expected


def test_writers_of_a_group_take_recorded_jobs_in_turn() -> None:
    jobs = played(traced({"text": "at_s,takes_ms\n3,30\n1,10\n2,20\n4,40\n"}, count=3))
    assert jobs == [
        ("w-1", 1_000, 10),
        ("w-2", 2_000, 20),
        ("w-3", 3_000, 30),
        ("w-1", 4_000, 40),
    ]


def test_without_durations_jobs_compute_as_the_scenario_says() -> None:
    jobs = played(traced({"text": "at\n1 s\n2 min\n"}, compute={"time": "3 s"}))
    assert jobs == [("w-1", 1_000, 3_000), ("w-1", 120_000, 3_000)]


def test_a_rerun_takes_as_long_as_its_job() -> None:
    rerun = {"fixed": {"wait": "1 s"}}
    jobs = played(traced({"text": "at_s,takes_s\n1,5\n2,6\n"}, rerun=rerun))
    assert [(submitted, compute) for _, submitted, compute in jobs] == [
        (1_000, 5_000),
        (2_000, 6_000),
        (9_000, 6_000),
    ]


def test_the_largest_trace_fits_into_a_scenario() -> None:
    text = "at_s,note\n" + "".join(f"{second},{'x' * 19}\n" for second in range(20_000))
    assert 500_000 < len(text) <= 512 << 10
    again = scenario_of(scenario_of(traced({"text": text})).document)
    assert again.writers["w"].arrival.jobs(0, 0) == 20_000


def test_jobs_wait_for_their_turn_where_only_so_many_run_at_once() -> None:
    run = run_scenario(scenario_of(traced({"text": "at_s,takes_s\n1,5\n2,6\n", "concurrency": 1})))
    ended = run.recording.transactions["ended_at_ms"].to_pylist()
    assert ended == [6_000, 12_000]


def _on_disk(folder: Path, **more: Any) -> Scenario:
    (folder / "jobs.csv").write_text("at,takes\n1 s,2 s\n")
    (folder / "others.csv").write_text("at,takes\n7 s,8 s\n")
    given = traced({"file": "jobs.csv"}) | more
    (folder / "small.yaml").write_text(yaml.safe_dump(given))
    return load_scenario(folder / "small.yaml")


def test_a_recording_holds_the_trace_that_it_was_made_of(tmp_path: Path) -> None:
    scenario = _on_disk(tmp_path)
    run_scenario(scenario, out=tmp_path / "out")
    (tmp_path / "jobs.csv").unlink()
    assert load_scenario(tmp_path / "out" / SCENARIO).hash == scenario.hash


def test_variants_of_a_sweep_may_name_traces_of_their_own(tmp_path: Path) -> None:
    path = "writers.w.arrival.trace"
    axes = {"day": {"quiet": {}, "busy": {f"{path}.file": "others.csv"}}}
    scenario = _on_disk(tmp_path, sweep={"axes": axes, "replications": 1})
    (tmp_path / "others.csv").unlink()
    assert played(cell_of(scenario, {"day": "busy"}).document) == [("w-1", 7_000, 8_000)]
    assert played(cell_of(scenario, {"day": "quiet"}).document) == [("w-1", 1_000, 2_000)]


def test_every_bad_line_of_a_file_is_told_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("at,takes\n1 s,2 s\nsoon,2 s\n3 s\n\n4 s,5\n5 s,1 s\n")
    with pytest.raises(InvalidInput) as raised:
        scenario_of(traced({"file": str(tmp_path / "bad.csv")}))
    problems = [str(problem) for problem in raised.value.problems]
    assert [text.partition(": ")[0].rpartition("/")[2] for text in problems] == [
        "bad.csv:3",
        "bad.csv:4",
        "bad.csv:6",
    ]
    assert "'soon' is not a duration" in problems[0]
    assert "has no value for 'takes'" in problems[1]
    assert "'5' is not a duration" in problems[2]


def test_of_very_many_bad_lines_the_first_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("at_s\n" + "x\n" * 500)
    with pytest.raises(InvalidInput) as raised:
        scenario_of(traced({"file": str(tmp_path / "bad.csv")}))
    assert len(raised.value.problems) == 21
    assert "and 480 further lines are wrong" in str(raised.value.problems[-1])


@pytest.mark.parametrize(
    ("trace", "more", "expected"),
    [
        ({"file": "none.csv"}, {}, "none.csv: cannot be read: No such file"),
        ({"text": "when\n1 s\n"}, {}, "line 1: has no column 'at'"),
        ({"text": "at,at_s\n1 s,1\n"}, {}, "line 1: has two columns for 'at'"),
        ({"text": "at\n"}, {}, "line 1: has no jobs"),
        ({"text": ""}, {}, "line 1: has no column 'at'"),
        ({"text": "at_s\n1e99\n"}, {}, "line 2: '1e99 s' is longer than 3650 d"),
        ({"text": "at_s\n-5\n"}, {}, "line 2: '-5 s' is not a duration"),
        ({"text": "at,x\n" + f"1 s,{'x' * 700}\n" * 1000}, {}, "is larger than 512 KiB"),
        ({"text": "at_s\n" + "1\n" * 20_002}, {}, "has more than 20,000 jobs"),
        ({}, {}, "give either file or text"),
        ({"text": "at\n1 s\n", "file": "a.csv"}, {}, "a.csv: cannot be read"),
        ({"text": "at_s,takes_s\n1,2\n"}, {"compute": "3 s"}, "compute.time is not used: the tra"),
    ],
)
def test_a_trace_that_cannot_be_meant_is_refused(
    trace: dict[str, Any], more: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of(traced(trace, **more))
    assert expected in str(raised.value)

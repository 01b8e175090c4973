"""Load or design: an axis is known by what its variants set, and by `role:` where it is stated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import AxisRole
from whitecap.sim.loading import parse_scenario
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.opening import open_place

BASE = yaml.safe_load(SCENARIO)
BASE["writers"]["stream"] = {
    "streaming": {"checkpoint": "clicks", "rows": {"count": 5}},
    "arrival": {"closed": {"think": "20 s"}},
}
BASE["writers"]["compactor"] = {
    "statement": "OPTIMIZE events",
    "arrival": {"schedule": {"every": "4 min", "offset": "1 min"}},
}
BASE["writers"]["nightly"] = {
    "statement": "DELETE FROM events WHERE date = :date",
    "parameters": {"date": "uniform"},
    "arrival": {"schedule": {"every": "4 min", "offset": "1 min"}},
}


def role_of(directory: Path, *variants: Mapping[str, object], role: str | None = None) -> AxisRole:
    """What an axis with these variants of the scenario above is."""
    stated = {} if role is None else {"role": role}
    axis = {**stated, **{f"variant {n}": changes for n, changes in enumerate(variants)}}
    text = yaml.safe_dump({**BASE, "sweep": {"axes": {"writers": axis}}}, sort_keys=False)
    return load_experiment(write_scenario(directory, text)).roles["writers"]


LOAD: dict[str, dict[str, object]] = {
    "how many writers there are": {"writers.loader.count": 4},
    "how many streams there are": {"writers.stream.count": 4},
    "how often jobs arrive": {"writers.loader.arrival.open.rate": "8 per min"},
    "how many of them run at a time": {"writers.loader.arrival.open.concurrency": 1},
    "how long writers think": {"writers.corrector.arrival.closed.think": "1 s"},
    "another arrival": {"writers.corrector.arrival": {"open": {"rate": "1 per min"}}},
    "the schedule of jobs that bring data": {"writers.nightly.arrival.schedule.every": "1 min"},
    "for how long they work": {"writers.loader.stops": "6 min"},
    "how many rows a job brings": {"writers.loader.parameters.rows.rows.count": 9},
    "how many rows a batch brings": {"writers.stream.streaming.rows.count": 9},
    "at which hours jobs arrive": {
        "writers.loader.arrival.open.profile": {"hours": {"8-18": 3}},
    },
    "that jobs come in bursts": {
        "writers.loader.arrival.open.bursts": {"every": "5 min", "lasts": "1 min", "times": 9},
    },
    "how many jobs come together": {"writers.loader.arrival.open.batch": 3},
    "on which days jobs bring data": {"writers.nightly.arrival.schedule.weekdays": ["Wed"]},
    "recorded jobs": {"writers.loader.arrival": {"trace": {"text": "at_s\n1\n2\n"}}},
    "one more group": {"writers.other": BASE["writers"]["loader"]},
}


@pytest.mark.parametrize("setting", LOAD)
def test_an_axis_is_load_if_it_sets(tmp_path: Path, setting: str) -> None:
    assert role_of(tmp_path, {}, LOAD[setting]) is AxisRole.LOAD


DESIGN: dict[str, dict[str, object]] = {
    "how the table lies": {"table.partition_by": []},
    "the trigger of a stream": {"writers.stream.arrival.closed.think": "60 s"},
    "how often the table is compacted": {"writers.compactor.arrival.schedule.every": "1 min"},
    "how many compact it": {"writers.compactor.count": 2},
    "that nobody compacts it": {"writers.compactor.statement": "VACUUM events"},
    "on which days it is compacted": {"writers.compactor.arrival.schedule.weekdays": ["Wed"]},
    "by how much jobs of a schedule are late": {
        "writers.nightly.arrival.schedule.jitter": {"exponential": {"mean": "5 s"}},
    },
    "what starts failed jobs anew": {"writers.corrector.restart": "spark-streaming"},
    "when jobs are given up": {"writers.corrector.deadline": "9 min"},
    "what a cluster has": {
        "writers.corrector.cluster": "etl",
        "clusters": {"etl": {"slots": 1}},
    },
    "how jobs of one schedule are apart": {"writers.nightly.arrival.schedule.offset": "2 min"},
    "what becomes of aborted jobs": {"writers.corrector.rerun": "none"},
    "how long jobs compute": {"writers.corrector.compute": "9 s"},
    "another statement": {"writers.nightly.statement": "DELETE FROM events WHERE date < :date"},
    "the store": {"store.profile": "s3"},
}


@pytest.mark.parametrize("setting", DESIGN)
def test_an_axis_called_writers_is_design_if_it_sets(tmp_path: Path, setting: str) -> None:
    assert role_of(tmp_path, {}, DESIGN[setting]) is AxisRole.DESIGN


def test_an_axis_whose_variants_all_offer_the_same_work_is_design(tmp_path: Path) -> None:
    more = {"writers.loader.count": 7}
    assert role_of(tmp_path, more, {**more, "table.partition_by": []}) is AxisRole.DESIGN


def test_an_axis_that_sets_load_beside_design_is_load(tmp_path: Path) -> None:
    both = {"writers.loader.count": 7, "table.partition_by": []}
    assert role_of(tmp_path, {}, both) is AxisRole.LOAD


def test_a_stated_role_overrules(tmp_path: Path) -> None:
    count: dict[str, object] = {"writers.loader.count": 4}
    layout: dict[str, object] = {"table.partition_by": []}
    assert role_of(tmp_path, {}, count, role="design") is AxisRole.DESIGN
    assert role_of(tmp_path, {}, layout, role="load") is AxisRole.LOAD


def test_a_role_is_no_variant(tmp_path: Path) -> None:
    text = SCENARIO.replace("    isolation:\n", "    isolation:\n      role: load\n")
    experiment = load_experiment(write_scenario(tmp_path, text))
    assert list(experiment.axes["isolation"]) == ["Serializable", "WriteSerializable"]
    assert len(experiment.cells) == 4


def test_another_role_is_refused_with_its_place() -> None:
    text = SCENARIO.replace("    isolation:\n", "    isolation:\n      role: laod\n")
    with pytest.raises(InvalidInput) as error:
        parse_scenario(text, "tiny.yaml")
    (problem,) = error.value.problems
    assert problem.place == "tiny.yaml:39 sweep.axes.isolation.role"
    assert problem.nearest == "load"


def test_an_axis_added_for_once_is_known_by_its_parameter(tmp_path: Path) -> None:
    quick = {"writers.loader.count": [2, 4], "table.bytes_per_row": [10, 20]}
    roles = load_experiment(write_scenario(tmp_path), quick_axes=quick).roles
    assert roles["writers.loader.count"] is AxisRole.LOAD
    assert roles["table.bytes_per_row"] is AxisRole.DESIGN


def test_an_axis_of_which_one_variant_is_kept_stays_what_it_was(tmp_path: Path) -> None:
    axes = "    more:\n      'no': {}\n      'yes': {writers.loader.count: 3}\n"
    path = write_scenario(tmp_path, SCENARIO + axes)
    assert load_experiment(path, only={"more": ["no"]}).roles == {"more": AxisRole.LOAD}


def test_the_definition_of_a_sweep_holds_the_role_of_every_axis(tmp_path: Path) -> None:
    text = SCENARIO.replace("    isolation:\n", "    isolation:\n      role: load\n")
    open_place(load_experiment(write_scenario(tmp_path, text)), LocalPlace(tmp_path / "out"))
    definition = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert definition["axis_roles"] == {"partitioning": "design", "isolation": "load"}
    assert "role" not in definition["axes"]["isolation"]


@pytest.mark.parametrize(
    ("changes", "order"),
    [
        ([{"writers.loader.count": 4}, {}, {"writers.loader.count": 3}], [1, 2, 0]),
        ([{}, {"writers.corrector.arrival.closed.think": "90 s"}], [1, 0]),
        ([{}, {"writers.loader.arrival.open.rate": "1 per h"}], [1, 0]),
        ([{}, {"writers.loader.parameters.rows.rows.count": 1}], [1, 0]),
        ([{"writers.stream.count": 2}, {}], [1, 0]),
        ([{"table.partition_by": []}, {}], [0, 1]),
    ],
    ids=["writers", "think time", "rate", "rows", "streams", "none of them"],
)
def test_the_definition_orders_load_by_the_work_that_is_offered(
    tmp_path: Path, changes: list[dict[str, object]], order: list[int]
) -> None:
    axis = {"role": "load", **{str(n): each for n, each in enumerate(changes)}}
    text = yaml.safe_dump({**BASE, "sweep": {"axes": {"work": axis}}}, sort_keys=False)
    definition = load_experiment(write_scenario(tmp_path, text)).definition()
    assert definition["lightest_first"] == {"work": [str(n) for n in order]}

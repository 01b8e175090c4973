"""Passing winners by, or checking each one whole: the same bytes, attempts and verdicts.

Of observed cases their own tests ask it (`tests/conformance`).
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tests.interleaving.test_schedules import STATEMENTS, course_of, start, world
from tests.passing_by import both_ways
from whitecap.engine.dialects import DIALECTS
from whitecap.engine.errors import InvalidInput
from whitecap.engine.races.interleaving.schedules import Exploration, schedules
from whitecap.scenarios import SCENARIOS
from whitecap.sim.loading import load_scenario, scenario_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(STATEMENTS, 2)))
def test_every_schedule_of_a_pair_shows_the_same(pair: tuple[str, str]) -> None:
    race = [start(sql) for sql in pair]

    def play() -> object:
        return [course_of(played) for played in schedules(world(), race, Exploration.EVERY)]

    passing_by, whole = both_ways(play)
    assert passing_by == whole


JOBS = load_scenario(SCENARIOS / "events.yaml").document
SOON = {"closed": {"think": {"exponential": {"mean": "10 s"}}}}
"""Everybody is busy, so that most attempts are lost."""

PROPERTIES: tuple[dict[str, str], ...] = (
    {},
    {"delta.enableRowTracking": "true"},
    {"delta.enableInCommitTimestamps": "true"},
    {"delta.enableDeletionVectors": "true"},
    {"delta.enableTypeWidening": "true"},
)
COMMENT = {"statement": "ALTER TABLE events SET TBLPROPERTIES ('team' = 'sea')", "compute": "1 s"}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Some of the events jobs and a change of metadata, on a table of any layout and dialect."""
    jobs = {**JOBS["writers"], "commenter": COMMENT}
    names = draw(st.lists(st.sampled_from(sorted(jobs)), min_size=1, max_size=4, unique=True))
    writers = {
        name: {**jobs[name], "count": draw(st.integers(1, 4)), "arrival": SOON} for name in names
    }
    table = {
        **JOBS["table"],
        "partition_by": draw(st.sampled_from([[], ["date"], ["date", "country"]])),
        "isolation": draw(st.sampled_from(["Serializable", "WriteSerializable"])),
        "properties": draw(st.sampled_from(PROPERTIES)),
        "initial": {"rows": 420, "rows_per_file": 20},
    }
    return {
        "name": "any",
        "dialect": draw(st.sampled_from(sorted(DIALECTS))),
        "seed": draw(st.integers(0, 99)),
        "duration": "6 min",
        "store": "s3",
        "table": table,
        "writers": writers,
    }


def allowed(document: dict[str, Any]) -> Scenario:
    """The scenario; none of a dialect that does not know the property."""
    try:
        return scenario_of(document)
    except InvalidInput:
        reject()


def log_of(run: FinishedRun) -> list[tuple[str, bytes]]:
    objects = run.world.store.objects
    return [(key, objects[key].body) for key in sorted(objects)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_a_scenario_leaves_the_same_log_and_recording(document: dict[str, Any]) -> None:
    scenario = allowed(document)
    passing_by, whole = both_ways(lambda: run_scenario(scenario, requests=True))
    assert log_of(passing_by) == log_of(whole)
    assert passing_by.recording.tables == whole.recording.tables

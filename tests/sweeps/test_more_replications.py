"""A sweep that is there gets more replications, and goes by its first command afterwards too."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import whitecap
from tests.command_line import invoked
from tests.sweeps.sweep_scenario import kept_in, rows_of, write_scenario
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.sweeps.experiment import load_experiment
from whitecap.sim.sweeps.opening import open_place
from whitecap.sim.sweeps.sweep_job import run_sweep

EASY = "job_success_rate +- 30 points"

ONLY: dict[str, list[str]] = {"isolation": []}

call = partial(invoked, columns=200)
sweep = partial(whitecap.sweep, only=ONLY, engine="processes", quiet=True)


def words_of(scenario: Path, out: Path) -> list[object]:
    """The plain command."""
    return ["sweep", scenario, "--engine", "processes", "--axis", "isolation", "--out", out]


def replications_of(out: Path) -> int:
    """As its definition says."""
    number: int = json.loads((out / "sweep.json").read_text())["replications"]
    return number


def no_engine() -> Any:
    raise AssertionError("there is nothing to run")


def test_replications_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    scenario, out = write_scenario(tmp_path), tmp_path / "out"
    sweep(scenario, out=out)
    before = kept_in(out)
    more = sweep(scenario, replications=4, out=out)
    at_once = sweep(scenario, replications=4, out=tmp_path / "at-once")
    after = kept_in(out)
    assert {name: after[name] for name in before} == before
    assert rows_of(out) == rows_of(tmp_path / "at-once")
    assert more.measures.equals(at_once.measures)
    assert str(more.answer) == str(at_once.answer)


@pytest.mark.parametrize("more", [("--replications", 4), ("--until", EASY)])
def test_the_first_command_is_taken_after_more_were_added_and_runs_nothing(
    more: tuple[object, ...], tmp_path: Path
) -> None:
    scenario, out = write_scenario(tmp_path), tmp_path / "out"
    words = words_of(scenario, out)
    assert call(*words).exit_code == ExitCode.FINE
    assert call(*words, *more).exit_code == ExitCode.FINE
    kept, number = kept_in(out), replications_of(out)
    assert number > 2
    again = call(*words, "--json")
    assert again.exit_code == ExitCode.FINE, again.output
    said = f"the sweep there went on to {number} replications: the answer is over all its runs"
    assert said in again.stderr
    assert json.loads(again.stdout)["replications"] == number
    assert json.loads(again.stdout)["seed"] == 5
    assert (kept_in(out), replications_of(out)) == (kept, number)
    between = call(*words, "--replications", 3)
    assert between.exit_code == ExitCode.FINE, between.output


def test_a_sweep_that_was_begun_with_until_is_gone_on_with_by_the_plain_command(
    tmp_path: Path,
) -> None:
    scenario, out = write_scenario(tmp_path), tmp_path / "out"
    sweep(scenario, until=EASY, out=out)
    kept = kept_in(out)
    assert sweep(scenario, out=out).runs["replication"].nunique() == 10
    assert kept_in(out) == kept


def test_fewer_than_a_sweep_began_with_are_refused_with_the_reason(tmp_path: Path) -> None:
    scenario, out = write_scenario(tmp_path), tmp_path / "out"
    place = LocalPlace(out)
    open_place(load_experiment(scenario), place)
    open_place(load_experiment(scenario, replications=7), place)
    before = (out / "sweep.json").read_bytes()
    with pytest.raises(InvalidInput) as caught:
        open_place(load_experiment(scenario, replications=1), place)
    assert "replications: was 7, is now 1: can be added, and not taken away" in str(caught.value)
    assert (out / "sweep.json").read_bytes() == before


def test_a_sweep_that_broke_off_on_its_way_to_more_is_not_made_to_finish_them(
    tmp_path: Path,
) -> None:
    scenario, place = write_scenario(tmp_path), LocalPlace(tmp_path / "out")
    experiment = load_experiment(scenario, only=ONLY)
    sweep(scenario, out=place.path)
    open_place(replace(experiment, replications=9), place)
    run_sweep(experiment, place, no_engine)
    assert replications_of(place.path) == 9


def test_another_definition_is_another_sweep_whatever_its_number(tmp_path: Path) -> None:
    scenario, place = write_scenario(tmp_path), LocalPlace(tmp_path / "out")
    open_place(load_experiment(scenario), place)
    with pytest.raises(InvalidInput) as caught:
        open_place(load_experiment(scenario, replications=9, seed=99), place)
    assert "seed: was 5, is now 99" in str(caught.value)
    assert "replications" not in str(caught.value)


@pytest.mark.parametrize(
    ("was", "now"),
    [("seed: 5", 'seed: "5"'), ("count: 2}}", 'count: "2"}}')],
)
def test_a_number_is_the_same_however_it_is_written(was: str, now: str, tmp_path: Path) -> None:
    """So it may be given with `--set` where the file has it in quotes."""
    scenario, out = write_scenario(tmp_path), LocalPlace(tmp_path / "out")
    open_place(load_experiment(scenario), out)
    rewritten = scenario.with_name("again.yaml")
    rewritten.write_text(scenario.read_text().replace(was, now))
    assert rewritten.read_text() != scenario.read_text()
    again = open_place(load_experiment(rewritten), out)
    assert again.seed == 5
    open_place(load_experiment(scenario), out)


def test_another_number_in_quotes_is_another_sweep(tmp_path: Path) -> None:
    scenario, out = write_scenario(tmp_path), LocalPlace(tmp_path / "out")
    open_place(load_experiment(scenario), out)
    scenario.write_text(scenario.read_text().replace("count: 2}}", 'count: "3"}}'))
    with pytest.raises(InvalidInput, match='was 2, is now "3"'):
        open_place(load_experiment(scenario), out)

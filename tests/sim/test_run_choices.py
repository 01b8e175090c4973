"""`run --set`, `--cell` and `--json`: what is run, and what is said of it."""

from __future__ import annotations

import json
import pickle
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

import whitecap
from tests.command_line import invoked
from tests.sim.sim_worlds import document
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.options.assignments import cell_named, changes_named, values_named
from whitecap.sim.loading import cell_of, load_scenario
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.sweeps.experiment import load_experiment

AXES: dict[str, Any] = {
    "layout": {
        "by date": {"table.partition_by": ["date"]},
        "by date, country": {"table.partition_by": ["date", "country"]},
    },
    "loaders": {"2": {}, "5": {"writers.loader.count": 5}},
    "only": {"one": {"table.bytes_per_row": 50}},
}
BROKEN = {**AXES, "broken": {"as it is": {}, "nothing": {"table.key": "nothing"}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(sweep={"axes": AXES})))
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A scenario of which one cell is wrong."""
    path = tmp_path / "broken.yaml"
    path.write_text(yaml.safe_dump(document(sweep={"axes": BROKEN})))
    return path


_run = partial(invoked, "run")


def _json(*arguments: object) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(_run(*arguments, "--json").stdout)
    return shown


def _writers(shown: dict[str, Any]) -> dict[str, int]:
    return {line["writer"]: line["submitted"] for line in shown["writers"]}


def test_json_is_all_that_stands_on_stdout_and_has_what_the_screen_has(
    file: Path, tmp_path: Path
) -> None:
    out, table = tmp_path / "run", tmp_path / "table"
    shown = _json(file, "--seed", 4, "--out", out, "--export", table)
    run = whitecap.load(out)
    assert shown["seed"] == 4
    assert shown["scenario_hash"] == run.scenario.hash
    assert shown["recording"] == str(out)
    assert shown["table"] == str(table)
    assert shown["table_version"] == run.commits.version.max()
    summary = run.summary.set_index("writer")
    for line in shown["writers"]:
        for key in ("submitted", "committed", "aborted", "latency_p95_ms"):
            assert line[key] == summary[key][line["writer"]]


def test_what_was_not_measured_is_null(file: Path) -> None:
    shown = _json(file, "--set", "duration=2 s")
    assert shown["writers"][-1]["latency_p50_ms"] is None
    assert shown["recording"] is None


def test_a_value_is_read_as_yaml_and_set_by_its_path(file: Path) -> None:
    shown = _json(file, "--set", "writers.loader.count=1", "--set", "table.partition_by=[country]")
    plain = whitecap.run(
        file, changes={"writers.loader.count": 1, "table.partition_by": ["country"]}
    )
    assert shown["scenario_hash"] == plain.scenario.hash
    assert _writers(shown)["loader"] == (plain.transactions.writer_group == "loader").sum()


def test_changes_leave_the_values_that_they_set_as_they_are() -> None:
    limits = {"writes_per_s": 30}
    changes = {"store.limits": limits, "store.limits.reads_per_s": 5}
    assert changed(document(), changes)["store"]["limits"] == {"writes_per_s": 30, "reads_per_s": 5}
    assert limits == {"writes_per_s": 30}


def test_a_cell_is_the_one_that_the_sweep_runs(file: Path) -> None:
    cells = {cell.name: cell.scenario for cell in load_experiment(file).cells}
    shown = _json(file, "--cell", "layout=by date, country,loaders=5")
    assert shown["scenario_hash"] == cells["by-date-country__5__one"].hash
    assert shown["labels"] == {"layout": "by date, country", "loaders": "5", "only": "one"}


def test_a_cell_may_be_called_by_the_name_that_the_sweep_gives_it(file: Path) -> None:
    labels = {"layout": "by date, country", "loaders": "5", "only": "one"}
    name = "by-date-country__5__one"
    assert _json(file, "--cell", name) == _json(file, "--cell", "layout=by date, country,loaders=5")
    assert whitecap.run(file, cell=name).scenario.labels == labels
    with pytest.raises(whitecap.InvalidInput, match="no cell 'by-date-country__5__two'"):
        whitecap.run(file, cell="by-date-country__5__two")


def test_the_last_word_has_set(file: Path) -> None:
    arguments = ["--cell", "layout=by date", "--cell", "loaders=5"]
    shown = _json(file, *arguments, "--set", "writers.loader.count=1")
    assert _writers(shown)["loader"] < _writers(_json(file, *arguments))["loader"]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("layout=by date", "cell: axis 'loaders' is left open: choose 2 | 5"),
        ("layout=by dat,loaders=2", "axis 'layout' has no 'by dat': there are by date | by date,"),
        ("layot=by date,loaders=2", "the sweep has no axis 'layot' (did you mean 'layout'?)"),
        ("loaders=2,loaders=5", "--cell loaders: is given twice"),
        (
            "by-date__6__one",
            "cell: there is no cell 'by-date__6__one' (did you mean 'by-date__5__one'?)",
        ),
        ("by date", "there is no cell 'by date'"),
        ("by date,loaders=2", "--cell by date,loaders=2: is not AXIS=LABEL"),
    ],
)
def test_a_cell_that_is_none_is_refused_with_what_there_is(
    file: Path, cell: str, expected: str
) -> None:
    result = _run(file, "--cell", cell)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert expected in result.stderr


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("writers.loader.cuont=3", "small.yaml writers.loader.cuont, as it was set: unknown key"),
        ("duration=soon", "duration, as it was set: 'soon' is not a duration"),
        ("duration", "--set duration: is not PATH=VALUE"),
        ("seed=!!python/name:os.system x", "the tag !!python/name:os.system is not used here"),
        ("seed=[1", "--set seed"),
        ("name.first=x", "name.first: 'name' holds no keys"),
        ("writers.loadr.count=2", "no writer 'loadr' (did you mean 'loader'?)"),
    ],
)
def test_a_change_that_is_wrong_is_told_by_its_path(file: Path, given: str, expected: str) -> None:
    result = _run(file, "--set", given)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert expected in result.stderr


def test_only_what_is_run_is_checked(broken: Path) -> None:
    assert _run(broken).exit_code == ExitCode.FINE
    assert _run(broken, "--set", "writers.loader.count=1").exit_code == ExitCode.FINE
    whitecap.run(broken, changes={"seed": 2})
    cell = {"layout": "by date", "loaders": "2", "broken": "as it is"}
    assert whitecap.run(broken, cell=cell).scenario.labels == {**cell, "only": "one"}
    with pytest.raises(InvalidInput, match="no column 'nothing'"):
        whitecap.run(broken, cell={**cell, "broken": "nothing"})
    with pytest.raises(InvalidInput, match="broken = nothing"):
        load_scenario(broken)


def test_a_scenario_without_a_sweep_has_no_cells(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(yaml.safe_dump(document()))
    assert "has no sweep, and so no cells" in _run(path, "--cell", "a=b").stderr


def test_the_command_that_reproduces_a_run_names_cell_and_changes(file: Path) -> None:
    cell = {"layout": "by date, country", "loaders": "5"}
    changes = {"table.partition_by": ["date"], "seed": 3, "description": "it's mine"}
    scenario = load_scenario(file, changes, cell=cell)
    _, _, path, *options = shlex.split(scenario.command)
    assert path == str(file)
    cells = [option.removeprefix("--cell=") for option in options if "--cell" in option]
    sets = [option.removeprefix("--set=") for option in options if "--set" in option]
    again = load_scenario(path, changes_named(sets, []), cell=cell_named(cells))
    assert again == scenario
    of_check = cell_of(load_scenario(file), {**cell, "only": "one"})
    assert of_check.command.startswith(f"whitecap run {file} '--cell=layout=by date, country'")


def test_values_of_an_axis_may_be_lists() -> None:
    assert values_named(["a.b=[],[x],[x, y]", "c=1,2"], []) == {
        "a.b": [[], ["x"], ["x", "y"]],
        "c": [1, 2],
    }


def test_explain_exits_1_for_a_conflict_only_where_that_is_asked_for() -> None:
    root = Path(__file__).parents[2] / "scenarios" / "explain"
    for table, code in (
        ("update-and-delete-unpartitioned", ExitCode.EXPECTATION_MISSED),
        ("update-and-delete-partitioned", ExitCode.FINE),
    ):
        arguments = ["explain", "--table", str(root / f"{table}.yaml")]
        assert invoked(*arguments).exit_code == ExitCode.FINE
        asked = invoked(*arguments, "--fail-on-conflict")
        assert asked.exit_code == code


def test_requests_that_were_not_recorded_are_told_with_the_option_that_records_them(
    file: Path,
) -> None:
    run = whitecap.run(file, changes={"duration": "1 min"})
    with pytest.raises(InvalidInput, match=r"run with requests=True \(--requests\)"):
        _ = run.requests
    assert len(whitecap.run(file, changes={"duration": "1 min"}, requests=True).requests)


def test_a_run_goes_to_another_process_without_the_table_that_it_left() -> None:
    run = whitecap.run("late-commit")
    there = pickle.loads(pickle.dumps(run))
    assert str(there) == str(run)
    assert there.transactions.equals(run.transactions)
    assert there.scenario == run.scenario
    with pytest.raises(InvalidInput, match="run the scenario again"):
        there.export("anywhere")

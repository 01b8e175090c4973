"""`whitecap compare`: pairs where they share the seed, else intervals of both; refusals, width."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from tests.refusals import require_refused
from tests.sweeps.sweep_scenario import SCENARIO
from whitecap.checking.recorded import no_cell_in_common
from whitecap.exit_codes import ExitCode
from whitecap.reports.comparisons.sides import Side

SMALL = SCENARIO.partition("    isolation:")[0]
BUSIER = SMALL.replace("rate: 4 per min", "rate: 12 per min")


def _sweep(folder: Path, name: str, text: str) -> Path:
    (folder / f"{name}.yaml").write_text(text)
    words = ["--engine", "processes", "--replications", 5, "--out", folder / name]
    assert invoked("sweep", folder / f"{name}.yaml", *words).exit_code == ExitCode.FINE
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three sweeps of two cells: `before`, `busier` with the same seed, `reseeded` with another."""
    folder = tmp_path_factory.mktemp("sweeps")
    _sweep(folder, "before", SMALL)
    _sweep(folder, "busier", BUSIER)
    _sweep(folder, "reseeded", SMALL.replace("seed: 5", "seed: 6"))
    return folder


def test_a_sweep_beside_itself_is_the_same(folder: Path) -> None:
    result = invoked("compare", folder / "before", folder / "before")
    assert result.exit_code == ExitCode.FINE, result.output
    assert result.stdout.splitlines()[-1] == "34 comparisons the same (5 replications, paired)"


def test_of_one_seed_differences_are_those_of_pairs_cell_by_cell(folder: Path) -> None:
    result = invoked(
        "compare", folder / "before", folder / "busier", "--measure", "goodput", "--json"
    )
    assert result.exit_code == ExitCode.FINE, result.output
    document = json.loads(result.stdout)
    assert document["paired"]
    cells = ["partitioning = unpartitioned", "partitioning = by date"]
    assert document["before"]["cells"] == document["after"]["cells"] == cells
    goodput = [
        each for each in document["changes"]
        if (each["measure"], each["writer_group"]) == ("goodput_per_minute", "loader")
    ]  # fmt: skip
    assert [each["cell"] for each in goodput] == cells
    assert {each["verdict"] for each in goodput} == {"better"}
    assert "the scenario is another one than before" in document["notes"]


def test_of_other_seeds_each_side_has_its_own_intervals_and_it_is_said(folder: Path) -> None:
    result = invoked("compare", folder / "before", folder / "reseeded")
    assert "(5 replications, not paired)" in result.stdout
    assert "Other random numbers (seed 5, and 6)" in result.stdout
    assert "better" not in result.stdout
    assert "worse" not in result.stdout


def test_it_fits_eighty_columns_and_says_what_is_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    words = ["--measure", "goodput", "--measure", "lost_commits"]
    result = invoked("compare", folder / "before", folder / "busier", *words)
    lines = result.stdout.splitlines()
    places = [line for line in lines if str(folder) in line]
    assert max(len(line) for line in lines if line not in places) <= 80
    assert any(line.startswith("  goodput") and line.endswith("better") for line in lines)
    assert "lost commits" not in result.stdout


def test_python_says_the_same(folder: Path) -> None:
    compared = whitecap.compare(folder / "before", folder / "busier", measure="goodput")
    words = ["--measure", "goodput", "--json"]
    printed = json.loads(invoked("compare", folder / "before", folder / "busier", *words).stdout)
    assert json.loads(json.dumps(compared.document)) == printed
    assert list(compared.table["verdict"]) == [each["verdict"] for each in printed["changes"]]
    assert "Better: partitioning = by date: goodput of loader" in str(compared)
    assert "Better: partitioning = by date" in compared._repr_html_()


def test_measures_may_be_chosen(folder: Path) -> None:
    words = ["--measure", "retry_rate", "--measure", "submitted", "--json"]
    result = invoked("compare", folder / "before", folder / "busier", *words)
    document = json.loads(result.stdout)
    assert {each["measure"] for each in document["changes"]} == {"retry_rate", "submitted"}
    verdicts = {each["verdict"] for each in document["changes"] if each["measure"] == "submitted"}
    assert "different" in verdicts
    assert not verdicts & {"better", "worse"}


def test_two_runs_have_differences_without_intervals(folder: Path) -> None:
    for name in ("before", "busier"):
        words = ["--cell", "partitioning=by date", "--out", folder / f"run-{name}"]
        assert invoked("run", folder / f"{name}.yaml", *words).exit_code == ExitCode.FINE
    result = invoked("compare", folder / "run-before", folder / "run-busier")
    assert result.exit_code == ExitCode.FINE, result.output
    assert "1 replication" in result.stdout
    assert "Of one replication nothing is known" in result.stdout


def test_a_run_of_a_cell_is_compared_with_that_cell_of_a_sweep(folder: Path) -> None:
    words = ["--cell", "partitioning=by date", "--replication", 1, "--out", folder / "one"]
    assert invoked("run", folder / "before.yaml", *words).exit_code == ExitCode.FINE
    result = invoked("compare", folder / "one", folder / "before")
    assert "17 comparisons the same (1 replication, paired)" in result.stdout
    assert "New, and not compared: partitioning = unpartitioned." in result.stdout


def test_without_a_cell_in_common_there_is_nothing_to_compare(folder: Path) -> None:
    other = _sweep(folder, "other", SMALL.replace("partitioning:", "layout:"))
    result = invoked("compare", folder / "before", other)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert "has no cell in common" in result.stderr
    assert "layout = by date" in result.stderr


def test_of_many_cells_without_one_in_common_the_first_are_named_on_either_side() -> None:
    then = {f"writers = {count}": Side({}) for count in range(1, 41)}
    now = {f"jobs = {count}": Side({}) for count in range(1, 4)}
    assert no_cell_in_common("out/before", then, now) == (
        "has no cell in common with out/before: jobs = 1; jobs = 2; jobs = 3, "
        "and there writers = 1; writers = 2; writers = 3; writers = 4; and 36 more"
    )


def test_a_place_that_there_is_not_hides_no_other() -> None:
    result = invoked("compare", "nowhere", "elsewhere")
    require_refused(result, "nowhere: no such directory", "elsewhere: no such directory")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "nowhere"], "nowhere: no such directory"),
        ([".", "."], "is neither a sweep's directory"),
        ([".", ".", "--measure", "goodputt"], "did you mean 'goodput"),
        (["."], "Missing argument"),
    ],
)
def test_what_cannot_be_compared_is_bad_input(words: list[str], message: str) -> None:
    result = invoked("compare", *words)
    assert result.exit_code == ExitCode.BAD_INPUT
    assert message in result.stderr

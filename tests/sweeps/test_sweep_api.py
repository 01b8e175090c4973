"""`whitecap.sweep` and what comes back: tables, runs, figures, a report."""

from __future__ import annotations

import html
import json

import pytest
from click.testing import CliRunner

import whitecap
from tests.sweeps.sweep_scenario import SCENARIO, write_scenario
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.engine.recorded import Measure
from whitecap.exit_codes import ExitCode
from whitecap.reports.measures import REPORTED
from whitecap.reports.measures.definitions import PRICED
from whitecap.sweeps import Sweep

pytestmark = pytest.mark.spark


EXPECT = """\
expect:
  - {measure: aborted, writer: loader, equals: 0}
  - {measure: committed, at_least: 100000, when: {isolation: Serializable}}
  - {measure: job_success_rate, at_least: 0.1}
"""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Two counts of correctors by two isolation levels, two replications each."""
    directory = tmp_path_factory.mktemp("api")
    return whitecap.sweep(
        write_scenario(directory, SCENARIO + EXPECT),
        axes={"writers.corrector.count": [1, 3]},
        only={"isolation": []},
        replications=2,
        out=directory / "out",
        master="local[2]",
    )


def test_a_sweep_knows_its_cells_numbers_and_answer(sweep: Sweep) -> None:
    assert sweep.cells["Serializable__3"] == {
        "isolation": "Serializable", "writers.corrector.count": "3",
    }  # fmt: skip
    assert sweep.answer.cell in sweep.cells
    assert str(sweep.answer).startswith(f"{sweep.answer.headline}.")
    (axis,) = {name for load in sweep.answer.findings.loads for name in load.load.labels}
    assert axis == "writers.corrector.count"
    replications = sweep.measures.groupby("measure")["replications"].max()
    asked_for = {*PRICED, Measure.FINDINGS} - {Measure.SLOT_HOURS_PER_MONTH}
    assert set(replications.drop(list(asked_for))) == {2}
    assert set(replications[list(asked_for)]) == {0}
    assert len(sweep.runs) == 8
    assert set(sweep.differences["measure"]) == set(REPORTED)


def test_its_table_reads_as_people_do(sweep: Sweep) -> None:
    assert list(sweep.table.index)[:2] == [
        "Serializable · 1 corrector",
        "Serializable · 3 correctors",
    ]
    assert "at least " in sweep.table["Goodput"]["Serializable · 1 corrector"]
    assert "%" in sweep.table["Conflict rate"]["WriteSerializable · 3 correctors"]


def test_it_says_who_stops_whom_and_what_it_is_counted_from(sweep: Sweep) -> None:
    refusals = sweep.refusals
    assert set(refusals["loser_group"]) == {"corrector"}
    assert set(refusals["axis_isolation"]) == {"Serializable", "WriteSerializable"}
    cell = refusals[refusals["cell"] == "Serializable__3"]
    assert cell["share"].sum() == pytest.approx(1)
    runs = [sweep.run("Serializable__3", replication).refusals for replication in (0, 1)]
    assert cell["count"].sum() == sum(run["count"].sum() for run in runs)
    tallies = sweep.tallies
    aborted = tallies[(tallies["measure"] == "aborted") & tallies["writer_group"].isna()]
    of_cell = aborted[aborted["cell"] == "Serializable__3"]
    assert of_cell["part"].sum() == cell["count"].sum()
    due = sweep.left_out
    assert (due["jobs_due"] >= due["jobs_not_begun"]).all()


def test_it_judges_what_its_scenario_expects(sweep: Sweep) -> None:
    expectations = sweep.expectations
    by_expectation = expectations.groupby("expectation")["judgement"].agg(list).to_dict()
    assert by_expectation == {
        "aborted (loader) 0": ["met"] * 4,
        "committed at least 100000 when isolation is Serializable": ["missed"] * 2,
        "job_success_rate at least 10 %": ["met"] * 4,
    }


def test_one_of_its_runs_can_be_looked_into(sweep: Sweep) -> None:
    run = sweep.run("WriteSerializable__3", 1)
    assert set(run.transactions["writer_group"]) == {"loader", "corrector"}
    with pytest.raises(InvalidInput, match="has no run 9 of cell"):
        sweep.run("WriteSerializable__3", 9)
    with pytest.raises(InvalidInput, match="did you mean 'WriteSerializable__3'"):
        sweep.run("WriteSerialisable__3")


def test_every_figure_can_be_drawn_and_shows_itself_in_a_notebook(sweep: Sweep) -> None:
    drawn = [
        whitecap.figures.heat_map(sweep, "retry_rate"),
        whitecap.figures.ranges(sweep, "rerun_rate", "abort_rate"),
        whitecap.figures.over_quantity(sweep, "wasted_compute_share"),
        whitecap.figures.exceptions(sweep),
        whitecap.figures.latency(sweep),
        whitecap.figures.timeline(sweep.run("Serializable__3")),
    ]
    for figure in drawn:
        content, size = figure._repr_png_()  # type: ignore[attr-defined]
        assert content.startswith(b"\x89PNG")
        assert size["width"] > 400


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("conflict_rat", r"no measure 'conflict_rat' \(did you mean 'conflict_rate'\?\)"),
        ("speed", "no measure 'speed': there are conflict_rate, "),
    ],
)
def test_an_unknown_measure_is_answered_with_the_nearest_or_all(
    measure: str, said: str, sweep: Sweep
) -> None:
    with pytest.raises(whitecap.InvalidInput, match=said):
        whitecap.figures.heat_map(sweep, measure)


def test_a_run_of_a_sweep_is_found_by_its_cell_or_by_the_labels_of_it(sweep: Sweep) -> None:
    cell, labels = next(iter(sweep.cells.items()))
    named, labelled = sweep.run(cell, 1), sweep.run(labels, 1)
    assert named.transactions.equals(labelled.transactions)
    with pytest.raises(whitecap.InvalidInput) as refused:
        sweep.run(cell + "x", "1")  # type: ignore[arg-type]
    assert str(refused.value).splitlines() == [
        f"cell: there is no cell '{cell}x' (did you mean '{cell}'?)",
        "replication: needs a whole number, not '1'",
    ]


def test_a_sweep_stands_for_its_place(sweep: Sweep) -> None:
    compared = whitecap.compare(sweep, sweep.directory, engine="processes")
    assert compared.document == whitecap.compare(sweep, sweep, engine="processes").document
    assert whitecap.report(sweep, engine="processes").page.parent.parent == sweep.directory


def test_a_sweep_can_be_loaded_again_and_reported(sweep: Sweep) -> None:
    again = whitecap.load_sweep(sweep.directory)
    assert again.answer.document == sweep.answer.document
    made = whitecap.report(sweep.directory)
    assert made.page.is_file()
    assert {path.suffix for path in made.figures} == {".png"}


def test_python_json_page_and_terminal_give_a_sweep_the_same_answer(sweep: Sweep) -> None:
    report = whitecap.report(sweep.directory, master="local[2]")
    written = json.loads((sweep.directory / "report" / "answer.json").read_text())
    assert written == json.loads(json.dumps(sweep.answer.document)) == report.answer.document
    page = html.unescape(report.page.read_text()).replace("\u00a0", " ")
    arguments = ["report", str(sweep.directory), "--master", "local[2]"]
    terminal = " ".join(CliRunner().invoke(main, arguments).output.split())
    for sentence in (sweep.answer.headline, *sweep.answer.sentences):
        assert sentence in page
        assert sentence in terminal


def test_a_sweep_that_was_made_is_checked_without_a_run(sweep: Sweep) -> None:
    result = CliRunner().invoke(main, ["check", str(sweep.directory), "--json"])
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    (scenario,) = json.loads(result.stdout)["scenarios"]
    assert (scenario["verdict"], scenario["runs"]) == ("missed", 8)
    judged = [each["judgement"] for each in scenario["expectations"]]
    assert sorted(judged) == sorted(sweep.expectations["judgement"])

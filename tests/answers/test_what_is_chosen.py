"""What is chosen, and what is never: cells that miss an objective, and loads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whitecap
from tests.answers.cells import (
    Cells,
    Did,
    answered,
    load_of,
    measured_run,
    replicated,
    sweep_layout,
)
from tests.answers.shapes import (
    BAD,
    BOTH,
    DOUBTFUL,
    GOOD,
    LAYOUTS,
    of_both,
    of_design,
    of_load,
    runs,
)
from tests.deciding.worlds import STEADY, written_to
from tests.rule_of_three import units_to_show
from whitecap.engine.recorded import ALL_WRITERS, AxisRole, Direction, Measure, Objective
from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.behind import why_limiting
from whitecap.reports.answers.grid import grid_of
from whitecap.reports.answers.objectives import FEWEST_JOBS, objectives_of
from whitecap.reports.answers.phrases import found_text
from whitecap.reports.answers.standing import ObjectiveStanding, standing_of
from whitecap.reports.layout import SweepLayout

SUCCESS = Measure.JOB_SUCCESS_RATE
MORE = Direction.AT_LEAST


def test_what_gets_most_through_is_not_chosen_if_it_misses_the_objective() -> None:
    many = {"": replicated(5, loader=Did(5000), upserter=Did(900, 400))}
    cells = {"unpartitioned": many[""], "by date": runs(GOOD)[""]}
    answer = answered(sweep_layout(partitioning=LAYOUTS), cells)
    assert answer.headline == "Choose by date"
    assert answer.cell == "by date"


def test_what_damages_its_table_is_not_chosen_beside_what_keeps_it_whole() -> None:
    cells = {"unpartitioned": replicated(5, loader=Did(5000)), "by date": runs(GOOD)[""]}
    layout = sweep_layout(partitioning=LAYOUTS)
    assert answered(layout, cells).headline == "Choose unpartitioned"
    answer = answered(layout, cells, damaged=["unpartitioned"])
    assert (answer.headline, answer.cell) == ("Choose by date", "by date")
    assert answer.sentences[0] == (
        "Unpartitioned damages its table (commits lost, doubled or over removed files): it is "
        "chosen only where nothing else meets the objective."
    )
    every = answered(layout, cells, damaged=["unpartitioned", "by date"])
    assert every.headline == "Choose unpartitioned"
    assert every.sentences[0].startswith("Unpartitioned and by date damage their tables (")


def test_a_table_that_is_damaged_under_heavy_load_alone_is_borne_by_another_design() -> None:
    layout = sweep_layout(partitioning=LAYOUTS, writers=["8", "16"])
    cells = {cell.name: runs(GOOD)[""] for cell in layout.cells}
    best = answered(layout, cells, load=["writers"]).findings.design.title
    other = next(each for each in LAYOUTS if each != best)
    answer = answered(layout, cells, load=["writers"], damaged=[f"{best}__16"])
    assert answer.headline.endswith(f"hoose {other}")
    assert answer.cell == f"{other}__16"
    assert answer.sentences[0].startswith(f"At 16 writers {best} damages its table (")


def test_of_what_is_undecided_the_first_one_is_not_named_for_being_first() -> None:
    """98.9 % may yet be 99 %, and so may 99.1 %; of 99.1 and 99.15 % the second is known sooner."""
    assert of_design(DOUBTFUL, 9).headline.startswith("Perhaps by date: whether it meets")
    assert of_design(9, DOUBTFUL).headline.startswith("Perhaps unpartitioned: whether")
    assert of_design(9, 8).headline.startswith("Perhaps by date: whether it meets")


def test_load_is_never_what_is_chosen() -> None:
    for given_up in product((GOOD, BAD), repeat=3):
        answer = of_both(given_up, given_up)
        chosen = [part.rpartition("choose ")[2] for part in answer.headline.split(";")]
        assert not any("writers" in name for name in chosen if "choose" in name)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([GOOD, DOUBTFUL, BAD]), min_size=6, max_size=6))
def test_whatever_the_cells_are_the_answer_agrees_with_itself(given_up: list[int]) -> None:
    answer = of_both(given_up[:3], given_up[3:])
    findings = answer.findings
    for under in findings.loads:
        if under.choice is None:
            assert under.count(ObjectiveStanding.MET) == 0
            assert under.standing.stands is not ObjectiveStanding.MET
            continue
        choice = under.choice
        listed = [choice.best, *choice.equal, *choice.more_waste, *choice.less_goodput]
        meeting = [
            each.cell for each in under.standings.values() if each.stands is ObjectiveStanding.MET
        ]
        assert sorted(listed) == sorted(meeting), "each that meets is told once, nothing else is"
        assert under.standing.cell in choice.good
    sure = [load.place for load in findings.capacity.shown]
    for cell, load in findings.grid.of(findings.design):
        if load.place in sure:
            assert findings.standings[cell].stands is ObjectiveStanding.MET
    assert findings.cell in findings.standings


def test_a_pair_is_never_both_alike_and_told_apart() -> None:
    for wasted in (0.1, 0.101, 0.11, 0.2):
        cells = {"unpartitioned": runs(GOOD)[""], "by date": runs(GOOD, wasted=wasted)[""]}
        text = str(answered(sweep_layout(partitioning=LAYOUTS), cells))
        assert ("cannot be told apart" in text) != ("more compute is wasted" in text)


def test_of_what_gets_as_much_through_the_one_that_wastes_least_is_chosen() -> None:
    cells = {"unpartitioned": runs(GOOD, wasted=0.3)[""], "by date": runs(GOOD, wasted=0.1)[""]}
    answer = answered(sweep_layout(partitioning=LAYOUTS), cells)
    assert answer.headline == "Choose by date"
    assert "more compute is wasted: unpartitioned +13.3 points" in str(answer)


def test_the_cell_that_is_named_is_the_heaviest_load_that_is_borne_for_sure() -> None:
    answer = of_both((GOOD, BAD, BAD), (GOOD, GOOD, BAD))
    assert (answer.cell, answer.document["load"]) == ("by date__12", "12 writers")
    assert of_both((BAD, BAD, BAD), (DOUBTFUL, DOUBTFUL, BAD)).cell == "by date__12"
    assert of_both((BAD, BAD, BAD), (2 * BAD, BAD, BAD)).cell == "unpartitioned__8"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (of_load(GOOD, BAD, BAD), ", where it first misses its objectives"),
        (of_load(GOOD, DOUBTFUL, BAD), ", where it first misses its objectives"),
        (of_load(GOOD, GOOD, DOUBTFUL), ", where it is first undecided"),
        (of_load(GOOD, GOOD, GOOD), ", under its heaviest load"),
        (of_design(2 * BAD, BAD), ", which misses its objectives"),
        (of_design(BAD, DOUBTFUL), ", which is undecided"),
        (of_design(BAD, GOOD), ""),
    ],
)
def test_of_one_load_nothing_is_said_to_be_the_heaviest_or_the_first(
    answer: WordedAnswer, said: str
) -> None:
    assert why_limiting(answer.findings) == said


def test_a_heavier_load_that_is_met_by_luck_does_not_count() -> None:
    answer = of_both((BAD, BAD, BAD), (GOOD, BAD, GOOD))
    assert [load.title for load in answer.findings.capacity.shown] == ["8 writers"]


def test_loads_are_in_the_order_of_the_work_that_they_offer() -> None:
    layout = sweep_layout(think=("10 s", "30 s", "1 min"))
    grid = grid_of(layout, {"think": AxisRole.LOAD}, {"think": ["1 min", "30 s", "10 s"]})
    assert [load.title for load in grid.loads] == ["1 min", "30 s", "10 s"]


def test_labels_that_are_no_numbers_are_told_with_their_axis() -> None:
    cells = {"few": runs(GOOD)[""], "many": runs(GOOD)[""]}
    answer = answered(sweep_layout(jobs=("few", "many")), cells, load=["jobs"])
    assert answer.headline.startswith("The table takes many (jobs) for sure")


def test_cells_that_are_not_finished_are_left_out() -> None:
    cells = {"by date__8": runs(GOOD)[""]}
    only = tuple(cell for cell in BOTH.cells if cell.name in cells)
    answer = answered(SweepLayout(only, BOTH.axes), cells, load=["writers"])
    assert answer.cell == "by date__8"
    assert answer.headline == "At 8 writers choose by date"


def stands(cells: Cells, *objectives: Objective) -> dict[str | None, ObjectiveStanding]:
    """How one cell stands, by writer group."""
    standing = standing_of("", cells[""], objectives_of(objectives))
    return {each.held.writer: each.stands for each in standing.objectives}


def test_without_an_objective_the_success_of_every_writer_group_counts() -> None:
    assert stands(runs(BAD)) == {
        "loader": ObjectiveStanding.MET,
        "upserter": ObjectiveStanding.MISSED,
    }


def test_writer_groups_with_few_jobs_are_shown_and_not_judged_by_the_default() -> None:
    for given_up, expected in ((0, ObjectiveStanding.TOO_FEW), (1, ObjectiveStanding.TOO_FEW)):
        few = {"": replicated(5, loader=Did(1000), compactor=Did(50, given_up))}
        assert stands(few)["compactor"] is expected
    many = {"": replicated(5, loader=Did(1000), compactor=Did(60))}
    assert stands(many)["compactor"] is ObjectiveStanding.MET


def test_few_jobs_are_enough_to_miss_the_default_for_sure() -> None:
    few = {"": replicated(5, loader=Did(1000), compactor=Did(40, 10))}
    assert stands(few)["compactor"] is ObjectiveStanding.MISSED


def test_with_few_replications_a_group_that_looks_bad_keeps_a_cell_from_being_met() -> None:
    few = replicated(4, loader=Did(1000), compactor=Did(29, 1))
    standing = standing_of("", few, objectives_of([]))
    assert [each.stands for each in standing.objectives] == [
        ObjectiveStanding.MET,
        ObjectiveStanding.TOO_FEW,
    ]
    assert standing.stands is ObjectiveStanding.UNDECIDED
    assert standing.needed == 11
    half = replicated(4, loader=Did(1000), compactor=Did(16, 14))
    assert standing_of("", half, objectives_of([])).stands is ObjectiveStanding.MISSED
    fine = replicated(4, loader=Did(1000), compactor=Did(30))
    assert standing_of("", fine, objectives_of([])).stands is ObjectiveStanding.MET


def test_a_writer_group_that_did_nothing_does_not_miss_the_default() -> None:
    idle = {"": {r: measured_run(loader=Did(1000), compactor=Did(0)) for r in range(5)}}
    assert stands(idle)["compactor"] is ObjectiveStanding.TOO_FEW


@pytest.mark.parametrize("replications", [1, 4, 5])
def test_a_writer_group_to_which_no_job_fell_due_misses_nothing(replications: int) -> None:
    runs = {r: measured_run(loader=Did(1000), nightly=Did(0)) for r in range(replications)}
    stated = (Objective(SUCCESS, MORE, 0.99), Objective(Measure.GIVEN_UP, Direction.AT_MOST, 0.0))
    for objectives in ((), stated):
        standing = standing_of("", runs, objectives_of(objectives))
        nightly = [each for each in standing.objectives if each.held.writer == "nightly"]
        assert {each.stands for each in nightly} == {ObjectiveStanding.TOO_FEW}
        assert all(found_text(each).endswith(" is n/a: no job was due") for each in nightly)
        assert standing.stands is ObjectiveStanding.MET


def test_jobs_that_were_due_and_did_not_begin_or_end_are_held_against_a_stated_objective() -> None:
    for waiting in (Did(0, unfinished=3), Did(0, due=3, not_begun=3)):
        cells = {"": {r: measured_run(loader=Did(1000), nightly=waiting) for r in range(5)}}
        assert stands(cells, Objective(SUCCESS, MORE, 0.99))["nightly"] is ObjectiveStanding.MISSED


def test_a_stated_objective_is_held_against_however_few_jobs() -> None:
    few = {"": replicated(5, loader=Did(1000), compactor=Did(40, 10))}
    assert stands(few, Objective(SUCCESS, MORE, 0.99, "compactor")) == {
        "compactor": ObjectiveStanding.MISSED
    }


def test_the_fewest_jobs_are_what_shows_the_default_at_all() -> None:
    assert FEWEST_JOBS - units_to_show(0.99) == 1


def test_a_writer_group_with_an_objective_of_its_own_is_held_to_that_alone() -> None:
    own = Objective(SUCCESS, MORE, 0.5, "upserter")
    assert stands(runs(BAD), Objective(SUCCESS, MORE, 0.99), own) == {
        "loader": ObjectiveStanding.MET,
        "upserter": ObjectiveStanding.MET,
    }


def test_all_writers_together_are_one() -> None:
    assert stands(runs(BAD), Objective(SUCCESS, MORE, 0.99, ALL_WRITERS)) == {
        None: ObjectiveStanding.MISSED
    }


def test_counts_must_be_met_in_every_replication() -> None:
    never = Objective(Measure.GIVEN_UP, Direction.AT_MOST, 0.0, "upserter")
    assert stands(runs(GOOD), never) == {"upserter": ObjectiveStanding.MET}
    assert stands(runs(1), never) == {"upserter": ObjectiveStanding.MISSED}


def test_what_is_undecided_says_how_many_replications_would_decide() -> None:
    standing = standing_of("", runs(DOUBTFUL)[""], objectives_of([]))
    assert standing.stands is ObjectiveStanding.UNDECIDED
    assert standing.needed is not None
    more = standing_of("", runs(DOUBTFUL, replications=2 * standing.needed)[""], objectives_of([]))
    assert more.stands is ObjectiveStanding.MISSED


@pytest.mark.parametrize("load", [(), ("writers",), ("partitioning", "writers")])
def test_every_finished_cell_has_its_place_in_the_grid(load: tuple[str, ...]) -> None:
    def names() -> Iterator[str]:
        grid = load_of(BOTH, *load)
        for each in grid.loads:
            yield from (cell for cell, _ in grid.under(each))

    assert sorted(names()) == sorted(cell.name for cell in BOTH.cells)


def test_what_is_not_chosen_for_missing_the_objective_is_told() -> None:
    given_up = {"none": BAD, "one": BAD, "two": DOUBTFUL, "eight": GOOD}
    cells = {label: runs(each)[""] for label, each in given_up.items()}
    answer = answered(sweep_layout(reruns=list(given_up)), cells)
    assert answer.headline == "Choose eight"
    assert "None and one miss the objective." in answer.sentences
    assert "Two is undecided." in answer.sentences


def test_of_several_objectives_those_that_are_missed_are_named() -> None:
    given_up = {"none": BAD, "one": BAD, "eight": GOOD}
    cells = {label: runs(each)[""] for label, each in given_up.items()}
    of_jobs = Objective(Measure.JOB_SUCCESS_RATE, Direction.AT_LEAST, 0.99, "upserter")
    of_waste = Objective(Measure.WASTED_COMPUTE_SHARE, Direction.AT_MOST, 0.99)
    answer = answered(sweep_layout(reruns=list(given_up)), cells, of_jobs, of_waste)
    assert "None and one miss the objectives: job success rate of upserter." in answer.sentences


def test_nothing_is_chosen_for_the_commits_of_its_maintenance(tmp_path: Path) -> None:
    """Jobs fall due by a schedule: the same ones get through, however often files are compacted."""
    loader = {**STEADY, "arrival": {"schedule": {"every": "1 min"}}}
    compactor = {
        "statement": "OPTIMIZE events",
        "arrival": {"schedule": {"every": "1 h", "offset": "90 s"}},
        "compute": "5 s",
    }
    often = {"writers.compactor.arrival.schedule.every": "1 min"}
    path = written_to(
        tmp_path / "often.yaml",
        writers={"loader": loader, "compactor": compactor},
        sweep={"replications": 5, "axes": {"compaction": {"seldom": {}, "often": often}}},
        objective="committed of loader >= 1",
    )
    swept = whitecap.sweep(path, out=tmp_path / "out", engine="processes", quiet=True)
    committed = swept.runs.groupby("cell")["committed"].mean()
    assert committed["often"] > committed["seldom"]
    (choice,) = (under.choice for under in swept.answer.findings.loads)
    assert choice is not None
    assert not choice.less_goodput

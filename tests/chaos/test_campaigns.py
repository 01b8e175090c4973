"""Campaigns with a planted judge: what is found, counted and made again."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.sim.sim_worlds import document
from whitecap.engine.errors import DeltaError, InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.chaos import one_run
from whitecap.sim.chaos.campaign import Campaign, Judges, Tally, fault_kinds, run_campaign
from whitecap.sim.chaos.examining import examine
from whitecap.sim.chaos.exercised import REBASE, all_properties
from whitecap.sim.chaos.explaining import explanation
from whitecap.sim.chaos.one_run import CampaignRun, make
from whitecap.sim.chaos.swarm import DrawnVariation, drawn
from whitecap.sim.loading import scenario_of
from whitecap.sim.machine.processes import Processes
from whitecap.sim.oracles.finding import Anomaly, Finding, Judgement, NotChecked, Oracle
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario


def base() -> Scenario:
    return scenario_of(document())


def lenient(finished: FinishedRun) -> Judgement:
    del finished
    return Judgement()


def strict(finished: FinishedRun) -> Judgement:
    """Takes every transaction with an unknown outcome for a lost commit."""
    if not finished.recording.manifest["counts"][RecordedOutcome.UNKNOWN]:
        return Judgement()
    finding = Finding(oracle=Oracle.LOG, anomaly=Anomaly.LOST_COMMIT, sentence="planted")
    return Judgement((finding,))


def campaign(judge: one_run.RunJudge, runs: int = 12) -> Tally:
    tally = Tally()
    with Processes(1) as processes:
        planned = Campaign([base()], runs, seed=3)
        for run, examined in run_campaign(
            planned, Judges(judge, judge), processes, make_small=False
        ):
            assert (examined is None) == run.is_sound
            tally.add(run)
    return tally


def test_a_campaign_without_findings_says_what_it_has_exercised() -> None:
    tally = campaign(lenient)
    assert tally.runs == 12
    assert not tally.wrong
    assert tally.repeated == 0
    assert tally.exercised[REBASE]
    assert set(tally.never_exercised) <= set(all_properties())


def test_the_same_campaign_is_the_same() -> None:
    first, second = campaign(lenient, 4), campaign(lenient, 4)
    assert first.traces == second.traces
    assert first.exercised == second.exercised


def test_what_is_found_is_explained_by_the_fault_without_which_it_is_gone() -> None:
    tally = campaign(strict)
    assert tally.wrong
    for run in tally.wrong[:2]:
        examined = examine(run, strict, make_small=False)
        assert examined.cause is not None
        assert examined.cause.startswith("the fault")


def test_what_is_found_is_made_small_and_still_goes_wrong() -> None:
    run = campaign(strict).wrong[0]
    shrunk = examine(run, strict).shrunk
    assert shrunk is not None
    assert len(shrunk.scenario.document["faults"]) == 1
    assert strict(run_scenario(shrunk.scenario)).findings


def test_a_run_is_made_again_by_its_number() -> None:
    whole = campaign(lenient, 3)
    assert make(lenient, CampaignRun(base(), 3, 2)).trace in whole.traces


def test_a_run_that_breaks_is_a_finding_and_ends_no_campaign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(scenario: Scenario, **_: object) -> FinishedRun:
        raise ZeroDivisionError(scenario.name)

    monkeypatch.setattr(one_run, "run_scenario", broken)
    tally = campaign(lenient, 2)
    assert [run.number for run in tally.wrong] == [0, 1]
    assert "ZeroDivisionError" in tally.wrong[0].broken


def interrupted(finished: FinishedRun) -> Judgement:
    """What DuckDB makes of Ctrl-C during a query."""
    del finished
    raise RuntimeError("Query interrupted") from KeyboardInterrupt()


def test_ctrl_c_is_no_defect_of_the_run_whose_rows_are_just_judged() -> None:
    with pytest.raises(KeyboardInterrupt):
        make(interrupted, CampaignRun(base(), 3, 2))


def test_ctrl_c_is_no_answer_to_whether_a_smaller_scenario_still_goes_wrong() -> None:
    run = campaign(strict).wrong[0]
    with pytest.raises(KeyboardInterrupt):
        examine(run, interrupted)


@pytest.mark.parametrize(
    "refusal",
    [
        InvalidInput([Problem("store", "is missing"), Problem("table", "is missing")]),
        UnsupportedFeature("this dialect has no such table"),
        DeltaError("DeltaAnalysisException", None, "Delta refuses this table"),
    ],
)
def test_a_draw_that_is_no_scenario_is_counted_and_ends_no_campaign(
    refusal: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused_once(scenario: Scenario, seed: int, number: int, *others: Any) -> DrawnVariation:
        if number == 1:
            raise refusal
        return drawn(scenario, seed, number, *others)

    monkeypatch.setattr(one_run, "drawn", refused_once)
    tally = campaign(lenient, 3)
    assert (tally.runs, tally.misdrawn, tally.rows_compared, tally.repeated) == (3, 1, 2, 0)
    [wrong] = tally.wrong
    assert (wrong.number, wrong.misdrawn) == (1, str(refusal))
    assert not wrong.broken


def test_a_run_that_goes_wrong_and_cannot_be_read_again_is_misdrawn() -> None:
    wrong = campaign(strict).wrong[0]
    unreadable = replace(wrong, text=wrong.text.replace("duration:", "durration:"))
    examined = examine(unreadable, strict)
    assert "did you mean 'duration'?" in examined.run.misdrawn
    assert examined.run.findings == wrong.findings
    assert (examined.cause, examined.shrunk) == (None, None)


def test_what_has_several_causes_is_explained_by_each_of_them() -> None:
    def two_things(finished: FinishedRun) -> Judgement:
        scenario = finished.scenario
        lost = Finding(oracle=Oracle.LOG, anomaly=Anomaly.LOST_COMMIT, sentence="planted")
        replaced = Finding(oracle=Oracle.LOG, anomaly=Anomaly.CONTENT_CHANGED, sentence="planted")
        return Judgement(
            (*([lost] if scenario.faults else []), *([] if scenario.is_exclusive else [replaced]))
        )

    loose = {"profile": "s3", "put_if_absent": {"exclusive": False}}
    faults = [{"throttling": {"probability": 0.01}}]
    groups = {name: {**group, "stops": "5 min"} for name, group in document()["writers"].items()}
    scenario = scenario_of(document(store=loose, faults=faults, writers=groups))
    drawn = DrawnVariation(scenario, {}, ())
    run = one_run.judged(two_things, drawn, 1)
    cause = examine(run, two_things, make_small=False).cause
    assert cause == "a store without put-if-absent, and the fault throttling"


def test_what_comes_to_no_end_is_explained_by_no_fault_that_it_does_without() -> None:
    endless = scenario_of(
        document(faults=[{"throttling": {"probability": 0.01}}], store="s3", duration="1 min")
    )
    run = one_run.judged(lenient, DrawnVariation(endless, {}, ()), 1)
    assert [finding.anomaly for finding in run.findings] == [Anomaly.UNRESOLVED]
    examined = examine(run, lenient)
    assert not examined.is_explained
    assert examined.shrunk is not None
    assert "faults" not in examined.shrunk.scenario.document


def test_a_run_that_broke_is_explained_by_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(scenario: Scenario) -> FinishedRun:
        raise ZeroDivisionError(scenario.name)

    monkeypatch.setattr(one_run, "run_scenario", broken)
    run = make(lenient, CampaignRun(base(), 3, 0))
    assert not examine(run, lenient, make_small=False).is_explained


def test_a_run_that_is_not_the_same_twice_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = iter(["a", "b", "c"])
    monkeypatch.setattr(one_run, "trace_of", lambda finished: next(traces))
    run = make(lenient, CampaignRun(base(), 3, 0))
    assert "another recording" in run.broken


def test_a_run_in_which_little_is_committed_is_drawn_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths: list[float] = []

    def noted(scenario: Scenario, *choices: object) -> DrawnVariation:
        lengths.append(float(str(choices[-1])))
        return drawn(scenario, 3, 0, length=lengths[-1] / 10)

    monkeypatch.setattr(one_run, "drawn", noted)
    short = make(lenient, CampaignRun(base(), 3, 0))
    assert lengths[0] == 1.0
    assert 1.0 < lengths[1] <= one_run.LONGEST
    assert len(lengths) == 2
    assert short.number == 0


def test_of_many_runs_some_are_judged_with_their_rows_and_all_others_quickly() -> None:
    whole: list[FinishedRun] = []

    def thorough(finished: FinishedRun) -> Judgement:
        whole.append(finished)
        return Judgement()

    tally = Tally()
    with Processes(1) as processes:
        planned = Campaign([base()], 5, seed=3, rows_every=2)
        for run, _ in run_campaign(planned, Judges(thorough, lenient), processes):
            tally.add(run)
    assert tally.rows_compared == len(whole) == 3


def test_faults_are_left_out_by_names_that_there_are() -> None:
    assert fault_kinds(["pause", "pause"]) == {"pause"}
    with pytest.raises(InvalidInput, match="there is no fault 'pauses'"):
        fault_kinds(["pauses"])


def test_a_run_whose_table_grows_without_bounds_is_given_up_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = make(lenient, CampaignRun(base(), 3, 1))
    monkeypatch.setattr(one_run, "MOST_ROWS", 10)
    given_up = make(lenient, CampaignRun(base(), 3, 1))
    assert not whole.overgrown
    assert given_up.overgrown
    assert given_up.is_sound
    assert not given_up.is_short
    tally = Tally()
    for run in (whole, given_up):
        tally.add(run)
    assert (tally.runs, tally.overgrown, tally.repeated) == (2, 1, 0)


def test_what_is_not_checked_is_counted_by_its_reason() -> None:
    tally = Tally()
    run = make(lenient, CampaignRun(base(), 3, 1))
    for versions in ("1 versions (4)", "2 versions (5, 6)"):
        gap = NotChecked(f"rows by statements of {versions}", "a statement of kind CREATE")
        tally.add(replace(run, not_checked=(gap,)))
    assert tally.not_checked == {"rows by statements: a statement of kind CREATE": 2}


def test_a_dialect_that_does_it_without_any_fault_is_named_before_faults() -> None:
    """Without the crashes the same writers do not meet, and without any fault they do."""
    faults = [{"throttling": {"probability": 0.01}}, {"pause": {"nth": 3, "lasts": "1 s"}}]
    scenario = scenario_of(document(faults=faults, store="s3", dialect="delta-rs-1.6.6"))

    def fails(tried: Scenario) -> bool:
        kinds = [fault.chosen_names()[0] for fault in tried.faults]
        return tried.dialect == "delta-rs-1.6.6" and (not kinds or "pause" in kinds)

    assert explanation(scenario, fails) == "the dialect delta-rs-1.6.6"
    assert explanation(scenario, lambda tried: bool(tried.faults) and fails(tried)) == (
        "the fault pause"
    )

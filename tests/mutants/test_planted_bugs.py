"""Planted bugs: each still fits its file, and some are really hunted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from benchmarks.mutants.__main__ import count_clean, hunted_apart, in_processes, main, rounds
from benchmarks.mutants.campaign import SCENARIOS, CleanRun, HuntingCampaign, scenarios_hash
from benchmarks.mutants.hunting import Hunt, Hunted
from benchmarks.mutants.mutant import ROOT, Area, Mutant
from benchmarks.mutants.page import page_of
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import HuntResults
from benchmarks.mutants.small_world import STATEMENTS, PlayedOutcomes, SmallWorld, difference
from whitecap.sim.loading import load_scenario

UNSAFE = [mutant for mutant in MUTANTS.values() if mutant.unsafe and not mutant.equivalent]
NUMBERS = (*range(6), 12)
CHEAP = ("no file check", "unknown is taken for success", "OPTIMIZE leaves a file out")


def test_every_planted_bug_stands_once_in_its_file_and_compiles() -> None:
    for mutant in MUTANTS.values():
        compile(mutant.source(), mutant.file, "exec")


def test_a_planted_bug_names_only_what_its_file_knows(tmp_path: Path) -> None:
    for number, mutant in enumerate(MUTANTS.values()):
        (tmp_path / f"bug_{number}.py").write_text(mutant.source(), encoding="utf-8")
    undefined = ["--isolated", "--no-cache", "--select", "F821", str(tmp_path)]
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *undefined],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout


def test_a_text_that_is_not_there_once_is_named() -> None:
    mutant = Mutant("gone", Area.LOG, "engine/rules.py", "no such text", "", "")
    with pytest.raises(LookupError, match="gone"):
        mutant.source()


def test_there_are_at_least_eighty_unsafe_ones_over_all_areas_each_with_a_witness() -> None:
    assert len(UNSAFE) >= 80
    assert {mutant.area for mutant in UNSAFE} == set(Area)
    assert all(len(mutant.witness.split()) > 5 for mutant in MUTANTS.values())


def test_the_campaign_varies_scenarios_that_can_be_loaded() -> None:
    for path in SCENARIOS:
        assert load_scenario(ROOT / path, cells=False).writers


def test_names_of_no_bug_are_refused_each_with_the_one_that_was_meant() -> None:
    result = CliRunner().invoke(main, ["no file chek", "no file check", "xyzzy"])
    assert result.exit_code == 2
    assert "no bug 'no file chek' (did you mean 'no file check'?)" in result.output
    assert "no bug 'xyzzy'" in result.output


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> HuntingCampaign:
    """The first runs, drawn and made without any bug."""
    campaign = HuntingCampaign(tmp_path_factory.mktemp("campaign"))
    assert [clean.number for clean in in_processes(campaign.prepare, NUMBERS, 6)]
    return campaign


def test_some_bugs_are_found_by_runs_that_are_sound_without_them(campaign: HuntingCampaign) -> None:
    hunts = [Hunt(MUTANTS[name], campaign, NUMBERS) for name in CHEAP]
    caught = {hunted.name: hunted.is_caught for hunted in hunted_apart(hunts)}
    assert caught == dict.fromkeys(CHEAP, True)


def test_a_run_in_which_something_is_wrong_without_any_bug_shows_none(
    campaign: HuntingCampaign,
) -> None:
    wrong = [number for number in NUMBERS if not _clean(campaign, number).shows_bugs]
    assert [_clean(campaign, number).cause for number in wrong] == ["the fault stale_listing"]
    assert [number for number, _ in campaign.variations(NUMBERS)] == [
        number for number in NUMBERS if number not in wrong
    ]
    assert campaign.missing([*NUMBERS, 77]) == [77]


def _clean(campaign: HuntingCampaign, number: int) -> CleanRun:
    clean = campaign.clean(number)
    assert clean is not None
    return clean


def test_runs_without_any_bug_are_counted_once_all_are_made(campaign: HuntingCampaign) -> None:
    results = HuntResults(clean=4, clean_day="2026-11-22")
    with_others = [*NUMBERS, 77]
    count_clean(campaign, with_others, results)
    assert results.clean == 4


def test_fewer_runs_without_any_bug_do_not_take_the_place_of_more(
    campaign: HuntingCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HuntResults, "keep", lambda results: None)
    more, fewer = HuntResults(clean=len(NUMBERS) + 1), HuntResults(clean=len(NUMBERS) - 1)
    count_clean(campaign, NUMBERS, more)
    count_clean(campaign, NUMBERS, fewer)
    assert (more.clean, fewer.clean) == (len(NUMBERS) + 1, len(NUMBERS))


def test_all_bugs_meet_the_first_runs_before_any_meets_many() -> None:
    assert list(rounds(100)) == [range(16), range(16, 64), range(64, 100)]
    assert list(rounds(16)) == [range(16)]
    assert not list(rounds(0))


def test_what_harms_no_data_is_found_by_a_conformance_case() -> None:
    mutant = MUTANTS["the order of the file checks is reversed"]
    (hunted,) = hunted_apart([Hunt(mutant, HuntingCampaign(ROOT), range(1))])
    assert hunted.caught_as == "conformance"


def test_a_result_stays_while_bug_and_campaign_are_the_same(tmp_path: Path) -> None:
    mutant = UNSAFE[0]
    scenarios = scenarios_hash([2])
    hunted = Hunted(mutant.name, 3, "G0", "", "2026-11-22", mutant.place(), scenarios)
    other = replace(hunted, name=UNSAFE[1].name)
    gone = replace(hunted, name="no such bug")
    HuntResults({each.name: each for each in (hunted, other, gone)}).keep(tmp_path / "results.json")
    assert HuntResults.read(MUTANTS, tmp_path / "results.json").hunted == {mutant.name: hunted}
    assert not replace(hunted, scenarios="others").still_holds(mutant)
    assert HuntResults.read(MUTANTS, tmp_path / "none.json").hunted == {}


SMALL = SmallWorld(
    ("databricks-14.3",),
    ("DELETE FROM t WHERE id = 1", "UPDATE t SET v = v + 1 WHERE g = 0", STATEMENTS[-1]),
)


def _in_small(mutant: Mutant | None) -> PlayedOutcomes:
    (shown,) = in_processes(SMALL.shown, [mutant], per_process=1)
    return shown


def test_in_a_small_world_bugs_without_any_effect_change_nothing_and_another_does() -> None:
    without = _in_small(None)
    assert len(without) > 50
    for alike in (mutant for mutant in MUTANTS.values() if mutant.equivalent):
        assert difference(_in_small(alike), without) is None, alike.name
    changed = difference(_in_small(MUTANTS["two compactions of one file"]), without)
    assert changed is not None
    assert changed.startswith("databricks-14.3")


def test_few_bugs_are_said_to_have_no_effect() -> None:
    assert 20 * sum(bool(mutant.equivalent) for mutant in MUTANTS.values()) <= len(UNSAFE)


def test_the_page_says_what_was_found_what_escaped_and_when() -> None:
    caught, escaped = UNSAFE[0].name, UNSAFE[1].name
    wrong = [CleanRun(3, "stale read", "the fault stale_listing")]
    results = HuntResults(clean=4, clean_day="2026-11-22", wrong=wrong)
    results.hunted = {
        caught: Hunted(caught, 3, "G0", day="2026-11-21"),
        escaped: Hunted(escaped, 9, None, day="2026-11-22"),
    }
    page = page_of(results)
    assert f"1 of {len(UNSAFE)} unsafe bugs are found" in page
    assert f"1 hunted and not found; {len(UNSAFE) - 2} not hunted" in page
    assert f"Not found: {escaped} (nothing in 9 runs)." in page
    assert f"Not hunted yet: {UNSAFE[2].name};" in page
    assert f"| {caught} | {UNSAFE[0].witness} | 3 | G0 |" in page
    assert "4 runs of the same campaign (2026-11-22) are sound but 1" in page
    assert "1 x stale read because of the fault stale_listing" in page
    assert "Results by the day of their hunt: 1 of 2026-11-21; 1 of 2026-11-22." in page

"""Planted bugs: each still fits its file, and some are really hunted."""

from __future__ import annotations

import pytest

from benchmarks.mutants.__main__ import hunted_apart
from benchmarks.mutants.hunting import SCENARIOS, Hunted
from benchmarks.mutants.mutant import ROOT, Area, Mutant
from benchmarks.mutants.page import page_of
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import Results
from whitecap.sim.loading import load_scenario

UNSAFE = [mutant for mutant in MUTANTS.values() if mutant.unsafe]
CHEAP = ("no file check", "unknown is taken for success", "OPTIMIZE leaves a file out")


def test_every_planted_bug_stands_once_in_its_file_and_compiles() -> None:
    for mutant in MUTANTS.values():
        compile(mutant.source(), mutant.file, "exec")


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


def test_some_bugs_are_found_and_the_code_without_any_is_not() -> None:
    mutants = [*(MUTANTS[name] for name in CHEAP), None]
    hunted = {one.name: one for one in hunted_apart(mutants, runs=12)}
    assert {name: hunted[name].is_caught for name in CHEAP} == dict.fromkeys(CHEAP, True)
    assert hunted["none"] == Hunted("none", 12, None)


def test_what_harms_no_data_is_found_by_a_conformance_case() -> None:
    (one,) = hunted_apart([MUTANTS["the order of the file checks is reversed"]], runs=1)
    assert one.caught_as == "conformance"


def test_the_page_says_what_was_found_and_what_escaped() -> None:
    found, escaped = UNSAFE[0].name, UNSAFE[1].name
    results = Results(runs=9, clean=4, without=Hunted("none", 4, None))
    results.hunted = {found: Hunted(found, 3, "G0"), escaped: Hunted(escaped, 9, None)}
    page = page_of(results)
    assert "1 of 2 unsafe bugs that were hunted are found" in page
    assert f"Not found in as many runs as the tables say: {escaped}." in page
    assert f"Not hunted yet: {UNSAFE[2].name};" in page
    assert f"| {found} | {UNSAFE[0].witness} | 3 | G0 |" in page

"""`whitecap chaos` where it finds something: what it says, keeps and tells who waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.chaos.test_chaos_command import judge_by, lenient, planted
from tests.command_line import invoked
from tests.sim.sim_worlds import document
from whitecap.exit_codes import ExitCode
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.run import FinishedRun
from whitecap.terminal.progress import ProgressNote, Show

_chaos = partial(invoked, "chaos")


class CampaignWithFindings(NamedTuple):
    """A campaign of a scenario's file: its folders, what it said, and was told while it ran."""

    file: Path
    out: Path
    kept: Path
    said: str
    notes: list[str]


@pytest.fixture(scope="module")
def campaign_with_findings(tmp_path_factory: pytest.TempPathFactory) -> CampaignWithFindings:
    """One that several tests look at: to make what it finds small takes most of their time."""
    folder = tmp_path_factory.mktemp("findings")
    file = folder / "small.yaml"
    file.write_text(yaml.safe_dump(document()))
    out, kept = folder / "out", folder / "kept"
    notes: list[ProgressNote] = [""]
    seen: list[str] = []

    @contextmanager
    def watched(what: str) -> Iterator[Show]:
        assert what == "chaos"
        yield lambda done, total=None, note="": notes.append(note)

    def watching(run: FinishedRun) -> Judgement:
        note = notes[-1]
        assert callable(note)
        seen.append(note())
        return planted(run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whitecap.commands.chaos.making.progress", watched)
        judge_by(patch, watching)
        result = _chaos(file, "--runs", 8, "--jobs", 1, "--out", out, "--save", kept)
    assert result.exit_code == ExitCode.EXPECTATION_MISSED, result.output
    return CampaignWithFindings(file, out, kept, result.stdout, seen)


def test_a_finding_is_told_with_its_cause_its_command_and_a_small_scenario(
    campaign_with_findings: CampaignWithFindings,
) -> None:
    _, out, kept, said, _ = campaign_with_findings
    assert "planted here" in said
    assert "gone in the same seed" in said
    runs = said.count("planted here")
    assert f"\n{runs} with findings, all explained: lost commit {runs}\n" in said
    number = said.partition("--only ")[2].split()[0]
    small = out / f"small-{number}-small.yaml"
    assert small.is_file()
    saved = (kept / f"small-1-{number}.yaml").read_text()
    assert saved == small.read_text()
    assert saved.startswith("# lost commit: planted here\n# because of the fault")
    assert f"--only {number}" in saved
    assert invoked("run", small, "--quiet").exit_code == ExitCode.FINE


def test_what_was_saved_before_stays_beside_what_is_saved_now(
    campaign_with_findings: CampaignWithFindings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another seed, and of another campaign with the same names: kept; the same is kept once."""
    judge_by(monkeypatch, planted)
    number = campaign_with_findings.said.partition("--only ")[2].split()[0]
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / f"small-1-{number}.yaml").write_text("# mended by hand\n")
    options = ("--only", number, "--jobs", 1, "--out", tmp_path / "out", "--save", kept)
    for _ in range(2):
        _chaos(campaign_with_findings.file, *options)
    assert {place.name for place in kept.iterdir()} == {
        f"small-1-{number}.yaml",
        f"small-1-{number}-2.yaml",
    }
    assert (kept / f"small-1-{number}.yaml").read_text() == "# mended by hand\n"


def test_the_command_that_is_told_finds_the_same_again(
    campaign_with_findings: CampaignWithFindings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_by(monkeypatch, planted)
    number = campaign_with_findings.said.partition("--only ")[2].split()[0]
    options = ("--only", number, "--no-shrink", "--jobs", 1, "--out", tmp_path / "out")
    again = _chaos(campaign_with_findings.file, *options)
    assert again.exit_code == ExitCode.EXPECTATION_MISSED
    assert "planted here" in again.stdout


def test_who_waits_for_a_finding_is_told_how_far_it_is(
    campaign_with_findings: CampaignWithFindings,
) -> None:
    _, _, _, said, notes = campaign_with_findings
    number = said.partition("(run ")[2].partition(")")[0]
    assert notes[0].startswith("0 runs, ")
    assert any(note.endswith(f", explaining run {number}") for note in notes)
    tries = [note.rpartition(f"making run {number} small: ")[2] for note in notes if number in note]
    assert {"1 tried", "2 tried", "3 tried"} <= set(tries)


def test_a_saved_scenario_expects_to_stay_as_it_is_until_it_is_mended(
    campaign_with_findings: CampaignWithFindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ["check", str(campaign_with_findings.kept), "--jobs", "1"]
    judge_by(monkeypatch, planted)
    assert invoked(*check).exit_code == ExitCode.FINE
    judge_by(monkeypatch, lenient)
    mended = invoked(*check)
    assert mended.exit_code == ExitCode.EXPECTATION_MISSED
    said = " ".join(mended.stdout.split())
    assert "findings is 0, expected at least 1 (lost commit; once it is mended, it equals 0" in said

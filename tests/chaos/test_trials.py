"""How far a run is with its finding is told from one process to another."""

from __future__ import annotations

from multiprocessing import get_context
from pathlib import Path

from tests.chaos.test_campaigns import base, strict
from whitecap.sim.chaos.campaign import Campaign, Judges, run_campaign
from whitecap.sim.chaos.trials import Trials, shared_trials
from whitecap.sim.machine.processes import Processes


def test_what_another_process_notes_is_seen_here() -> None:
    with shared_trials() as trials:
        assert trials.of(7) is None
        for run, tried in ((3, 0), (7, 12), (100_000, 300)):
            other = get_context("spawn").Process(target=trials.note, args=(run, tried))
            other.start()
            other.join()
        assert [trials.of(run) for run in (3, 7, 8, 100_000, 100_001)] == [0, 12, None, 300, None]


def test_a_worker_of_another_machine_notes_nothing_and_goes_on(tmp_path: Path) -> None:
    Trials(tmp_path / "elsewhere").note(7, 12)
    assert not any(tmp_path.iterdir())


def test_a_campaign_goes_on_without_the_file_that_somebody_has_tidied_away() -> None:
    with shared_trials() as trials:
        trials.note(7, 12)
        trials.file.unlink()
        trials.note(7, 13)
        assert trials.of(7) is None


def test_each_run_that_goes_wrong_tells_how_many_were_tried() -> None:
    with shared_trials() as trials, Processes(1) as processes:
        planned = Campaign([base()], 8, seed=3)
        made = list(run_campaign(planned, Judges(strict, strict), processes, trials=trials))
        tried = {
            run.number: None if examined is None else examined.shrunk and examined.shrunk.tried
            for run, examined in made
        }
        assert any(tried.values())
        assert not all(tried.values())
        assert {number: trials.of(number) for number in tried} == tried

"""When the JVM of real writers dies, what time does meanwhile, and what is known of its commits."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import cast

import pytest

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.sim.replay.real.transaction_notes import Noted, read_notes
from whitecap.sim.store.requests.faults import Crashes
from whitecap.sim.under_fire.leading import KILLED, FastClock, Stopped, Tried
from whitecap.sim.under_fire.misfortunes import JobRun
from whitecap.sim.under_fire.spark_driver import SparkDriver
from whitecap.sim.under_fire.spark_fire import Deaths, with_notes

SENDER = JobRun("loader-1", 0, 0)


class Driver:
    """Notes what is done to it."""

    def __init__(self) -> None:
        self.back_ms: list[float] = []
        self.starts = 0

    def require_alive(self) -> None:
        pass

    def dies(self, back_ms: float) -> None:
        self.back_ms.append(back_ms)

    def start(self) -> None:
        self.starts += 1


class OneCrash:
    """At 100 ms, for 50 ms."""

    def next_after(self, now_ms: float) -> tuple[float, int]:
        return (100.0 if now_ms < 100 else float("inf")), 0

    def restart_ms(self, number: int) -> float:
        return 50.0


LANDED_MS = [0.0, 10.0, 50.0, 99.0, 120.0]
"""Simulated: four versions before the crash, so that there have to be as many."""


def commits(table: Path, version: int) -> None:
    (table / "_delta_log" / f"{version:020}.json").write_text("{}")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "_delta_log").mkdir()
    commits(tmp_path, 0)
    return tmp_path


def test_a_jvm_that_is_due_dies_with_a_commit_that_the_simulated_one_had(
    table: Path,
) -> None:
    driver, clock = Driver(), FastClock(1000.0)
    deaths = Deaths(cast(SparkDriver, driver), clock, [cast(Crashes, OneCrash())], table, LANDED_MS)
    commits(table, 1)
    deaths.look()
    assert not driver.back_ms, "it is not due yet"
    clock.wait_until(110.0)
    deaths.look()
    assert not driver.back_ms, "what it did before does not count"
    commits(table, 2)
    deaths.look()
    assert not driver.back_ms, "the simulated one had committed more"
    commits(table, 3)
    deaths.look()
    assert len(driver.back_ms) == driver.starts == 1
    assert driver.back_ms[0] >= 110.0 + 50.0
    commits(table, 4)
    deaths.look()
    assert driver.starts == 1


def test_while_the_clock_stands_no_simulated_time_passes() -> None:
    clock = FastClock(1000.0)
    with clock.standing():
        before = clock.now_ms()
        sleep(0.02)
        assert clock.now_ms() == before
    assert clock.now_ms() - before < 20 * 1000


def test_who_waits_on_a_stopped_clock_waits_no_longer() -> None:
    clock = FastClock(1.0)
    clock.stop()
    with pytest.raises(Stopped):
        clock.wait_until(1e9)


def killed() -> Tried:
    transaction = HistoryTransaction(name="x", writer="loader-1", outcome=RecordedOutcome.UNKNOWN)
    return Tried(SENDER, transaction, None, KILLED)


def test_the_commit_of_who_was_killed_is_known_by_its_note_and_acknowledged_to_nobody() -> None:
    noted = [Noted(SENDER.access_key, "id-1", 4), Noted(SENDER.access_key, "id-2", 5)]
    transaction = with_notes(killed(), noted, {"id-1": [5], "id-9": [6]})
    assert (transaction.wrote, transaction.acknowledged, transaction.read_version) == ((5,), (), 4)


def test_without_a_note_nothing_was_read_or_written() -> None:
    transaction = with_notes(killed(), (), {"": [0, 1]})
    assert (transaction.wrote, transaction.acknowledged, transaction.read_version) == ((), (), None)


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("etl-1.0.2 6486-a9 7\n")
    assert list(read_notes(tmp_path / "notes")) == [Noted("etl-1.0.2", "6486-a9", 7)]

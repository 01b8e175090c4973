"""Real Delta Lake on a local directory: free threads of one JVM, which is killed in the midst.

Nobody can strike a request there; what fails is the JVM, with everything that it has under way,
and another one goes on with what its writers do then. Whose each version is their transactions'
ids say, which were noted before anything was written.
"""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.history import HistoryTransaction, Promise
from whitecap.sim.replay.delta_rs.process import ProcessDied
from whitecap.sim.replay.real.session_settings import playing_settings_of, settings_of
from whitecap.sim.replay.real.tables import commit_files, commit_info, latest_version
from whitecap.sim.replay.real.transaction_notes import Noted, read_notes
from whitecap.sim.store.requests.faults import Crashes, crashes_of, next_crash
from whitecap.sim.under_fire.expecting import DRIVER, ExpectedRun
from whitecap.sim.under_fire.fire import PROMISED, Burnt, all_work, judged, lay_out, lead, speed_of
from whitecap.sim.under_fire.leading import KILLED, FastClock, Tried, TryEnd
from whitecap.sim.under_fire.misfortunes import JobRun
from whitecap.sim.under_fire.order import WorkOrder
from whitecap.sim.under_fire.service import TABLE_PREFIX
from whitecap.sim.under_fire.spark_driver import SparkDriver

NOTES = "notes"

REAL_S_PER_JOB = 1.5
"""What a statement of Spark's takes on a laptop's core, commit and log included."""


class SparkWriter:
    """One writer: a thread of the JVM, which waits before its commit as the simulated job did."""

    def __init__(self, driver: SparkDriver, clock: FastClock) -> None:
        self._driver, self._clock = driver, clock

    def run(self, job: WorkOrder, sender: JobRun) -> TryEnd:
        asked = {
            "writer": sender.writer,
            "label": sender.access_key,
            "statement": job.statement,
            "hold_ms": self._clock.real_s(job.compute_ms) * 1000,
        }
        self._driver.wait_up()
        self._clock.wait_until(self._driver.back_ms)
        try:
            answer = self._driver.run(asked)
        except ProcessDied:
            return TryEnd(RecordedOutcome.UNKNOWN, None, said=KILLED)
        outcome = RecordedOutcome(answer["outcome"])
        error = answer.get("exception") or answer.get("error", "")
        return TryEnd(outcome, None, answer.get("version"), error)

    def close(self) -> None:
        """Nothing to do: the other writers of the JVM go on."""


def burn_on_spark(expected: ExpectedRun, directory: Path) -> Burnt:
    """Let threads of real Spark do what is expected; table and history lie in `directory` then.

    Raises `InvariantViolated` if the JVM ends though nobody killed it.
    """
    lay_out(expected, directory)
    driver = _driver(expected, directory)
    clock = FastClock(speed_of(expected, REAL_S_PER_JOB))
    landed_ms = [landing.landed_at_ms for landing in expected.run.world.store.landings]
    deaths = Deaths(driver, clock, _crashes(expected), directory / TABLE_PREFIX, landed_ms)
    clients = {name: SparkWriter(driver, clock) for name in expected.jobs}

    def stop() -> None:
        clock.stop()
        driver.close()

    try:
        driver.start()
        clock.starts()
        tried = all_work(lead(expected, clients, clock), deaths.look, stop)
    finally:
        driver.close()
    promised = Promise(level=PROMISED.level, settings=settings_of(expected.run.scenario))
    history = _history(tried, directory / NOTES, _versions(directory / TABLE_PREFIX))
    return Burnt(directory, tried, judged(directory, history, promised), {}, driver.deaths)


def _driver(expected: ExpectedRun, directory: Path) -> SparkDriver:
    notes, log = directory / NOTES, directory / "spark.log"
    log.unlink(missing_ok=True)
    shutil.rmtree(notes, ignore_errors=True)
    notes.mkdir()
    table = {
        "folder": str((directory / TABLE_PREFIX).resolve()),
        "name": expected.run.scenario.all_tables[0].name,
        "settings": playing_settings_of(expected.run.scenario),
        "notes": str(notes.resolve()),
    }
    return SparkDriver(table, log)


def _crashes(expected: ExpectedRun) -> list[Crashes]:
    """The crashes of the simulated driver."""
    scenario, streams = expected.run.scenario, expected.run.world.streams
    return crashes_of(scenario.faults, {*scenario.writers, *expected.jobs}, DRIVER, streams)


class Deaths(Struct):
    """Lets the JVM die when the simulated driver did, and another one take its place.

    It dies together with a commit, and only when the table has as many versions as the simulated
    one had then: so it dies in the midst of work, however slow the machine is. `landed_ms`: when
    the simulated versions took effect.
    """

    driver: SparkDriver
    clock: FastClock
    crashes: Sequence[Crashes]
    table: Path
    landed_ms: Sequence[float]
    _done_ms: float = 0.0
    _newest: int | None = None

    def look(self) -> None:
        """Kill the JVM if it is time. Raises `InvariantViolated` if it has ended by itself."""
        self.driver.require_alive()
        dies_ms, back_ms = next_crash(self.crashes, self._done_ms)
        if self.clock.now_ms() < dies_ms:
            return
        newest = latest_version(self.table)
        if self._newest is None:
            self._newest = newest
        elif newest > self._newest and newest + 1 >= bisect_right(self.landed_ms, dies_ms):
            with self.clock.standing():
                self.driver.dies(self.clock.now_ms() + back_ms - dies_ms)
                self.driver.start()
            self._done_ms, self._newest = back_ms, None


def _versions(table: Path) -> dict[str, list[int]]:
    """The versions of a log by the ids of their transactions."""
    versions: dict[str, list[int]] = {}
    for version in range(len(commit_files(table))):
        versions.setdefault(commit_info(table, version).get("txnId", ""), []).append(version)
    return versions


def _history(
    tried: Sequence[Tried], notes: Path, versions: Mapping[str, Sequence[int]]
) -> Iterable[HistoryTransaction]:
    """What the writers were told, with what their transactions noted of themselves."""
    noted: dict[str, list[Noted]] = {}
    for file in sorted(notes.iterdir()):
        for note in read_notes(file):
            noted.setdefault(note.label, []).append(note)
    for each in tried:
        yield with_notes(each, noted.get(each.sender.access_key, ()), versions)


def with_notes(
    tried: Tried, noted: Sequence[Noted], versions: Mapping[str, Sequence[int]]
) -> HistoryTransaction:
    """The tries with their versions: acknowledged is the commit that the session names last.

    A try has read its first snapshot. Further transactions of a statement compact what the first
    one wrote.
    """
    wrote = sorted(v for note in noted for v in versions.get(note.transaction_id, ()))
    return replace(
        tried.transaction,
        wrote=tuple(wrote),
        acknowledged=() if tried.version is None else (tried.version,),
        read_version=noted[0].read_version if noted else None,
    )

"""Writers that are processes of their own with the package deltalake, on the store of ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.replay.delta_rs.process import ProcessDied
from whitecap.sim.store.requests.faults import Crash, next_crash
from whitecap.sim.under_fire.clients import RealClient
from whitecap.sim.under_fire.leading import KILLED, FastClock, TryEnd
from whitecap.sim.under_fire.misfortunes import JobRun, Misfortunes
from whitecap.sim.under_fire.order import WorkOrder
from whitecap.sim.under_fire.service import BUCKET, TABLE_PREFIX

URL = f"s3://{BUCKET}/{TABLE_PREFIX.rstrip('/')}"


class DeltalakeWriter:
    """Takes a handle, waits as long as the simulated job computed, and lets the client do the rest:
    write files, check, put, try again."""

    def __init__(self, clock: FastClock, python: str | None, endpoint: str) -> None:
        self._clock, self._python, self._endpoint = clock, python, endpoint
        self.deaths = 0
        self._client: RealClient | None = None
        self._back_ms = 0.0

    def prepare(self) -> None:
        """Start its client and open the table once, for no sender: the first time is slow."""
        nobody = JobRun("nobody", 0, 0)
        self._living_client().open(URL, self._environment(nobody))

    def run(self, job: WorkOrder, sender: JobRun) -> TryEnd:
        read: int | None = None
        try:
            client = self._living_client()
            answer = client.open(URL, self._environment(sender))
            read = answer.get("version")
            if read is not None:
                self._clock.wait_until(self._clock.now_ms() + job.compute_ms)
                answer = client.run(job.operation)
        except ProcessDied:
            self._bury()
            answer = {"outcome": "unknown", "error": KILLED}
        return _try_end(answer, read)

    def dies(self, restart_ms: float) -> None:
        """Kill its process now; another one is started after a while."""
        self.deaths += 1
        self._back_ms = self._clock.now_ms() + restart_ms
        if self._client is not None:
            self._client.kill()

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def _living_client(self) -> RealClient:
        """The client; if it has died, a new one, as soon as that may be there."""
        self._clock.wait_until(self._back_ms)
        if self._client is None:
            self._client = RealClient(self._python)
        return self._client

    def _bury(self) -> None:
        self.close()
        self._client = None

    def _environment(self, sender: JobRun) -> dict[str, str]:
        """Where the client finds the store, and how the store tells whose its requests are."""
        return {
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_ACCESS_KEY_ID": sender.access_key,
            "AWS_SECRET_ACCESS_KEY": "whitecap",
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }


def _try_end(answer: dict[str, Any], read: int | None) -> TryEnd:
    """Without a snapshot it has written nothing."""
    outcome = RecordedOutcome.ABORTED if read is None else RecordedOutcome(answer["outcome"])
    return TryEnd(
        outcome, read, answer.get("version"), answer.get("exception") or answer.get("error", "")
    )


class DeltalakeWriters(Struct):
    """All of them by their names, and when each of their processes dies next."""

    clock: FastClock
    misfortunes: Misfortunes
    clients: dict[str, DeltalakeWriter] = field(default_factory=dict)
    _next_deaths: dict[str, tuple[float, float]] = field(default_factory=dict)

    def start(self, names: Iterable[str], python: str | None, url: str) -> None:
        """Start a process for each, which finds the store at `url`."""
        for name in names:
            self.clients[name] = DeltalakeWriter(self.clock, python, url)
            self.clients[name].prepare()
        for name in self.clients:
            self._next_deaths[name] = self._death_after(name, 0.0)

    def kill(self, sender: JobRun, crash: Crash) -> None:
        """Kill the process of who sent a request."""
        self.clients[sender.writer].dies(crash.restart_ms)

    def look(self) -> None:
        """Kill those whose time has come."""
        now_ms = self.clock.now_ms()
        for name, (dies_ms, back_ms) in self._next_deaths.items():
            if dies_ms <= now_ms:
                self.clients[name].dies(back_ms - dies_ms)
                self._next_deaths[name] = self._death_after(name, back_ms)

    @property
    def deaths(self) -> int:
        """How many processes died."""
        return sum(client.deaths for client in self.clients.values())

    def _death_after(self, name: str, after_ms: float) -> tuple[float, float]:
        """When it dies, and when it is there again."""
        return next_crash(self.misfortunes.crashes(name), after_ms)

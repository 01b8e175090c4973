"""One real writer: a thread that leads a client through its jobs and notes what it was told.

It begins its jobs when the simulated ones began, on a clock that runs `speed` times as fast as the
real one; takes a handle, waits as long as the simulated job computed, and lets the client do the
rest: write files, check, put, try again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.sim.oracles.history import Transaction
from whitecap.sim.under_fire.clients import ClientDied, RealClient
from whitecap.sim.under_fire.misfortunes import Sender
from whitecap.sim.under_fire.order import Job
from whitecap.sim.under_fire.service import BUCKET, TABLE
from whitecap.sim.writers.rerun import JobTries

URL = f"s3://{BUCKET}/{TABLE.rstrip('/')}"


KILLED = Interruption.WRITER_CRASH.value
"""What is noted of a client whose process was killed."""


@dataclass(slots=True)
class FastClock:
    """Simulated milliseconds since it began, `speed` of them in one of this machine."""

    speed: float
    _began_s: float = field(default_factory=monotonic)

    def starts(self) -> None:
        """From now on."""
        self._began_s = monotonic()

    def now_ms(self) -> float:
        return (monotonic() - self._began_s) * 1000 * self.speed

    def real_s(self, simulated_ms: float) -> float:
        """How long that takes here."""
        return simulated_ms / 1000 / self.speed

    def wait_until(self, instant_ms: float) -> None:
        sleep(max(0.0, self.real_s(instant_ms - self.now_ms())))


@dataclass(frozen=True, slots=True)
class Told:
    """What a writer was told of one try: the version that its handle showed, or an error."""

    sender: Sender
    transaction: Transaction
    version: int | None
    said: str


@dataclass(slots=True)
class LeadWriter:
    """One real writer: its jobs, its client, and what it was told."""

    name: str
    jobs: Sequence[Job]
    tries_of: Callable[[int], JobTries]
    clock: FastClock
    python: str | None
    endpoint: str
    told: list[Told] = field(default_factory=list)
    deaths: int = 0
    _client: RealClient | None = None
    _back_ms: float = 0.0

    def prepare(self) -> None:
        """Start its client and let it see the table, in nobody's name: the first time is slow."""
        nobody = Sender("nobody", 0, 0)
        self._living_client().open(URL, self._environment(nobody))

    def work(self) -> None:
        """All jobs, one after the other."""
        try:
            for number, job in enumerate(self.jobs):
                self.clock.wait_until(job.begins_ms)
                self._do(job, number)
        finally:
            if self._client is not None:
                self._client.close()

    def dies(self, restart_ms: float) -> None:
        """Its process is killed at once, and another one is there after a while."""
        self.deaths += 1
        self._back_ms = self.clock.now_ms() + restart_ms
        if self._client is not None:
            self._client.kill()

    def _do(self, job: Job, number: int) -> None:
        tries = self.tries_of(number)
        while True:
            told = self._try(job, Sender(self.name, number, tries.count))
            self.told.append(told)
            if told.transaction.outcome is RecordedOutcome.COMMITTED:
                return
            is_unknown = told.transaction.outcome is RecordedOutcome.UNKNOWN
            again = tries.next_wait(is_unknown)
            if again is None:
                return
            self.clock.wait_until(self.clock.now_ms() + again[0])

    def _try(self, job: Job, sender: Sender) -> Told:
        began, read, ended = self.clock.now_ms(), None, None
        answer: dict[str, Any] = {}
        try:
            client = self._living_client()
            answer = client.open(URL, self._environment(sender))
            read = answer.get("version")
            if read is not None:
                self.clock.wait_until(self.clock.now_ms() + job.compute_ms)
                answer = client.run(job.operation)
            ended = self.clock.now_ms()
        except ClientDied:
            self._bury()
            answer = {"outcome": "unknown", "error": KILLED}
        # Without a snapshot it has written nothing.
        outcome = RecordedOutcome.ABORTED if read is None else RecordedOutcome(answer["outcome"])
        transaction = Transaction(
            name=f"{self.name} #{sender.job}.{sender.rerun}", writer=self.name, outcome=outcome,
            statement=job.statement, began=began, ended=ended, read_version=read,
            job=f"{self.name} #{sender.job}",
        )  # fmt: skip
        said = answer.get("exception") or answer.get("error", "")
        return Told(sender, transaction, answer.get("version"), said)

    def _living_client(self) -> RealClient:
        """The client; a new one, once it may be back, where the last one has died."""
        self.clock.wait_until(self._back_ms)
        if self._client is None:
            self._client = RealClient(self.python)
        return self._client

    def _bury(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def _environment(self, sender: Sender) -> dict[str, str]:
        """How the client finds the store, and how the store knows whose its requests are."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": sender.access_key,
            "AWS_SECRET_ACCESS_KEY": "whitecap",
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
        }

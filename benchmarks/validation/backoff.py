"""The simulator of AWS's "Exponential Backoff And Jitter", hop by hop, on this kernel.

N clients at once want to write a row with a version: read it, write it if nobody else has, wait and
begin again if somebody has. Kernel, writers, reruns with their waits, and random streams are those
of any run; what a transaction asks of the store is not, for a Delta commit that loses costs more
requests than a hop here.

Source: github.com/aws-samples/aws-arch-backoff-simulator, src/backoff_simulator.py (M. Brooker,
AWS Architecture Blog, March 2015): what it models, not how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import NormalDist
from types import MappingProxyType

from msgspec import Struct

from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.outcomes import Outcome
from whitecap.engine.recorded import RecordedOutcome
from whitecap.engine.storage.requests import Steps
from whitecap.sim.recording.recorder import Recorder
from whitecap.sim.recording.records import TransactionRecord
from whitecap.sim.scenario.arrivals import Arrival, Schedule
from whitecap.sim.scenario.writers import Rerun, WriterGroup
from whitecap.sim.time.kernel import Clock, Kernel, Waiting
from whitecap.sim.time.random_streams import RandomSource, RandomStreams, row_of
from whitecap.sim.writers.jobs import Job
from whitecap.sim.writers.writer import Writer, WriterPart

HOP_MS = NormalDist(10, 2)
"""One message; a negative draw counts as its amount. Source: the simulator's `Net`."""

_BUDGET = 1_000_000

ALGORITHMS: Mapping[str, Rerun] = MappingProxyType(
    {
        "none": Rerun.model_validate({"fixed": {"wait": "0 s", "budget": _BUDGET}}),
        "exponential": Rerun.model_validate(
            {"exponential": {"base": "10 ms", "cap": "2 s", "jitter": "none", "budget": _BUDGET}}
        ),
        "equal jitter": Rerun.model_validate(
            {"exponential": {"base": "10 ms", "cap": "2 s", "jitter": "equal", "budget": _BUDGET}}
        ),
        "full jitter": Rerun.model_validate(
            {"exponential": {"base": "10 ms", "cap": "2 s", "jitter": "full", "budget": _BUDGET}}
        ),
        "decorrelated": Rerun.model_validate(
            {
                "exponential": {
                    "base": "5 ms", "cap": "2 s", "jitter": "decorrelated", "budget": _BUDGET,
                }
            }
        ),
    }
)  # fmt: skip
"""Base 5 ms, cap 2 s; the first wait is doubled already, but for the decorrelated one."""


class ContestedRow(Struct):
    """The one row, how often its server was asked to write it, and when a client last knew that
    its write was done."""

    version: int = 0
    calls: int = 0
    last_known_ms: float = 0.0

    def writes(self, version: int) -> bool:
        """Write it, unless somebody else has."""
        self.calls += 1
        if version != self.version:
            return False
        self.version += 1
        return True


class _Client(Struct, frozen=True):
    """One client's way to the row: four hops."""

    kernel: Kernel
    recorder: Recorder
    row: ContestedRow
    hops: RandomSource
    queueing: int = 0

    def starts_anew(self) -> None:
        """Nothing starts again."""

    def run(
        self, clock: Clock, number: int, job: Job, record: TransactionRecord, deadline_ms: float
    ) -> Waiting[None]:
        """Read, write, and learn what came of it."""
        to_read, read, to_write, written = self._hops_ms(row_of(number, record.rerun_number))
        clock.now_ms += to_read
        yield clock.arrive()
        version = self.row.version
        clock.now_ms += read + to_write
        yield clock.arrive()
        is_done = self.row.writes(version)
        clock.now_ms += written
        if is_done:
            self.row.last_known_ms = max(self.row.last_known_ms, clock.now_ms)
        record.outcome = RecordedOutcome.COMMITTED if is_done else RecordedOutcome.ABORTED
        record.ended_at_ms = clock.now_ms

    def _hops_ms(self, row: int) -> Iterator[float]:
        return (abs(HOP_MS.inv_cdf(self.hops.uniform(row, place))) for place in range(4))


class Write:
    """The job of each client: to write the row once."""

    is_seen_by_others = False

    def describe(self, record: TransactionRecord, now_ms: float) -> None:
        """Nothing more is to be told."""

    def transaction(self, table_log: TableLog) -> Steps[Outcome]:
        """Never asked for: `_Client` does all."""
        raise NotImplementedError

    def is_committed(self) -> None:
        """Nothing follows."""


class BackoffContest(Struct, frozen=True):
    """What came of one contest: writes that the server was asked for, and when all had written."""

    calls: int
    time_ms: float


def contest(clients: int, algorithm: str, replication: int, seed: int = 1) -> BackoffContest:
    """Let so many clients write the row. Raises `KeyError` for an unknown algorithm."""
    streams, kernel, recorder = RandomStreams(seed, replication), Kernel(), Recorder()
    row = ContestedRow()
    once = Arrival(schedule=Schedule.model_validate({"at": ["0 s"]}))
    group = WriterGroup(statement="-", arrival=once, rerun=ALGORITHMS[algorithm])
    for number in range(clients):
        name = f"client-{number}"
        client = _Client(kernel, recorder, row, streams.source("hops", name))
        kernel.start(_writer(name, number, group, client, streams.source("rerun", name)).process())
    kernel.run_until(float("inf"))
    return BackoffContest(row.calls, row.last_known_ms)


def _writer(
    name: str, number: int, group: WriterGroup, client: _Client, reruns: RandomSource
) -> Writer:
    return Writer(
        name=name,
        number=number,
        group_name="clients",
        group=group,
        parts=[WriterPart("WRITE", lambda _number, _now_ms: Write(), "row", client)],
        think_ms=lambda _job: 0.0,
        instants=lambda _first: iter((0.0,)),
        rerun=lambda job, rerun: reruns.uniform(row_of(job, rerun), 0),
        restart=lambda _job, _rerun: 0.5,
    )

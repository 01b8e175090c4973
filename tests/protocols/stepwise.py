"""Commit protocols driven request by request, in any order that a test asks for.

Nothing here has a duration: a process stops before each request that others could notice, and the
schedule says whose request takes effect next. A process may be told to die instead.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec

from whitecap.engine.log.commit_file import log_key
from whitecap.engine.storage.requests import PutIfAbsent, PutResult
from whitecap.sim.recording.records import AttemptRecord
from whitecap.sim.store.contents.objects import FakeStore
from whitecap.sim.store.coordinator import CommitAttempt, LogRequests
from whitecap.sim.store.protocols.catalog import ByCatalog
from whitecap.sim.store.requests.kinds import RequestKind

Process = Generator[RequestKind, None, Any]

REQUESTS = LogRequests(
    (),
    (),
    (RequestKind.GET,),
    (RequestKind.PUT,),
    (RequestKind.PUT,),
    (RequestKind.DELETE,),
    (RequestKind.HEAD,),
    page_size=1000,
    fast_listing=False,
    commit_lock=False,
)


@dataclass
class StepwiseConnection:
    """Asks when the schedule says so; what changes nothing takes no step."""

    clock: Any = field(default_factory=lambda: SimpleNamespace(now_ms=0.0, order=0))

    def ask(
        self,
        kind: RequestKind,
        key: str,
        effect: Any,
        size: int = 0,
        shared: bool = True,
        **more: Any,
    ) -> Process:
        if shared:
            yield kind
        return effect((self.clock.now_ms, 0))

    def read(self, *_: Any) -> Process:
        return
        yield


class StepwiseCatalog(ByCatalog):
    """What is done at the same time is done in turn; publishers are collected."""

    publishers: list[Any] = msgspec.field(default_factory=list)

    def _with(self, branch: Any, steps: Any) -> Any:
        own = yield from steps
        return own, (yield from branch(self.connection))

    def _publish_later(self, version: int) -> None:
        self.publishers.append(self._publish_up_to(version))


@dataclass
class Place:
    """A table with version 0, and what happened to it."""

    store: FakeStore
    new_coordinator: Callable[..., Any]
    publishers: list[Any] = field(default_factory=list)
    results: dict[int, tuple[int, PutResult]] = field(default_factory=dict)
    decided: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, new_coordinator: Callable[..., Any]) -> Place:
        store = FakeStore(epoch_ms=0, bytes_per_row=1)
        store.put_commit(PutIfAbsent(log_key(0), b"zero"), 0, 0.0, None)
        return cls(store, new_coordinator)

    def coordinator(self) -> Any:
        dynamodb = SimpleNamespace(ttl=86_400_000.0)
        cluster = SimpleNamespace(
            store=self.store,
            is_shared=False,
            profile=SimpleNamespace(dynamodb=dynamodb),
            wall_ms=int,
        )
        made = self.new_coordinator(cluster, StepwiseConnection(), None, REQUESTS)
        if isinstance(made, StepwiseCatalog):
            made.publishers = self.publishers
        return made

    def writes(self, who: int, version: int) -> Process:
        """Writer `who` tries one version."""
        attempt = AttemptRecord(who, 1, version, 0.0)
        commit = CommitAttempt(
            PutIfAbsent(log_key(version), f"by {who}".encode()), version, attempt
        )
        result = yield from self.coordinator().take(commit)
        self.results[who] = version, result

    def looks(self) -> Process:
        """Somebody learns the newest version."""
        segment, _ = yield from self.coordinator().list_log(self._pages, None)
        return segment.version

    def follows(self, who: int) -> Process:
        """Writer `who` looks, then tries the version after the newest."""
        newest = yield from self.looks()
        yield from self.writes(who, newest + 1)

    def _pages(self, _: Any) -> Process:
        yield RequestKind.LIST
        return self.store.log.segment((0.0, 0)), (0.0, 0)

    def owners(self) -> dict[int, int]:
        """Who wrote the file of each version after the first."""
        bodies = {v: self.store.objects[log_key(v)].body for v in range(1, self.newest + 1)}
        return {version: int(body.split()[-1]) for version, body in bodies.items()}

    @property
    def newest(self) -> int:
        return self.store.log.newest


def finish(process: Process) -> Any:
    """Let a process come to its end. Returns what it returns."""
    try:
        while True:
            next(process)
    except StopIteration as end:
        return end.value


def played(processes: Sequence[Process], order: Sequence[int], dies: int = -1) -> list[int]:
    """Let processes take steps in an order, each once begun; the rest comes in their own order.

    The first process dies when it has taken `dies` steps. Returns how many each took.
    """
    steps = [0] * len(processes)
    alive = [_begins(process) for process in processes]
    for who in [*order, *(n for n in range(len(processes)) for _ in range(99))]:
        if who == 0 and steps[0] == dies and alive[0]:
            processes[0].close()
            alive[0] = False
        if alive[who]:
            steps[who] += 1
            alive[who] = _begins(processes[who])
    return steps


def _begins(process: Process) -> bool:
    """Go on to the next step; whether there is one."""
    return next(process, None) is not None


def interleavings(first: int, second: int) -> Iterator[tuple[int, ...]]:
    """Every order of so many steps of two processes."""
    if not first or not second:
        yield (0,) * first + (1,) * second
        return
    yield from ((0, *rest) for rest in interleavings(first - 1, second))
    yield from ((1, *rest) for rest in interleavings(first, second - 1))


def few_switches(first: int, second: int, most: int) -> Iterator[tuple[int, ...]]:
    """Every order in which they take turns at most so often."""

    def turns(left: tuple[int, int], who: int, switches: int) -> Iterator[tuple[int, ...]]:
        own = left[who]
        for taken in range(own + 1):
            rest = (left[0] - taken, left[1]) if who == 0 else (left[0], left[1] - taken)
            if switches and rest[1 - who]:
                yield from ((who,) * taken + tail for tail in turns(rest, 1 - who, switches - 1))
            elif taken == own:
                yield (who,) * taken

    yield from dict.fromkeys([*turns((first, second), 0, most), *turns((first, second), 1, most)])

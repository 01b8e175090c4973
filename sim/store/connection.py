"""How a transaction sends its requests to the store.

What may go wrong, or is recorded, is sent and answered by `sim/store/exchange.py`; all else is
passed (`sim/store/passing.py`). Whoever sends requests need not know which; who often sends the
same ones, and knows, uses `passing` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from whitecap.sim.recording.records import AttemptRecord
from whitecap.sim.store.cluster import WriterCrashed
from whitecap.sim.store.contents.key_queue import InLine
from whitecap.sim.store.contents.log_directory import NEVER_THERE, Moment
from whitecap.sim.store.exchange import DONE, Ask, Effect, Reply, Sender, StoreRefused
from whitecap.sim.store.passing import Effects, Passing
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting

ReadOfLane = tuple[int, str, int]
"""The number of a GET among those of its transaction, the object's key and its size in bytes."""


def _nothing(_: Moment) -> Reply:
    return DONE


def read_effect(size: int) -> Effect:
    """The effect of reading an object of this size, which exists."""
    answer = Reply(result="found", size=size)
    return lambda _: answer


class Connection:
    """Sends the requests of one transaction."""

    __slots__ = ("_tape", "clock", "passing", "sender")

    passing: Passing | None
    """Passes them, if requests can be passed: nothing can strike them, none is recorded."""

    def __init__(self, sender: Sender) -> None:
        self.sender = sender
        self.clock = sender.life.clock
        self._tape = sender.tape
        must_be_sent = (
            sender.faults.are_possible
            or sender.recorder.with_requests
            or sender.kernel.patient
            or sender.life.can_end
        )
        self.passing = None if must_be_sent else Passing(sender)

    def ask(
        self,
        kind: RequestKind,
        key: str,
        effect: Effect,
        size_bytes: int = 0,
        shared: bool = True,
        attempt: AttemptRecord | None = None,
        in_line: InLine | None = None,
    ) -> Waiting[Reply]:
        """Send a request and return its answer.

        `shared`: others can see its effect, or it can see theirs, so that it must take effect in
        order with them. `in_line`: it may have to queue at its key, and is not passed; such a put
        that could be is led through its queue by its protocol. Its instants are what
        `Latency.arrival` and `Latency.reply` give.
        """
        number = self._tape.next_number(kind)
        if self.passing is not None:
            return self.passing.ask(kind, number, effect, size_bytes, shared, attempt)
        return self.sender.answer(
            Ask(kind, number, key, effect, size_bytes, shared, attempt, in_line)
        )

    def is_there(
        self, kind: RequestKind, key: str, appears: Callable[[], Moment | None], size: int
    ) -> Waiting[bool]:
        """Whether an object exists that may have appeared by then, or not.

        `appears` gives the moment from which it exists, `None` as long as that is not decided: then
        the process has to wait for the kernel, and look.
        """

        def look(moment: Moment) -> Reply:
            visible = (appears() or NEVER_THERE) <= moment
            return Reply(visible, "found" if visible else "missing", size if visible else 0)

        is_decided = appears() is not None
        if is_decided and self.passing is not None:
            return bool(self.passing.single(kind, look).value)
        answer = yield from self.ask(kind, key, look, shared=not is_decided)
        return bool(answer.value)

    def read(self, kinds: Sequence[RequestKind], key: str, size_bytes: int) -> Waiting[None]:
        """Read an object that exists, with one request or several; what a GET brings takes time."""
        if self.passing is not None:
            self.passing.series(kinds, size_bytes)
            return
        for kind in kinds:
            size = size_bytes if kind is RequestKind.GET else 0
            yield from self.ask(kind, key, read_effect(size), shared=False)

    def repeat(self, kind: RequestKind, key: str, answer: Reply, count: int) -> Waiting[None]:
        """Send the same request `count` times, one after the other; it changes nothing."""
        if self.passing is not None:
            self.passing.repeated(kind, answer.size, count)
            return
        for _ in range(count):
            yield from self.ask(kind, key, lambda _: answer, shared=False)

    def ask_all(
        self,
        kinds: Sequence[RequestKind],
        key: str,
        effects: Effects,
        size_bytes: int = 0,
    ) -> Waiting[None]:
        """Send some requests for one object, one after the other; a PUT sends `size_bytes`.

        What `effects` says some of them do, nobody else can see before its instant.
        """
        if self.passing is not None:
            self.passing.series(kinds, 0, effects, size_bytes)
            return
        for place, kind in enumerate(kinds):
            is_put = kind is RequestKind.PUT
            effect = effects.get(place, _nothing if is_put else read_effect(0))
            yield from self.ask(kind, key, effect, size_bytes if is_put else 0, shared=False)

    def read_in_parallel(
        self, keys: Callable[[], Sequence[str]], sizes: Sequence[int], tasks: int
    ) -> Waiting[None]:
        """Read files in parallel tasks, each of which reads its files one after the other.

        The files are dealt out to the tasks in turn. Their `keys` are asked for if they matter.
        """
        first = self._tape.next_number(RequestKind.GET, len(sizes))
        if self.passing is not None:
            self.passing.in_parallel(first, sizes, tasks)
            return
        files = list(zip(range(first, first + len(sizes)), keys(), sizes, strict=True))
        yield from self._all_lanes([files[n::tasks] for n in range(min(tasks, len(files)))])

    def _all_lanes(self, lanes: Sequence[Sequence[ReadOfLane]]) -> Waiting[None]:
        """Run each lane as a process of its own, so that the requests of all come in order.

        Raises `WriterCrashed` or `StoreRefused` if that ended one of them, after all have ended.
        """
        senders = [
            replace(self.sender, life=self.sender.life.of_task(n + 1)) for n in range(len(lanes))
        ]
        tasks = [_lane(sender, lane) for sender, lane in zip(senders, lanes, strict=True)]
        ended = yield from self.sender.kernel.together(tasks)
        self.clock.now_ms = max([self.clock.now_ms, *(s.life.clock.now_ms for s in senders)])
        for failure in (WriterCrashed, StoreRefused):
            for error in ended:
                if isinstance(error, failure):
                    raise error


def _lane(sender: Sender, lane: Sequence[ReadOfLane]) -> Waiting[Exception | None]:
    try:
        for number, key, size_bytes in lane:
            ask = Ask(RequestKind.GET, number, key, read_effect(size_bytes))
            yield from sender.answer(ask)
    except (WriterCrashed, StoreRefused) as error:
        return error
    return None

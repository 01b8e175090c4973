"""How the log is listed: page after page, or what is new alone; and what a stale listing misses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.sim.store.connection import Connection
from whitecap.sim.store.contents.log_directory import LogDirectory, Moment, Segment
from whitecap.sim.store.coordinator import Coordinator, LogRequests, Pages, Sees, Shown
from whitecap.sim.store.exchange import Effect, Reply
from whitecap.sim.store.passing import Passing
from whitecap.sim.store.requests.faults import FaultPlan, Sending, missed_by
from whitecap.sim.store.requests.kinds import RequestKind
from whitecap.sim.time.kernel import Waiting

LOG_KEY = f"{LOG_DIRECTORY}/"


class LogListing(Struct, frozen=True):
    """One transaction's listings of the log."""

    connection: Connection
    requests: LogRequests
    coordinator: Coordinator
    directory: LogDirectory

    def list_log(self, sees: Sees = None) -> Waiting[Shown]:
        """Learn the newest version, and what else the log shows; `sees` is told the moment."""
        shown = self.coordinator.list_log(self._pages(), sees)
        listings = self.connection.sender.faults.listings
        return self._stale(shown, listings) if listings else shown

    def _pages(self) -> Pages:
        passing = self.connection.passing
        if self.requests.fast_listing:
            return self._ask_what_is_new
        return self._ask_pages if passing is None else partial(self._pass_pages, passing)

    def _stale(self, listing: Waiting[Shown], plans: Sequence[FaultPlan]) -> Waiting[Shown]:
        """What a stale listing shows: it may miss the newest versions, but never version 0."""
        segment, moment = yield from listing
        tape = self.connection.sender.tape
        sending = Sending(
            tape, RequestKind.LIST, tape.made(RequestKind.LIST), 0, moment[0], key=LOG_KEY
        )
        missed = min(missed_by(plans, sending), max(segment.version, 0))
        if not missed:
            return segment, moment
        version = segment.version - missed
        return Segment(version, self.directory.checkpoint_before(version, moment)), moment

    def _pass_pages(self, passing: Passing, sees: Sees) -> Waiting[Shown]:
        """`_ask_pages` where requests are passed: the same answer at the same instant."""
        directory, clock, kind = self.directory, self.connection.clock, RequestKind.LIST
        page_size = self.requests.page_size
        yield passing.sent(kind)
        moment = (clock.now_ms, clock.order)
        on_page = directory.count(moment)
        if on_page > page_size:
            passing.answered(kind, page_size)
            before_last = -(-on_page // page_size) - 1
            if before_last > 1:
                passing.repeated(kind, page_size, before_last - 1)
            yield passing.sent(kind)
            moment = (clock.now_ms, clock.order)
            on_page = max(0, directory.count(moment) - page_size * before_last)
        shown = self._seen(moment, sees)
        passing.answered(kind, on_page)
        return shown

    def _ask_pages(self, sees: Sees) -> Waiting[Shown]:
        """List the whole log, page after page: what it shows, and when.

        How many pages there are is known with the first; the last shows the newest version, and
        `sees` is told its moment. Source: LogStore.listFrom, which filters what it has listed.
        """
        page_size = self.requests.page_size

        def first(moment: Moment) -> Reply:
            count = self.directory.count(moment)
            if count <= page_size:
                return Reply((count, self._seen(moment, sees)), "listed", count)
            return Reply((count, None), "listed", page_size)

        def last(moment: Moment) -> Reply:
            count = self.directory.count(moment)
            return Reply(self._seen(moment, sees), "listed", max(0, count - before))

        answer = yield from self.connection.ask(RequestKind.LIST, LOG_KEY, first)
        count, shown = answer.value
        if shown is not None:
            return shown  # type: ignore[no-any-return]
        before = page_size * (-(-count // page_size) - 1)
        full = Reply(result="listed", size=page_size)
        pages = before // page_size - 1
        yield from self.connection.repeat(RequestKind.LIST, LOG_KEY, full, pages)
        return (yield from self._shown_by(last))

    def _ask_what_is_new(self, sees: Sees) -> Waiting[Shown]:
        """`_ask_pages` where one page of what is new is asked for."""
        yield from self.connection.read((RequestKind.HEAD, RequestKind.LIST), LOG_KEY, 0)
        return (
            yield from self._shown_by(lambda moment: Reply(self._seen(moment, sees), "listed", 1))
        )

    def _shown_by(self, effect: Effect) -> Waiting[Shown]:
        """What the last page shows, which has the end of the log."""
        shown: Shown = (yield from self.connection.ask(RequestKind.LIST, LOG_KEY, effect)).value
        return shown

    def _seen(self, moment: Moment, sees: Sees) -> Shown:
        """What the log shows at a moment, of which `sees` is told."""
        if sees is not None:
            sees(moment)
        return self.directory.segment(moment), moment

"""Which part of a run is replayed: some consecutive versions and all who were decided in them.

Real commits take seconds, so a replay is of tens of transactions. The window that shows most has
the most exception classes, then the most conflicts, and commits besides; and few transactions
that began before it, since these can only be begun late.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.replay.recorded import Recorded
from whitecap.sim.replay.script import End

DEFAULT_TRANSACTIONS = 40
WORTH_OF_A_STRADDLER = 2
"""How many conflicts more a window must have to make up for one that began before it."""


@dataclass(frozen=True, slots=True)
class Window:
    """The versions after `first` up to `last`; the table is set up as it was at `first`."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


def parse_window(text: str) -> Window:
    """`FROM..TO` as two versions. Raises InvalidInput."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text.strip())
    if found is None:
        raise InvalidInput([Problem("--window", f"{text!r} is not of the form FROM..TO")])
    window = Window(int(found.group(1)), int(found.group(2)))
    if window.last <= window.first:
        raise InvalidInput([Problem("--window", f"{text!r} holds no version: TO must be larger")])
    return window


def members(transactions: Sequence[Recorded], window: Window) -> list[Recorded]:
    """All who were decided in the window: began in it, or made one of its versions."""
    return [each for each in transactions if _is_member(each, window)]


def began_before(each: Recorded, window: Window) -> bool:
    """Whether its snapshot is older than the window."""
    return each.read_version < window.first


def _is_member(each: Recorded, window: Window) -> bool:
    if each.landed is not None:
        return window.first < each.landed <= window.last
    return window.first <= each.read_version and each.decided_at <= window.last


def check_window(transactions: Sequence[Recorded], window: Window, first_version: int) -> None:
    """Raises InvalidInput: the run has no such versions, or their makers are not recorded."""
    made = {each.landed for each in transactions}
    newest = max((version for version in made if version is not None), default=first_version)
    if window.first < first_version or window.last > newest:
        text = f"{window} is not within the run's versions {first_version}..{newest}"
        raise InvalidInput([Problem("--window", text)])


def best_window(
    transactions: Sequence[Recorded], first_version: int, limit: int = DEFAULT_TRANSACTIONS
) -> Window:
    """The window of at most `limit` transactions that shows most.

    `first_version`: the oldest version that the table can be set up at.
    Raises InvalidInput: no transaction made a version after it.
    """
    search = _Search(transactions, first_version, limit)
    if search.best is None:
        raise InvalidInput([Problem("run", "holds no commit that could be replayed")])
    return search.best


class _Search:
    """Tries every first version, growing each window until it holds too many transactions."""

    def __init__(self, transactions: Sequence[Recorded], first_version: int, limit: int) -> None:
        self._complete: dict[int, list[Recorded]] = defaultdict(list)
        for each in transactions:
            self._complete[each.complete_at].append(each)
        self._newest = max((e.landed for e in transactions if e.landed is not None), default=-1)
        self._limit = limit
        self.best: Window | None = None
        self._best_worth: tuple[int, int, int] | None = None
        for first in range(first_version, self._newest):
            self._grow(first)

    def _grow(self, first: int) -> None:
        chosen: list[Recorded] = []
        for last in range(first, self._newest + 1):
            grown = Window(first, last)
            chosen += [each for each in self._complete[last] if _is_member(each, grown)]
            if len(chosen) > self._limit and self.best is not None:
                return
            if last > first:
                self._consider(Window(first, last), chosen)
            if len(chosen) > self._limit:
                return

    def _consider(self, window: Window, chosen: Sequence[Recorded]) -> None:
        worth = _worth(window, chosen)
        if self._best_worth is None or worth > self._best_worth:
            self.best, self._best_worth = window, worth


def _worth(window: Window, chosen: Sequence[Recorded]) -> tuple[int, int, int]:
    fair = [each for each in chosen if each.excuse is None and not began_before(each, window)]
    aborted = [each for each in fair if each.result.end is End.ABORTED]
    commits = sum(each.landed is not None for each in fair)
    straddlers = sum(began_before(each, window) for each in chosen)
    classes = {each.result.exception for each in aborted}
    conflicts = len(aborted) - WORTH_OF_A_STRADDLER * straddlers
    return len(classes) if commits else 0, conflicts, commits

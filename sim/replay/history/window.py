"""Which part of a run is replayed: some consecutive versions and all who were decided in them.

Real commits take seconds, so a replay is of tens of transactions. The window that shows most has
the most exception classes, then the most conflicts, and commits besides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.playing.script import End

DEFAULT_TRANSACTIONS = 40
"""Transactions of a replay where the user does not say how many. Ours."""


class Window(Struct, frozen=True):
    """The versions after `first` up to `last`; the table is set up as it was at `first`.

    `table` says whose versions, where there are several tables.
    """

    first: int
    last: int
    table: str | None = None

    def __str__(self) -> str:
        versions = f"{self.first}..{self.last}"
        return versions if self.table is None else f"{self.table}:{versions}"


def parse_window(text: str) -> Window:
    """`FROM..TO` as two versions, perhaps after a table: `gold:3..9`. Raises InvalidInput."""
    match = re.fullmatch(r"(?:(.+):)?(\d+)\.\.(\d+)", text.strip())
    if match is None:
        said = f"{text!r} is not of the form FROM..TO (two versions: 12..40)"
        raise InvalidInput([Problem("--window", said)])
    window = Window(int(match.group(2)), int(match.group(3)), match.group(1))
    if window.last <= window.first:
        raise InvalidInput([Problem("--window", f"{text!r} holds no version: TO must be larger")])
    return window


def members(transactions: Sequence[Recorded], window: Window) -> list[Recorded]:
    """All who were decided in the window: who made its versions, or ended while it stood there."""
    return [_within(window, each) for each in transactions if _is_member(each, window)]


def _is_member(each: Recorded, window: Window) -> bool:
    """A commit is decided at the version that it makes; all else at the version then newest."""
    if each.versions:
        return any(window.first < version <= window.last for version in each.versions)
    began_within = window.first <= each.read_version
    return (began_within or window.first < each.decided_at) and each.decided_at <= window.last


def _within(window: Window, each: Recorded) -> Recorded:
    """A member that may not be played: what it did outside of the window cannot be undone."""
    if all(window.first < version <= window.last for version in each.versions):
        return each
    return replace(each, left_out=each.left_out or "it has commits outside of the window, too")


def check_window(transactions: Sequence[Recorded], window: Window, first_version: int) -> None:
    """Raises InvalidInput: the run has no such versions."""
    newest = _newest(transactions, first_version)
    if window.first < first_version or window.last > newest:
        text = f"{window} is not within the run's versions {first_version}..{newest}"
        raise InvalidInput([Problem("--window", text)])


def best_window(
    transactions: Sequence[Recorded], first_version: int, limit: int = DEFAULT_TRANSACTIONS
) -> Window:
    """The window of at most `limit` transactions that shows most; of more where one version has.

    `first_version`: the oldest version that the table can be set up at.
    Raises InvalidInput: no transaction made a version after it.
    """
    best = shown_most(transactions, first_version, limit)
    if best is None:
        text = f"holds no commit after version {first_version}, at which a replay can begin"
        raise InvalidInput([Problem("run", text)])
    return best[1]


Worth = tuple[int, int, int]
"""How much a window shows: exception classes, conflicts, commits."""


def shown_most(
    transactions: Sequence[Recorded], first_version: int, limit: int
) -> tuple[Worth, Window] | None:
    """`best_window` and how much it shows; `None` if nobody commits."""
    search = _Search(transactions, first_version, limit)
    if search.best is None or search.best_worth is None:
        return None
    return search.best_worth, search.best


def _newest(transactions: Sequence[Recorded], first_version: int) -> int:
    """The newest version that a transaction made."""
    made = (version for each in transactions for version in each.versions)
    return max(made, default=first_version)


class _Search:
    """Tries every first version, growing each window until it holds too many transactions."""

    def __init__(self, transactions: Sequence[Recorded], first_version: int, limit: int) -> None:
        self._complete: dict[int, list[Recorded]] = defaultdict(list)
        for each in transactions:
            if each.left_out is None:
                self._complete[each.complete_at].append(each)
        self._newest = _newest(transactions, first_version)
        self._limit = limit
        self.best: Window | None = None
        self.best_worth: Worth | None = None
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
                self._consider(grown, chosen)
            if len(chosen) > self._limit:
                return

    def _consider(self, window: Window, chosen: Sequence[Recorded]) -> None:
        worth = _worth(chosen)
        if self.best_worth is None or worth > self.best_worth:
            self.best, self.best_worth = window, worth


def _worth(chosen: Sequence[Recorded]) -> Worth:
    aborted = [each for each in chosen if each.result.end is End.ABORTED]
    commits = sum(bool(each.versions) for each in chosen)
    classes = {each.result.exception for each in aborted}
    return len(classes) if commits else 0, len(aborted), commits

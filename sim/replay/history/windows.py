"""Which parts of a run of several tables are replayed: a window of versions of each.

One table leads: the one whose window shows most, or that somebody names. The jobs of its window are
to be seen whole, so that of each other table those versions are replayed in which they wrote it.
Where they did not, a table shows the most that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem, unknown_name
from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.history.window import Window, check_window, members, shown_most

FEWEST = 2
"""Transactions that a window must be allowed: with fewer there is nothing to see."""


class TableHistory(Struct, frozen=True):
    """All transactions on one table, and the oldest version that it can be set up at."""

    transactions: Sequence[Recorded]
    first_version: int


Histories = Mapping[str, TableHistory]


def best_windows(histories: Histories, limit: int) -> list[Window]:
    """Windows of at most `limit` transactions together, as far as a job can be seen whole so.

    Raises InvalidInput: no transaction made a version.
    """
    share = max(FEWEST, limit // len(histories))
    while True:
        windows = _windows_of(histories, share)
        if share <= FEWEST or _count(histories, windows) <= limit:
            return windows
        share = max(FEWEST, share // 2)


def windows_around(histories: Histories, lead: Window) -> list[Window]:
    """The window of the leading table, and of each other table what its jobs wrote there.

    Raises InvalidInput: `lead` names no table, one that does not exist, or versions that do not.
    """
    listed = ", ".join(histories)
    if lead.table is None:
        reason = f"versions are a table's own: write {next(iter(histories))}:{lead}, of {listed}"
        raise InvalidInput([Problem("--window", reason)])
    if lead.table not in histories:
        raise InvalidInput([Problem("--window", *unknown_name("table", lead.table, histories))])
    history = histories[lead.table]
    check_window(history.transactions, lead, history.first_version)
    return _around(histories, lead, FEWEST)


def _windows_of(histories: Histories, share: int) -> list[Window]:
    most = [(worth, name, window) for name, (worth, window) in _shown(histories, share).items()]
    if not most:
        text = "holds no commit after the versions at which a replay can begin"
        raise InvalidInput([Problem("run", text)])
    _, name, window = max(most, key=lambda each: each[0])
    return _around(histories, replace(window, table=name), share)


def _shown(histories: Histories, share: int) -> dict[str, tuple[tuple[int, int, int], Window]]:
    windows = {
        name: shown_most(history.transactions, history.first_version, share)
        for name, history in histories.items()
    }
    return {name: best for name, best in windows.items() if best is not None}


def _around(histories: Histories, lead: Window, share: int) -> list[Window]:
    assert lead.table is not None
    jobs = {each.job_id for each in members(histories[lead.table].transactions, lead)}
    windows = []
    for name, history in histories.items():
        window = lead if name == lead.table else _written_by(jobs, history)
        if window is None:
            best = shown_most(history.transactions, history.first_version, share)
            window = None if best is None else best[1]
        if window is not None:
            windows.append(replace(window, table=name))
    return windows


def _written_by(jobs: set[int], history: TableHistory) -> Window | None:
    """The versions of a table from where these jobs began on it to where they ended."""
    first = history.first_version
    own = [
        each
        for each in history.transactions
        if each.job_id in jobs and each.left_out is None and each.read_version >= first
    ]
    if not own:
        return None
    return Window(min(each.read_version for each in own), max(each.complete_at for each in own))


def _count(histories: Histories, windows: Sequence[Window]) -> int:
    return sum(
        each.left_out is None
        for window in windows
        for each in members(histories[str(window.table)].transactions, window)
    )

"""Who stops whom: which commit, of which writers, made a transaction abort.

The winner is found by the version that refused, through the recorded commits. It may be none of
the run's: a commit from before it, one that nobody is known to have made, the loser's own (its
reply was lost), or no commit at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from whitecap.reports.arrays import Flags, IntArray
from whitecap.reports.measures.columns import coded, codes_in
from whitecap.reports.measures.groups import TABLE_COLUMN, WriterCommand
from whitecap.reports.measures.sample import NOT_RECORDED
from whitecap.reports.measures.writing import percent

BEFORE_THE_RUN = WriterCommand("(before the run)", "")
UNKNOWN_WINNER = WriterCommand("(unknown)", "")
ITS_OWN = WriterCommand("(its own commit)", "")
NOBODY = WriterCommand("(nobody)", "")

NO_WRITERS = (BEFORE_THE_RUN, UNKNOWN_WINNER, ITS_OWN, NOBODY)
"""Winners that are no writer group of the run."""


class RefusalCount(Struct, frozen=True):
    """`count` transactions of `loser` were aborted by `exception` because of `winner`.

    `aborts`: how many of the loser's were aborted in all.
    """

    loser: WriterCommand
    winner: WriterCommand
    exception: str
    count: int
    aborts: int

    @property
    def share(self) -> float:
        """`count` divided by `aborts`."""
        return self.count / self.aborts

    def as_row(self) -> dict[str, Any]:
        """As a row of the table of refusals."""
        return {
            "loser_group": self.loser.writer_group,
            "loser_command": self.loser.command,
            "winner_group": self.winner.writer_group,
            "winner_command": self.winner.command,
            "exception": self.exception,
            "count": self.count,
            "aborts": self.aborts,
            "share": self.share,
        }


REFUSAL_COLUMNS = (
    "loser_group", "loser_command", "winner_group", "winner_command", "exception", "count",
    "aborts", "share",
)  # fmt: skip
"""The columns of the table of refusals, in order."""


def refusals_of(
    transactions: pa.Table,
    commits: pa.Table,
    losers: Flags,
    group_of_each: IntArray,
    groups: Sequence[WriterCommand],
) -> tuple[RefusalCount, ...]:
    """The refusals of one run, most frequent first within each loser, in the order of `groups`.

    `losers`: which transactions are meant. `group_of_each` is a position in `groups`.
    """
    if not losers.any():
        return ()
    names = [*groups, *NO_WRITERS]
    winners = _winners(transactions, commits, group_of_each, len(groups))
    exceptions, recorded = coded(transactions["exception"])
    of_each = np.stack([group_of_each, winners, exceptions])[:, losers]
    keys, counts = np.unique(of_each, axis=1, return_counts=True)
    exception_names = [*recorded, NOT_RECORDED]
    return ranked(
        RefusalCount(names[loser], names[winner], exception_names[exception], count, count)
        for (loser, winner, exception), count in zip(
            keys.T.tolist(), counts.tolist(), strict=True
        )
    )  # fmt: skip


def ranked(refusals: Iterable[RefusalCount]) -> tuple[RefusalCount, ...]:
    """Equal ones added up, with the loser's aborts anew; most frequent first within a loser."""
    counts: Counter[tuple[WriterCommand, WriterCommand, str]] = Counter()
    aborts: Counter[WriterCommand] = Counter()
    for each in refusals:
        counts[each.loser, each.winner, each.exception] += each.count
        aborts[each.loser] += each.count
    rank = {loser: position for position, loser in enumerate(aborts)}
    order = sorted(counts.items(), key=lambda item: (rank[item[0][0]], -item[1], item[0]))
    return tuple(RefusalCount(*key, count, aborts[key[0]]) for key, count in order)


LEAST_ABORTS = 5
"""Of a loser, before a sentence says what share of them has which cause. A choice of ours."""

TELLING_SHARE = 0.5
"""A cause is told if it is behind this much of a loser's aborts. A choice of ours."""


def refusal_sentences(refusals: Sequence[RefusalCount]) -> Iterator[str]:
    """For each loser whose aborts have one main cause, which: `60 % of ... come from ...`."""
    losers = dict.fromkeys(each.loser for each in refusals)
    commands = Counter(loser.writer_group for loser in losers)
    for loser in losers:
        causes = [replace(each, exception="") for each in refusals if each.loser == loser]
        main = ranked(causes)[0]
        if main.aborts >= LEAST_ABORTS and main.share >= TELLING_SHARE:
            is_only = commands[loser.writer_group] == 1
            yield _sentence(main, loser.writer_group if is_only else str(loser))


def _sentence(main: RefusalCount, loser: str) -> str:
    match main.winner:
        case winner if winner == NOBODY:
            cause = "are no conflict with anybody's commit"
        case winner if winner == ITS_OWN:
            cause = "come from a commit of their own, whose reply was lost"
        case winner if winner == BEFORE_THE_RUN:
            cause = "come from commits from before the run"
        case winner if winner == UNKNOWN_WINNER:
            cause = "come from commits that nobody is known to have made"
        case winner if winner == main.loser:
            cause = f"come from {loser} itself"
        case winner:
            cause = f"come from {winner.writer_group}"
    counted = f"{main.count:,} of {main.aborts:,}"
    return f"{percent(main.share, 2)} % of the aborts of {loser} {cause} ({counted})"


def _winners(
    transactions: pa.Table, commits: pa.Table, group_of_each: IntArray, groups: int
) -> IntArray:
    """Of each transaction the position of its winner among so many groups and `NO_WRITERS`."""
    codes = {special: groups + place for place, special in enumerate(NO_WRITERS)}
    versions, landed = _versions(transactions, commits)
    ids = codes_in(transactions["transaction_id"])
    made_by = _looked_up(versions, landed, codes_in(commits["transaction_id"]))
    winners = _looked_up(made_by, ids, group_of_each)
    winners[winners < 0] = codes[UNKNOWN_WINNER]
    winners[np.isin(versions, landed) & (made_by < 0)] = codes[BEFORE_THE_RUN]
    winners[made_by == ids] = codes[ITS_OWN]
    winners[versions < 0] = codes[NOBODY]
    return winners


def _versions(transactions: pa.Table, commits: pa.Table) -> tuple[IntArray, IntArray]:
    """The versions that refused transactions, -1 where none did, and those of the commits.

    They are told apart: of several tables, each has its table's place among all in it.
    """
    versions, landed = codes_in(transactions["winning_version"]), codes_in(commits["version"])
    if TABLE_COLUMN not in commits.column_names:
        return versions, landed
    both = [*transactions[TABLE_COLUMN].chunks, *commits[TABLE_COLUMN].chunks]
    tables, names = coded(pa.chunked_array(both))
    ours, theirs = np.split(tables, [len(versions)])
    return np.where(versions < 0, -1, versions * len(names) + ours), landed * len(names) + theirs


def _looked_up(wanted: IntArray, keys: IntArray, values: IntArray) -> IntArray:
    """For each wanted key its value; -1 where the key is not there."""
    if not len(keys):
        return np.full(len(wanted), -1)
    order = np.argsort(keys, kind="stable")
    place = order[np.searchsorted(keys, wanted, sorter=order).clip(max=len(keys) - 1)]
    return np.where(keys[place] == wanted, values[place], -1)


def groups_stopping_themselves(refusals: Iterable[RefusalCount]) -> set[str]:
    """The writer groups half of whose aborts, or more, are by their own commits."""
    own: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for each in refusals:
        group = each.loser.writer_group
        every[group] += each.count
        own[group] += each.count * (each.winner.writer_group == group)
    return {group for group, count in every.items() if 2 * own[group] >= count > 0}

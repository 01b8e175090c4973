"""Who stops whom: which commit, of which writers, made a transaction abort.

The winner is found by the version that refused, through the recorded commits. It may be none of
the run's: a commit from before it, one that nobody is known to have made, the loser's own (its
reply was lost), or no commit at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whitecap.engine.recorded import RecordedOutcome
from whitecap.reports.measures.groups import Group
from whitecap.reports.measures.sample import NOT_RECORDED, Codes, coded

BEFORE_THE_RUN = Group("(before the run)", "")
UNKNOWN_WINNER = Group("(unknown)", "")
ITS_OWN = Group("(its own commit)", "")
NOBODY = Group("(nobody)", "")

NO_WRITERS = (BEFORE_THE_RUN, UNKNOWN_WINNER, ITS_OWN, NOBODY)
"""Winners that are no writer group of the run."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """`count` transactions of `loser` were aborted by `exception` because of `winner`.

    `aborts`: how many of the loser's were aborted in all.
    """

    loser: Group
    winner: Group
    exception: str
    count: int
    aborts: int

    @property
    def share(self) -> float:
        """Of the loser's aborts."""
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
    group_of_each: Codes,
    groups: Sequence[Group],
    warm_up_ms: float,
) -> tuple[Refusal, ...]:
    """The refusals of one run, most frequent first within each loser, in the order of `groups`.

    `group_of_each` transaction is a position in `groups`.
    """
    names = [*groups, *NO_WRITERS]
    losers = _losers(transactions, warm_up_ms)
    if not len(losers):
        return ()
    aborted = transactions.take(pa.array(losers))
    winners = _winners(transactions, commits, aborted, group_of_each, names)
    exceptions, exception_names = coded(pc.fill_null(aborted["exception"], NOT_RECORDED))
    keys, counts = np.unique(
        np.stack([group_of_each[losers], winners, exceptions]), axis=1, return_counts=True
    )
    return ranked(
        Refusal(names[loser], names[winner], exception_names[exception], count, count)
        for (loser, winner, exception), count in zip(
            keys.T.tolist(), counts.tolist(), strict=True
        )
    )  # fmt: skip


def ranked(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Equal ones added up, with the loser's aborts anew; most frequent first within a loser."""
    counts: Counter[tuple[Group, Group, str]] = Counter()
    aborts: Counter[Group] = Counter()
    for each in refusals:
        counts[each.loser, each.winner, each.exception] += each.count
        aborts[each.loser] += each.count
    rank = {loser: position for position, loser in enumerate(aborts)}
    order = sorted(counts.items(), key=lambda item: (rank[item[0][0]], -item[1], item[0]))
    return tuple(Refusal(*key, count, aborts[key[0]]) for key, count in order)


LEAST_ABORTS = 5
"""Of a loser, before a sentence says what share of them has which cause. A choice of ours."""

TELLING_SHARE = 0.5
"""A cause is told if it is behind this much of a loser's aborts. A choice of ours."""


def refusal_sentences(refusals: Sequence[Refusal]) -> Iterator[str]:
    """For each loser whose aborts have one main cause, which: `60 % of ... come from ...`."""
    for loser in dict.fromkeys(each.loser for each in refusals):
        causes = [replace(each, exception="") for each in refusals if each.loser == loser]
        main = ranked(causes)[0]
        if main.aborts >= LEAST_ABORTS and main.share >= TELLING_SHARE:
            yield _sentence(main)


def _sentence(main: Refusal) -> str:
    loser = main.loser.writer_group
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
    return f"{100 * main.share:.0f} % of the aborts of {loser} {cause} ({counted})"


def _losers(transactions: pa.Table, warm_up_ms: float) -> Codes:
    is_aborted = pc.equal(transactions["outcome"], RecordedOutcome.ABORTED.value)
    is_counted = pc.greater_equal(transactions["submitted_at_ms"], warm_up_ms)
    return np.flatnonzero(pc.and_(is_aborted, is_counted).to_numpy())


def _winners(
    transactions: pa.Table,
    commits: pa.Table,
    aborted: pa.Table,
    group_of_each: Codes,
    names: Sequence[Group],
) -> Codes:
    """Of each aborted transaction the position of its winner in `names`."""
    versions, landed = _versions(aborted, "winning_version"), _versions(commits, "version")
    made_by = _looked_up(versions, landed, commits["transaction_id"])
    rows = np.arange(transactions.num_rows)
    row_of_winner = _looked_up(made_by, transactions["transaction_id"], rows)
    codes = {special: len(names) - len(NO_WRITERS) + i for i, special in enumerate(NO_WRITERS)}
    winners = np.full(aborted.num_rows, codes[UNKNOWN_WINNER])
    is_in_run = row_of_winner.is_valid().to_numpy(zero_copy_only=False)
    winners[is_in_run] = group_of_each[row_of_winner.drop_null().to_numpy()]
    is_there = pc.is_in(versions, landed.combine_chunks()).to_numpy()
    winners[is_there & made_by.is_null().to_numpy(zero_copy_only=False)] = codes[BEFORE_THE_RUN]
    own = pc.fill_null(pc.equal(made_by, aborted["transaction_id"].combine_chunks()), False)
    winners[own.to_numpy(zero_copy_only=False)] = codes[ITS_OWN]
    winners[pc.is_null(versions).to_numpy()] = codes[NOBODY]
    return winners


def _versions(rows: pa.Table, column: str) -> Any:
    """Versions as they are told apart: of several tables, each with its table's name."""
    if "table_name" not in rows.column_names:
        return rows[column]
    return pc.binary_join_element_wise(rows["table_name"], pc.cast(rows[column], pa.string()), " ")


def _looked_up(wanted: Any, keys: Any, values: Any) -> pa.Array:
    """For each wanted key its value; null where the key is not there."""
    position = pc.index_in(wanted, keys.combine_chunks())
    position = position.combine_chunks() if isinstance(position, pa.ChunkedArray) else position
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else pa.array(values)
    return values.take(position)

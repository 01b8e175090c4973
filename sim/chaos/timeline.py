"""What happened around a finding: its transactions and those beside them, as lanes."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.finding import Finding
from whitecap.sim.oracles.history import HistoryTransaction

MOST_LANES = 8
"""Lines of a picture that is still looked at."""


class Lane(Struct, frozen=True):
    """One transaction: instants in simulated milliseconds, `ended_ms` of one under way is `None`.

    `is_named`: the finding is about it; the others were under way at the same time.
    """

    name: str
    writer: str
    began_ms: float
    ended_ms: float | None
    read_version: int | None
    wrote: tuple[int, ...]
    outcome: RecordedOutcome
    is_named: bool


def lanes_of(transactions: Iterable[HistoryTransaction], finding: Finding) -> tuple[Lane, ...]:
    """Those of a finding, then those that met them, as many as fit; by writer, then by time."""
    began = [each for each in transactions if each.began is not None]
    named = [each for each in began if each.name in finding.transactions][:MOST_LANES]
    if not named:
        return ()
    others = [each for each in began if each not in named and _meets(each, named)]
    shown = [*named, *others[: MOST_LANES - len(named)]]
    lanes = (_lane(each, each in named) for each in shown)
    return tuple(sorted(lanes, key=lambda lane: (lane.writer, lane.began_ms)))


def _meets(transaction: HistoryTransaction, named: Iterable[HistoryTransaction]) -> bool:
    return any(
        _began(transaction) < _ended(other) and _began(other) < _ended(transaction)
        for other in named
    )


def _began(transaction: HistoryTransaction) -> float:
    return 0.0 if transaction.began is None else transaction.began


def _ended(transaction: HistoryTransaction) -> float:
    return inf if transaction.ended is None else transaction.ended


def _lane(transaction: HistoryTransaction, is_named: bool) -> Lane:
    return Lane(
        name=transaction.name,
        writer=transaction.writer,
        began_ms=_began(transaction),
        ended_ms=transaction.ended,
        read_version=transaction.read_version,
        wrote=tuple(transaction.wrote or ()),
        outcome=transaction.outcome,
        is_named=is_named,
    )

"""The transactions of a finding as lanes."""

from __future__ import annotations

from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.chaos.timeline import MOST_LANES, lanes_of
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.history import HistoryTransaction
from whitecap.terminal.campaign import lane_lines

FINDING = Finding(
    oracle=Oracle.ORDER, anomaly=Anomaly.STALE_READ, sentence="", transactions=("etl-2 #1",)
)


def _transaction(number: int, began: float, ended: float | None, *wrote: int) -> HistoryTransaction:
    writer = f"etl-{number + 1}"
    outcome = RecordedOutcome.IN_FLIGHT if ended is None else RecordedOutcome.COMMITTED
    return HistoryTransaction(
        name=f"{writer} #{number}", writer=writer, outcome=outcome, began=began, ended=ended,
        read_version=7, wrote=wrote,
    )  # fmt: skip


def test_those_that_met_the_transactions_of_a_finding_stand_beside_them() -> None:
    before, named = _transaction(0, 0, 1000), _transaction(1, 2000, 4000, 9)
    beside, after = _transaction(2, 3000, None), _transaction(3, 5000, 6000)
    lanes = lanes_of([before, named, beside, after], FINDING)
    assert [(lane.name, lane.is_named) for lane in lanes] == [
        ("etl-2 #1", True),
        ("etl-3 #2", False),
    ]
    assert list(lane_lines(lanes)) == [
        "from 2.0 s to 4.0 s; > is of the finding",
        "> etl-2 #1           -------------------| read 7, wrote 9, committed",
        "  etl-3 #2                    ----------> read 7, in flight",
    ]


def test_there_are_no_more_lanes_than_are_looked_at_and_each_fits_a_terminal() -> None:
    crowd = [_transaction(number, 0, 1e9 + number, 123456) for number in range(30)]
    lanes = lanes_of(crowd, FINDING)
    assert len(lanes) == MOST_LANES
    assert all(len(line) <= 78 for line in lane_lines(lanes))


def test_a_finding_about_no_transaction_has_no_lanes() -> None:
    nobody = Finding(oracle=Oracle.LOG, anomaly=Anomaly.CONTIGUITY, sentence="")
    assert lanes_of([_transaction(1, 0, 1)], nobody) == ()
    assert list(lane_lines(())) == []

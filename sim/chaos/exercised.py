"""What should happen sometimes in a campaign: one that never met it has tested less than it says.

As Antithesis' "sometimes" assertions: each is counted over all runs, and what no run met is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from whitecap.engine.recorded import Interruption, RecordedOutcome
from whitecap.engine.rules import ConflictException
from whitecap.sim.chaos.swarm import DrawnVariation
from whitecap.sim.scenario.faults import Fault

COLUMNS = {
    "transactions": (
        "outcome", "exception", "rule", "attempts", "rerun_number", "command", "given_up",
    ),
    "attempts": ("result", "reply_at_ms", "effect_at_ms"),
}  # fmt: skip
"""Of a recording."""

REBASE = "a commit after others came first"
LOST_REPLY = "a put that took effect without a reply"
RERUN = "an aborted job that was run again and committed"
GIVEN_UP = "a job that was given up"
UNKNOWN = "a transaction of which nobody knows how it ended"


def all_properties(without: frozenset[str] = frozenset()) -> list[str]:
    """Everything that should happen sometimes, but for kinds of faults that are left out."""
    return [
        REBASE, LOST_REPLY, RERUN, GIVEN_UP, UNKNOWN,
        *(each.value for each in ConflictException),
        *(each.value for each in Interruption),
        *(_fault(kind) for kind in Fault.alternatives() if kind not in without),
    ]  # fmt: skip


def exercised(drawn: DrawnVariation, tables: Mapping[str, pa.Table]) -> frozenset[str]:
    """What of it one run met."""
    transactions, attempts = tables["transactions"], tables["attempts"]
    met = {name for name, is_met in _outcomes(transactions, attempts) if is_met}
    met |= {*pc.unique(transactions["exception"]).to_pylist()} & {*all_properties()}
    return frozenset(met | {_fault(fault.chosen_names()[0]) for fault in drawn.scenario.faults})


def _outcomes(transactions: pa.Table, attempts: pa.Table) -> Iterator[tuple[str, bool]]:
    is_committed = pc.equal(transactions["outcome"], RecordedOutcome.COMMITTED)
    is_unknown = pc.equal(transactions["outcome"], RecordedOutcome.UNKNOWN)
    has_effect = pc.is_valid(attempts["effect_at_ms"])
    has_no_reply = pc.is_null(attempts["reply_at_ms"])
    yield REBASE, _any(pc.and_(is_committed, pc.greater(transactions["attempts"], 1)))
    yield RERUN, _any(pc.and_(is_committed, pc.greater(transactions["rerun_number"], 0)))
    yield GIVEN_UP, _any(transactions["given_up"])
    yield UNKNOWN, _any(is_unknown)
    yield LOST_REPLY, _any(pc.and_(has_effect, has_no_reply))


def _any(flags: Any) -> bool:
    return bool(pc.any(flags).as_py())


def _fault(kind: str) -> str:
    return f"a fault of kind {kind}"

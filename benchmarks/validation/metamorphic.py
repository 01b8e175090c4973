"""What must follow when a scenario is changed in a way whose effect is known at any rate."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
from msgspec import Struct

from whitecap.engine.recorded import RecordedOutcome
from whitecap.reports.statistics import Estimate, EstimatedDifference, difference, share
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import run_scenario


class CheckedRelation(Struct, frozen=True):
    """What was changed, what must follow, what was seen, and whether that is it."""

    name: str
    claim: str
    seen: str
    holds: bool


def changes(replications: int, length: float = 1.0) -> list[CheckedRelation]:
    """All of them; `length` shortens every run."""
    duration_s = 600 * length
    return [
        _time_doubled(duration_s),
        _short_run(duration_s),
        _groups_split(replications, duration_s),
        *_more_partitions(replications, duration_s),
        *_longer_work(replications, duration_s),
        _stronger_isolation(replications, duration_s),
    ]


PARTS = 4

TABLE: dict[str, Any] = {
    "schema": "event_id BIGINT, part BIGINT, amount DOUBLE",
    "key": "event_id",
    "partition_by": ["part"],
    "values": {"part": list(range(PARTS))},
    "initial": {"rows": 400},
}
UPDATE = "UPDATE events SET amount = amount + 1.0 WHERE part = :part"
INSERT = "INSERT INTO events VALUES :rows"


def _document(duration_s: float, unit_s: float = 1.0) -> dict[str, Any]:
    """Writers that update a partition and loaders that add rows, with times in a unit."""
    writers = {
        "updater": {
            "count": 6,
            "statement": UPDATE,
            "parameters": {"part": {"uniform": {}}},
            "arrival": {"closed": {"think": {"exponential": {"mean": f"{6 * unit_s} s"}}}},
            "compute": {"lognormal": {"median": f"{2 * unit_s} s", "sigma": 0.5}},
        },
        "loader": {
            "count": 2,
            "statement": INSERT,
            "parameters": {"rows": {"rows": {"count": 2}}},
            "arrival": {"closed": {"think": {"exponential": {"mean": f"{4 * unit_s} s"}}}},
            "compute": f"{unit_s} s",
        },
    }
    return {
        "name": "changed",
        "duration": f"{duration_s * unit_s} s",
        "store": "instant",
        "table": TABLE,
        "writers": writers,
    }


def _rows(document: dict[str, Any], replication: int = 0) -> pa.Table:
    run = run_scenario(scenario_of(document), replication=replication)
    return run.recording.transactions


def _outcomes(rows: pa.Table) -> list[tuple[Any, ...]]:
    columns = ("writer", "outcome", "exception", "committed_version", "read_version")
    return list(zip(*(rows[name].to_pylist() for name in columns), strict=True))


# The same, exactly --------------------------------------------------------------------------------


def _time_doubled(duration_s: float) -> CheckedRelation:
    plain, doubled = _rows(_document(duration_s)), _rows(_document(duration_s, 2.0))
    worst = max(
        abs(late - 2 * early)
        for name in ("submitted_at_ms", "ended_at_ms")
        for early, late in zip(plain[name].to_pylist(), doubled[name].to_pylist(), strict=False)
        if early is not None and late is not None
    )
    same = _outcomes(plain) == _outcomes(doubled)
    count = plain.num_rows
    return CheckedRelation(
        "all times doubled", "the same outcomes, twice as late",
        f"{count:,} transactions {'alike' if same else 'that differ'}, times to {worst:.0e} ms",
        same and worst < 1e-3,
    )  # fmt: skip


def _short_run(duration_s: float) -> CheckedRelation:
    whole, half = _rows(_document(duration_s)), _rows(_document(duration_s / 2))
    ended = [outcome != RecordedOutcome.IN_FLIGHT for outcome in half["outcome"].to_pylist()]
    pairs = list(zip(_outcomes(half), _outcomes(whole), ended, strict=False))
    differing = sum(short != long for short, long, has_ended in pairs if has_ended)
    return CheckedRelation(
        "half as long", "what ended by then is the beginning of the whole run",
        f"{sum(ended):,} transactions, {differing} that differ", not differing,
    )  # fmt: skip


# More or less of something ------------------------------------------------------------------------


def _abort_rate(document: dict[str, Any], replications: int) -> Estimate:
    """Of the updaters."""
    aborted, ended = [], []
    for replication in range(replications):
        rows = _rows(document, replication)
        groups, outcomes = rows["command"].to_pylist(), rows["outcome"].to_pylist()
        of_updaters = [o for o, group in zip(outcomes, groups, strict=True) if group == "UPDATE"]
        aborted.append(of_updaters.count(RecordedOutcome.ABORTED.value))
        ended.append(len(of_updaters) - of_updaters.count(RecordedOutcome.IN_FLIGHT.value))
    return share(aborted, ended, confidence=0.99)


def _groups_split(replications: int, duration_s: float) -> CheckedRelation:
    whole, split = _document(duration_s), _document(duration_s)
    group = {**split["writers"].pop("updater"), "count": 3}
    split["writers"] |= {"left": group, "right": dict(group)}
    gap = _gap(_abort_rate(whole, replications), _abort_rate(split, replications))
    return CheckedRelation(
        "six writers of one group, or three each of two", "as many aborts",
        _interval_text(gap), gap.low <= 0 <= gap.high,
    )  # fmt: skip


def _more_partitions(replications: int, duration_s: float) -> list[CheckedRelation]:
    rates = {}
    for parts in (1, 2, 4, 8):
        document = _document(duration_s)
        document["table"] = {**TABLE, "values": {"part": list(range(parts))}}
        rates[f"{parts}"] = _abort_rate(document, replications)
    return _falling("partitions", rates)


def _longer_work(replications: int, duration_s: float) -> list[CheckedRelation]:
    rates = {}
    for median_s in (4.0, 2.0, 1.0, 0.5):
        document = _document(duration_s)
        work = {"lognormal": {"median": f"{median_s} s", "sigma": 0.5}}
        document["writers"]["updater"]["compute"] = work
        rates[f"{median_s:g} s"] = _abort_rate(document, replications)
    return _falling("work of", rates)


def _stronger_isolation(replications: int, duration_s: float) -> CheckedRelation:
    levels = {}
    for isolation in ("Serializable", "WriteSerializable"):
        document = _document(duration_s)
        document["table"] = {**TABLE, "isolation": isolation}
        levels[isolation] = _abort_rate(document, replications)
    gap = _gap(*levels.values())
    return CheckedRelation(
        "WriteSerializable instead of Serializable, beside loaders", "fewer aborts",
        _interval_text(gap), gap.high < 0,
    )  # fmt: skip


def _falling(of: str, rates: dict[str, Estimate]) -> list[CheckedRelation]:
    names = list(rates)
    gaps = {(more, less): _gap(rates[more], rates[less]) for more, less in pairwise(names)}
    return [
        CheckedRelation(
            f"{of} {less} instead of {more}", "fewer aborts", _interval_text(gap), gap.high < 0
        )
        for (more, less), gap in gaps.items()
    ]


def _gap(before: Estimate, after: Estimate) -> EstimatedDifference:
    return difference(after, before, confidence=0.99)


def _interval_text(gap: EstimatedDifference) -> str:
    return f"{100 * gap.point:+.1f} points [{100 * gap.low:+.1f}, {100 * gap.high:+.1f}]"

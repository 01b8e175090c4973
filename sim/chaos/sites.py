"""What a campaign may vary of a scenario, site by site.

Each site is a place of the scenario and what may stand there. A run draws which sites it touches
(swarm testing: Groce, Zhang, Eide, Chen and Regehr, "Swarm testing", ISSTA 2012: what is left out
of a run lets the rest meet in ways that everything together never would), then what stands there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import DIALECTS
from whitecap.engine.log.properties import (
    CHECKPOINT_INTERVAL,
    DELETION_VECTORS,
    IN_COMMIT_TIMESTAMPS,
    ROW_TRACKING,
)
from whitecap.engine.transaction.lost_reply import LostReply
from whitecap.sim.chaos.dice import Dice
from whitecap.sim.chaos.parts import tables_in
from whitecap.sim.loading.overriding import store_in_full
from whitecap.sim.quantities.units import show_duration
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.sweep import Changes

Draw = Callable[[Document, Dice], Changes]
"""From a document, or a part of it, to changes of that."""

CATALOG = "catalog-managed"

STORES = (
    "s3", "s3-express", "azure", "gcs", "local", "hdfs", "abfs", "s3-dynamodb", CATALOG,
)  # fmt: skip
"""Profiles on which the commits of several clusters do not overwrite each other."""

LOST_REPLIES = (LostReply.SURFACE.value, LostReply.RESEND_AND_CHECK.value)

LEVELS = (None, "WriteSerializable", "Serializable")

MOST_OF_A_GROUP = 4
"""Writers of one group: conflicts need few, and runs should be short."""

FEWEST_ROWS, MOST_ROWS = 20, 400
"""Rows that a table begins with: few, so that jobs meet, and the rows of every version can be
compared with what its statements make."""

MOST_COLUMNS = 2
"""Columns that a table is partitioned by."""


class Site(Struct, frozen=True):
    """One thing to vary: `draw` gives the changes, none if it does not fit the scenario."""

    name: str
    draw: Draw


def _one_of(path: str, choices: Sequence[Any]) -> Draw:
    """Draws what stands at a path, whatever the scenario."""

    def draw(document: Document, dice: Dice) -> Changes:
        del document
        return {path: dice.among(path, choices)}

    return draw


def _of_each_table(draw: Draw) -> Draw:
    """Draws something of every table, of several by its own dice."""

    def draw_of_all(document: Document, dice: Dice) -> Changes:
        tables = tables_in(document)
        return {
            f"{place}.{key}": value
            for place, table in tables.items()
            for key, value in draw(table, dice.of(place) if len(tables) > 1 else dice).items()
        }

    return draw_of_all


def _store(document: Document, dice: Dice) -> Changes:
    profile = dice.among("store", STORES)
    if profile != CATALOG:
        return {"store": profile}
    return {"store": profile, **_IN_COMMIT_TIMESTAMPS(document, dice)}


def _isolation(table: Document, dice: Dice) -> Changes:
    del table
    return {"isolation": dice.among("table.isolation", LEVELS)}


def _property(key: str, choices: Sequence[Any]) -> Draw:
    """Draws a property of each table, beside those that it has."""

    def draw(table: Document, dice: Dice) -> Changes:
        given = table.get("properties", {})
        return {"properties": {**given, key: dice.among(key, choices)}}

    return _of_each_table(draw)


_IN_COMMIT_TIMESTAMPS = _property(IN_COMMIT_TIMESTAMPS.key, (True,))


def _lost_replies(document: Document, dice: Dice) -> Changes:
    """What a client does without a reply; not that it takes its own commit for another's."""
    given: Document = store_in_full(document["store"])
    client = {**given.get("client", {}), "on_lost_reply": dice.among("reply", LOST_REPLIES)}
    return {"store": {**given, "client": client}}


def _clusters(document: Document, dice: Dice) -> Changes:
    """Which groups of writers share a driver, and with it what is known of the log."""
    return {
        f"writers.{name}.cluster": "shared"
        for name, group in document["writers"].items()
        if not {"cluster", "restart", "clock_skew"} & group.keys()
        and dice.chance(f"cluster of {name}", 0.5)
    }


def _partitions(table: Document, dice: Dice) -> Changes:
    if table.get("cluster_by") or "from" in table:
        return {}
    columns = list(table.get("values", {}))
    layouts = [
        list(chosen) for size in range(MOST_COLUMNS + 1) for chosen in combinations(columns, size)
    ]
    return {"partition_by": dice.among("partitions", layouts)}


def _rows(table: Document, dice: Dice) -> Changes:
    if not table.get("initial", {}).get("rows"):
        return {}
    rows = round(dice.scale("rows", FEWEST_ROWS, MOST_ROWS))
    per_file = max(1, rows // dice.whole("files", 1, 20))
    return {"initial": {"rows": rows, "rows_per_file": per_file}}


def _counts(document: Document, dice: Dice) -> Changes:
    return {
        f"writers.{name}.count": dice.whole(f"count of {name}", 1, MOST_OF_A_GROUP)
        for name in document["writers"]
    }


SITES = (
    Site("dialect", _one_of("dialect", list(DIALECTS))),
    Site("isolation", _of_each_table(_isolation)),
    Site("deletion vectors", _property(DELETION_VECTORS.key, (True, False))),
    Site("row tracking", _property(ROW_TRACKING.key, (True,))),
    Site("checkpoints", _property(CHECKPOINT_INTERVAL.key, (2, 5, 20))),
    Site("store", _store),
    Site("in-commit timestamps", _IN_COMMIT_TIMESTAMPS),
    Site("lost replies", _lost_replies),
    Site("clusters", _clusters),
    Site("partitions", _of_each_table(_partitions)),
    Site("writers", _counts),
    Site("rows", _of_each_table(_rows)),
)


def writers_left(document: Document, dice: Dice, dropped: float) -> dict[str, Any]:
    """The writer groups without those that are dropped; at least one stays."""
    writers: Mapping[str, Any] = document["writers"]
    kept = {
        name: group for name, group in writers.items() if not dice.chance(f"drop {name}", dropped)
    }
    return kept or dict([dice.among("stays", list(writers.items()))])


def drawn_faults(dice: Dice, ends_ms: float) -> Iterator[dict[str, Any]]:
    """Each kind of fault or not, how hard, until the quiet phase begins."""
    if not dice.chance("any fault", UNDER_FAULTS):
        return
    for name, fault in _FAULTS.items():
        if dice.chance(f"fault {name}", ACTIVE):
            yield {name: fault(dice), "between": ["0 s", show_duration(ends_ms)]}


UNDER_FAULTS = 0.8
"""Of the runs: the others show what goes wrong without any help."""

ACTIVE = 0.3
"""Of the kinds of faults, in a run, so that three meet on average: two-phase as FoundationDB's
BUGGIFY, with more sites at a time, since there are few."""

PLANNED = 0.3
"""Of the faults that strike requests: by number instead of by chance."""

LATEST_PLANNED, MOST_PLANNED = 40, 3
"""Requests of a writer that a plan names: so many at most, none later."""


def _which(dice: Dice, kind: str, low: float, high: float) -> dict[str, Any]:
    """Which requests are struck: each with a probability between these, or some by number."""
    if not dice.chance(f"plan of {kind}", PLANNED):
        return {"probability": dice.scale(f"how often {kind}", low, high)}
    places = range(dice.whole(f"how many {kind}", 1, MOST_PLANNED))
    numbers = {dice.whole(f"place {place} of {kind}", 1, LATEST_PLANNED) for place in places}
    return {"nth": sorted(numbers)}


def _about(dice: Dice, what: str, low: float, high: float) -> dict[str, Any]:
    """A duration about which a fault's own draws are; both ends in milliseconds."""
    return {"exponential": {"mean": show_duration(dice.scale(what, low, high))}}


def _lost_reply(dice: Dice) -> dict[str, Any]:
    return _which(dice, "lost_reply", 0.005, 0.3)


def _late_effect(dice: Dice) -> dict[str, Any]:
    delay = _about(dice, "how late", 100, 60_000)
    return {**_which(dice, "late_effect", 0.005, 0.2), "delay": delay}


def _throttling(dice: Dice) -> dict[str, Any]:
    which = _which(dice, "throttling", 0.01, 0.5)
    # Of a plan it must be said which requests it counts; every store has these.
    return {**which, "requests": ["put_if_absent", "list"]} if "nth" in which else which


def _writer_crash(dice: Dice) -> dict[str, Any]:
    rate = f"{dice.scale('how many crashes', 1, 60):g} per h"
    return {"rate": rate, "restart": RESTART}


def _crash_at_request(dice: Dice) -> dict[str, Any]:
    when = dice.among("when it crashes", ("before", "during", "after"))
    return {**_which(dice, "crash_at_request", 0.005, 0.1), "when": when, "restart": RESTART}


def _duplicate_delivery(dice: Dice) -> dict[str, Any]:
    delay = _about(dice, "how much later", 100, 60_000)
    return {**_which(dice, "duplicate_delivery", 0.01, 0.3), "delay": delay}


def _conflict_409(dice: Dice) -> dict[str, Any]:
    return _which(dice, "conflict_409", 0.01, 0.3)


def _pause(dice: Dice) -> dict[str, Any]:
    return {**_which(dice, "pause", 0.01, 0.2), "lasts": _about(dice, "how long", 1000, 600_000)}


def _stale_listing(dice: Dice) -> dict[str, Any]:
    misses = dice.whole("how many missed", 1, 3)
    return {**_which(dice, "stale_listing", 0.01, 0.3), "misses": misses}


RESTART = {"uniform": {"low": "1 s", "high": "2 min"}}
"""Until a driver that died is back."""

_FAULTS: Mapping[str, Callable[[Dice], dict[str, Any]]] = {
    "lost_reply": _lost_reply,
    "late_effect": _late_effect,
    "throttling": _throttling,
    "writer_crash": _writer_crash,
    "crash_at_request": _crash_at_request,
    "duplicate_delivery": _duplicate_delivery,
    "conflict_409": _conflict_409,
    "pause": _pause,
    "stale_listing": _stale_listing,
}
"""Kind of fault -> one of it; a test holds that no kind of `Fault` is missing."""

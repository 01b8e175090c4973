"""Names what a finding follows from: gone in the same seed without it, so it is that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain

from msgspec import Struct

from whitecap.engine.dialects import Vendor, dialect_named, newest
from whitecap.engine.dialects.dialect import DELTA_CHECKS
from whitecap.engine.isolation import ISOLATION_PROPERTY, IsolationLevel
from whitecap.sim.chaos.parts import scenario_if_any, tables_in
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.oracles.finding import LETS_MISS
from whitecap.sim.scenario.faults import Fault
from whitecap.sim.scenario.model import Document, Scenario

Fails = Callable[[Scenario], bool]


class Suspect(Struct, frozen=True):
    """A fault that could be to blame, the scenario without it, and with no fault beside it."""

    name: str
    without: Document
    alone: Document


def explanation(
    scenario: Scenario, fails: Fails, *, only_inserts_missed: bool = False
) -> str | None:
    """What the finding follows from, `None` if it is there without any catalogued failure.

    What it needs no fault for comes before faults, which may only have let the same writers meet.
    Of several faults without each of which it is gone, one that brings it about alone comes first.
    `only_inserts_missed`: as the oracle says of the finding; then the level may explain it.
    """
    document = scenario.document
    if document.get("faults") and _fails({**document, "faults": []}, fails) is False:
        alone = _name_of_the_first_alone(_gone_without(document, fails), fails)
        return alone or _together(document)
    conditions = _conditions(scenario)
    if only_inserts_missed:
        conditions = chain(_levels(document), conditions)
    for name, without in conditions:
        if _fails(without, fails) is False:
            return name
    gone = list(_gone_without(document, fails))
    alone = _name_of_the_first_alone(gone, fails) if len(gone) > 1 else None
    return alone or (gone[0].name if gone else None)


def _fails(document: Document, fails: Fails) -> bool | None:
    """`None` for what is no scenario."""
    scenario = scenario_if_any(document)
    return None if scenario is None else fails(scenario)


def _gone_without(document: Document, fails: Fails) -> Iterator[Suspect]:
    """Each fault without which the finding is gone, all others being there."""
    return (each for each in _faults(document) if _fails(each.without, fails) is False)


def _name_of_the_first_alone(suspects: Iterable[Suspect], fails: Fails) -> str | None:
    return next((each.name for each in suspects if _fails(each.alone, fails)), None)


def _faults(document: Document) -> Iterator[Suspect]:
    faults = document.get("faults", [])
    for position, fault in enumerate(faults):
        rest = faults[:position] + faults[position + 1 :]
        yield Suspect(
            f"the fault {_kind(fault)}",
            {**document, "faults": rest},
            {**document, "faults": [fault]},
        )


def _together(document: Document) -> str:
    counts = Counter(map(_kind, document["faults"]))
    if counts.total() == 1:
        return f"the fault {next(iter(counts))}"
    *others, last = (kind if many == 1 else f"{many} x {kind}" for kind, many in counts.items())
    named = f"{', '.join(others)} and {last}" if others else last
    return f"the faults {named} together"


def _conditions(scenario: Scenario) -> Iterator[tuple[str, Document]]:
    """What a scenario says of itself and docs/failures.md warns of, and the scenario without it."""
    document = scenario.document
    if not scenario.is_exclusive:
        yield "a store without put-if-absent", _on_a_store_that_excludes(document)
    dialects = _dialects(document)
    for name in dialects:
        yield f"the dialect {name}", _without_dialects(document, [name])
    if len(dialects) > 1:
        yield (
            f"the dialects {' and '.join(dialects)} together",
            _without_dialects(document, dialects),
        )
    for name, without in _CONDITIONS.items():
        mended = without(document)
        if mended != document:
            yield name, mended


def _dialects(document: Document) -> list[str]:
    """Those of the scenario and of its writers whose check is another than Delta's.

    What others resolve, row by row, they are to resolve as well as Delta refuses it.
    """
    named = [document.get("dialect"), *(g.get("dialect") for g in document["writers"].values())]
    return [
        name
        for name in dict.fromkeys(named)
        if name is not None and dialect_named(name).checks != DELTA_CHECKS
    ]


def _levels(document: Document) -> Iterator[tuple[str, Document]]:
    """The level that lets INSERTs be missed, and the scenario with every table at Delta's own."""
    serializable = {
        f"{place}.{key}": value
        for place, table in tables_in(document).items()
        for key, value in _at_serializable(table).items()
    }
    yield f"WriteSerializable, which {LETS_MISS}", changed(document, serializable)


def _at_serializable(table: Document) -> Document:
    properties = _without_key(ISOLATION_PROPERTY, table.get("properties", {}))
    return {"isolation": IsolationLevel.SERIALIZABLE.value, "properties": properties}


def _without_dialects(document: Document, names: Collection[str]) -> Document:
    """The document with Delta's own in their place."""

    def mended(part: Document) -> Document:
        others = part.get("dialect") in names
        return {**part, "dialect": newest(Vendor.DELTA).name} if others else part

    return _of_each_writer(mended(document), mended)


def _of_each_writer(document: Document, mended: Callable[[Document], Document]) -> Document:
    writers = {name: mended(group) for name, group in document["writers"].items()}
    return {**document, "writers": writers}


def _on_a_store_that_excludes(document: Document) -> Document:
    return {**_of_each_writer(document, partial(_without_key, "log_store")), "store": EXCLUDES}


def _without_key(key: str, part: Document) -> Document:
    return {other: value for other, value in part.items() if other != key}


def _with_right_clocks(document: Document) -> Document:
    return _of_each_writer(document, partial(_without_key, "clock_skew"))


def _with_items_of_a_day(document: Document) -> Document:
    store = document["store"]
    if not isinstance(store, dict) or "ttl" not in store.get("dynamodb", {}):
        return document
    return {**document, "store": {**store, "dynamodb": _without_key("ttl", store["dynamodb"])}}


def _with_the_whole_retention(document: Document) -> Document:
    """Every VACUUM with the retention of its table."""

    def mended(group: Document) -> Document:
        if "statement" not in group:
            return group
        return {**group, "statement": _RETAINED.sub("", group["statement"])}

    return _of_each_writer(document, mended)


def _with_identified_batches(document: Document) -> Document:
    def mended(group: Document) -> Document:
        if "foreach_batch" not in group:
            return group
        return {**group, "foreach_batch": {**group["foreach_batch"], "idempotent": True}}

    return _of_each_writer(document, mended)


def _without_restarts_of_several(document: Document) -> Document:
    def mended(group: Document) -> Document:
        return _without_key("restart", group) if "statements" in group else group

    return _of_each_writer(document, mended)


_RETAINED = re.compile(r"\s+RETAIN\s+\S+\s+HOURS\b", re.IGNORECASE)

_CONDITIONS: Mapping[str, Callable[[Document], Document]] = {
    "a VACUUM that retains for less than the table": _with_the_whole_retention,
    "a clock that is wrong": _with_right_clocks,
    "items of DynamoDB that go too early": _with_items_of_a_day,
    "batches without txnAppId and txnVersion": _with_identified_batches,
    "jobs of several statements that are started again": _without_restarts_of_several,
}
"""By name: the document without it, the same document where there is none."""


EXCLUDES = "s3"
"""A profile whose conditional put lets no commit be written over another one."""


def _kind(fault: object) -> str:
    if isinstance(fault, str):
        return fault
    assert isinstance(fault, dict)
    if "use" in fault:
        return str(fault["use"])
    return next(str(key) for key in fault if key not in Fault.shared)

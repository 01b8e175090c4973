"""Names what a finding follows from: gone in the same seed without it, so it is that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from whitecap.engine.dialects import DELTA_OSS_4_4
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import scenario_of
from whitecap.sim.scenario.model import Document, Scenario

Fails = Callable[[Scenario], bool]


@dataclass(frozen=True, slots=True)
class Suspect:
    """What could be to blame, the scenario without it, and with no fault beside it."""

    name: str
    without: Document
    alone: Document


def explanation(scenario: Scenario, fails: Fails) -> str | None:
    """What the finding follows from, `None` if it is there without any catalogued failure.

    Of several without which it is gone, one that brings it about alone comes first: without another
    fault the same writers may only not meet. What does so without any fault comes before faults.
    """
    to_blame = [each for each in _suspects(scenario) if _fails(each.without, fails) is False]
    if len(to_blame) > 1:
        to_blame = [each for each in to_blame if _fails(each.alone, fails)] or to_blame
        to_blame.sort(key=lambda each: bool(each.alone.get("faults")))
    return to_blame[0].name if to_blame else None


def _fails(document: Document, fails: Fails) -> bool | None:
    """`None` for what is no scenario."""
    try:
        return fails(scenario_of(document))
    except InvalidInput:
        return None


def _suspects(scenario: Scenario) -> Iterator[Suspect]:
    """Each catalogued failure by itself, all faults together, then what they were drawn on."""
    document = scenario.document
    faults = document.get("faults", [])
    no_fault = {**document, "faults": []}
    for position, fault in enumerate(faults):
        rest = faults[:position] + faults[position + 1 :]
        yield Suspect(
            f"the fault {_kind(fault)}",
            {**document, "faults": rest},
            {**document, "faults": [fault]},
        )
    if len(faults) > 1:
        listed = " and ".join(_kind(fault) for fault in faults)
        yield Suspect(f"the faults {listed} together", {**document, "faults": []}, document)
    if not scenario.is_exclusive:
        yield Suspect(
            "a store without put-if-absent", _on_a_store_that_excludes(document), no_fault
        )
    if document.get("dialect", DELTA_OSS_4_4.name) != DELTA_OSS_4_4.name:
        other = {**document, "dialect": DELTA_OSS_4_4.name}
        yield Suspect(f"the dialect {document['dialect']}", other, no_fault)


def _on_a_store_that_excludes(document: Document) -> Document:
    writers = {
        name: {key: part for key, part in group.items() if key != "log_store"}
        for name, group in document["writers"].items()
    }
    return {**document, "store": EXCLUDES, "writers": writers}


EXCLUDES = "s3"
"""A profile whose conditional put lets no commit be written over another one."""


def _kind(fault: object) -> str:
    if isinstance(fault, str):
        return fault
    assert isinstance(fault, dict)
    if "use" in fault:
        return str(fault["use"])
    shared = {"writers", "between", "description", "source"}
    return str(next(iter(fault.keys() - shared)))

"""Faults that could strike nobody: writers that there are not, requests that are never made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.engine.errors import nearest
from whitecap.sim.loading.checks.writers import GivenWriters
from whitecap.sim.scenario.faults import CrashAtRequest, Fault, Strike
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem, within

Groups = Mapping[str, WriterGroup]


def fault_problems(
    faults: Mapping[int, Fault], writers: GivenWriters, store: StoreSection | None
) -> Iterator[PlacedProblem]:
    """Every problem of these faults, by their positions, where all writers are well formed."""
    if writers.are_well_formed:
        for position, fault in faults.items():
            yield from within(("faults", position), _of_fault(fault, writers.groups, store))


def _of_fault(fault: Fault, groups: Groups, store: StoreSection | None) -> Iterator[PlacedProblem]:
    """What makes a fault senseless beside these writers, at places within it."""
    members = {member for name, group in groups.items() for member in group.members(name)}
    for number, name in enumerate(fault.writers or ()):
        if name not in groups and name not in members:
            hint = nearest(name, [*groups, *sorted(members)])
            yield ("writers", number), f"there is no writer {name!r}", hint
    if fault.strike is None:
        return
    place = fault.chosen_names()[0]
    if isinstance(fault.strike, CrashAtRequest):
        yield from _shared_drivers(place, _struck(fault, groups))
    if store is not None and fault.strike.nth is not None:
        yield from _never_made((place, "requests"), fault.strike, store)


def _struck(fault: Fault, groups: Groups) -> Groups:
    """The groups of which a writer can be struck."""
    named = fault.writers
    if named is None:
        return groups
    return {
        name: group for name, group in groups.items() if {name, *group.members(name)} & set(named)
    }


def _shared_drivers(place: str, groups: Groups) -> Iterator[PlacedProblem]:
    """A driver that dies at a request of one transaction takes no other one with it here."""
    for name, group in groups.items():
        several = group.arrival.open or group.arrival.trace
        if group.cluster is not None or (several is not None and several.concurrency != 1):
            said = (
                f"strikes a driver that runs one transaction at a time, and {name!r} shares its own"
                ": give it none, or concurrency 1; or let it die by writer_crash"
            )
            yield (place,), said, None


def _never_made(place: KeyPath, strike: Strike, store: StoreSection) -> Iterator[PlacedProblem]:
    """A plan that waits for requests which nobody sends."""
    for kind in strike.kinds:
        if kind not in store.asked_kinds:
            said = f"no writer ever sends a {kind} to {store.profile}: they send "
            yield place, said + ", ".join(sorted(store.asked_kinds)), None

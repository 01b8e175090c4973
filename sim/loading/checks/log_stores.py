"""Do the log stores that writers have of their own fit the store and their clusters?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from whitecap.sim.scenario.commit_protocol import CommitProtocol
from whitecap.sim.scenario.store import LogStore, StoreSection
from whitecap.sim.scenario.writers import WriterGroup
from whitecap.sim.scenario.yaml.text import PlacedProblem, within


def log_store_problems(
    groups: Mapping[str, WriterGroup], store: StoreSection | None
) -> Iterator[PlacedProblem]:
    """What is wrong with the log stores that groups of writers name."""
    if store is None:
        return
    for name, group in groups.items():
        if group.log_store is not None:
            beside = [each for each in groups.values() if each.cluster == group.cluster]
            problems = _of_group(group, group.log_store, store, beside)
            yield from within(("writers", name, "log_store"), problems)


def _of_group(
    group: WriterGroup, own: LogStore, store: StoreSection, beside: Iterable[WriterGroup]
) -> Iterator[PlacedProblem]:
    """What is wrong with a group's own log store; groups `beside` it are of the same cluster."""
    if CommitProtocol.CATALOG in (own.protocol, store.log_store.protocol):
        yield (), "a catalog-managed table is written by nothing but its catalog", None
        return
    try:
        store.with_log_store(own)
    except ValidationError as error:
        said = "; ".join(str(each.get("ctx", {}).get("error", "")) for each in error.errors())
        yield (), f"does not fit {store.profile}: {said}", None
    if group.cluster is not None and any(each.log_store != own for each in beside):
        yield (), f"cluster {group.cluster!r} has one driver, and one log_store", None

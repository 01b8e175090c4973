"""Scenarios as documents that are taken apart: what goes together, and what is still a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.sim.loading import scenario_of
from whitecap.sim.scenario.model import Document, Scenario

NO_SCENARIO = (InvalidInput, UnsupportedFeature, DeltaError)
"""How a document is refused that is none, or not in its dialect."""


def scenario_if_any(document: Document) -> Scenario | None:
    """The scenario of a document, `None` where it is none."""
    try:
        return scenario_of(document)
    except NO_SCENARIO:
        return None


def tables_in(document: Document) -> dict[str, Document]:
    """Dotted path -> what stands there: the one `table`, or each of the `tables`."""
    if document.get("table") is not None:
        return {"table": document["table"]}
    return {f"tables.{name}": table for name, table in document["tables"].items()}


def with_writers(document: Document, writers: Document) -> Document:
    """The document with these writers alone, and of tables, clusters and faults what is theirs."""
    left = {**document, "writers": writers}
    if "faults" in document:
        struck = (_struck(fault, writers) for fault in document["faults"])
        left["faults"] = [fault for fault in struck if fault is not None]
    used = {
        "clusters": {group.get("cluster") for group in writers.values()},
        "tables": {table for group in writers.values() for table in _written(group)},
    }
    for section, names in used.items():
        given = left.pop(section, {})
        kept = {name: part for name, part in given.items() if {name, name.lower()} & names}
        if kept:
            left[section] = kept
    return left


def _struck(fault: Any, writers: Document) -> Any | None:
    """A fault that strikes none but these writers, `None` if it would strike nobody."""
    if not isinstance(fault, dict) or "writers" not in fault:
        return fault
    names = [name for name in fault["writers"] if name in writers or _group(name) in writers]
    return {**fault, "writers": names} if names else None


def _group(member: str) -> str:
    """Of whom one is: `etl` of `etl-2`."""
    group, _, number = member.rpartition("-")
    return group if number.isdecimal() else member


def _written(group: Document) -> Iterator[str]:
    """The tables that a writer's statements write, in lower case."""
    if "streaming" in group:
        yield str(group["streaming"].get("table")).lower()
    for part in group.get("statements", [group.get("statement")]):
        text = _text(part)
        if text is not None:
            yield parse_statement(text).table.name.lower()


def _text(part: Any) -> str | None:
    """Of a statement, which may have parameters beside it."""
    given: str | None = part["statement"] if isinstance(part, dict) else part
    return given

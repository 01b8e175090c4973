"""One cell of a sweep as a document of its own: without a sweep, and with what the cell sets."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.loading.dotted_paths import changed
from whitecap.sim.scenario.cells import CellChoice, Labels
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.problems import problems_of
from whitecap.sim.scenario.sweep import SweepSection
from whitecap.sim.scenario.yaml.text import YamlText


def document_of_cell(
    document: Document, choice: CellChoice, text: YamlText
) -> tuple[Labels, Document]:
    """All labels of a cell, and the document with its changes. Raises `InvalidInput`."""
    try:
        sweep = SweepSection.model_validate(document.get("sweep"))
    except ValidationError as error:
        if "sweep" not in document:
            raise InvalidInput([Problem(text.name, "has no sweep, and so no cells")]) from None
        raise InvalidInput(problems_of(error, SweepSection, text, ("sweep",))) from None
    labels = sweep.cell(choice)
    return labels, changed(_document_of(labels, document), sweep.changes(labels))


def _document_of(cell: Labels, document: Document) -> Document:
    """The document without its sweep, and of its expectations those for this cell."""
    plain = {key: value for key, value in document.items() if key != "sweep"}
    if isinstance(plain.get("expect"), list):
        plain["expect"] = [_said_plainly(e) for e in plain["expect"] if _is_for(cell, e)]
    return plain


def _is_for(cell: Labels, expectation: Any) -> bool:
    when = expectation.get("when") if isinstance(expectation, dict) else None
    return not isinstance(when, dict) or when.items() <= cell.items()


def _said_plainly(expectation: Any) -> Any:
    if not isinstance(expectation, dict):
        return expectation
    return {key: value for key, value in expectation.items() if key != "when"}

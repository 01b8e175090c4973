"""The notebooks run from top to bottom, end with an answer, and use the public API only."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from tests.notebooks.storing import NOTEBOOKS, executed, read, said

ANSWERS = {
    "anatomy_of_a_conflict": "Delta raises Concurrent",
    "capacity": "the table takes",
    "from_your_log": "It takes 6 for sure: 2 more",
    "isolation": "Choose Serializable · rows",
    "partitioning": "Choose by date",
    "retries": "Perhaps every 20 minutes",
}
"""Notebook -> what the answer at its end says."""


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(ANSWERS)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_asks_a_question_first_and_uses_the_public_api_only(name: str) -> None:
    cells = read(name).cells
    assert cells[0].source.splitlines()[0].endswith("?")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    imported = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import)]
    assert [alias.name for node in imported for alias in node.names] == ["whitecap"]
    assert not [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_stored_notebook_can_be_read_without_being_run(name: str) -> None:
    notebook = read(name)
    assert ANSWERS[name] in said(notebook)[-1]
    assert sum("image/png" in _kinds(cell) for cell in notebook.cells) >= 1


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_writes_shares_as_the_house_does(name: str) -> None:
    assert not re.search(r"\d%", "\n".join(map(_without_styles, said(read(name)))))


@pytest.mark.spark
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_still_says_what_is_stored(name: str) -> None:
    assert said(executed(name)) == said(read(name)), "make outputs"


def _without_styles(text: str) -> str:
    """What a reader sees of a page."""
    return re.sub(r"<style.*?</style>|<[^>]*>", "", text, flags=re.DOTALL)


def _kinds(cell: Any) -> set[str]:
    outputs = cell.get("outputs", [])
    return {kind for output in outputs for kind in output.get("data", {})}

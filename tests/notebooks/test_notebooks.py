"""The notebooks run from top to bottom, end with an answer, and use the public API only."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

ANSWERS = {
    "anatomy_of_a_conflict": "Delta raises Concurrent",
    "capacity": "the table takes",
    "partitioning": "Choose by date",
}
"""Notebook -> what the answer at its end says."""

SECONDS = 240
"""A cell that takes longer hangs; on an idle machine a whole notebook takes under 30."""


def read(name: str) -> Any:
    """A notebook as it is stored."""
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def test_every_notebook_is_tested() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(ANSWERS)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_is_stored_without_outputs(name: str) -> None:
    for cell in read(name).cells:
        assert cell.cell_type != "code" or (cell.outputs, cell.execution_count) == ([], None)


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_asks_a_question_first_and_uses_the_public_api_only(name: str) -> None:
    cells = read(name).cells
    assert cells[0].source.splitlines()[0].endswith("?")
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    imported = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import)]
    assert [alias.name for node in imported for alias in node.names] == ["whitecap"]
    assert not [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]


@pytest.mark.spark
@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_a_notebook_runs_and_ends_with_its_answer(name: str) -> None:
    notebook = read(name)
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    assert ANSWERS[name] in _text_of(notebook.cells[-1])
    pictures = sum("image/png" in _data_of(cell) for cell in notebook.cells)
    assert pictures >= 1


def _text_of(cell: Any) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def _data_of(cell: Any) -> set[str]:
    outputs = cell.get("outputs", [])
    return {kind for output in outputs for kind in output.get("data", {})}

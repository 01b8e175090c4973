"""Notebooks with the outputs that they have today, so that they can be read without being run.

`python -m tests.notebooks.storing` runs all of them and stores what comes out; the tests run them
again and compare what they say.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

SECONDS = 600
"""A cell that takes longer hangs; on an idle machine a whole notebook takes under 30."""


def read(name: str) -> Any:
    """A notebook as it is stored."""
    import nbformat

    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def executed(name: str) -> Any:
    """The notebook with what its cells give now; what went to stderr, progress, is left out."""
    from nbclient import NotebookClient

    notebook = read(name)
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    client = NotebookClient(notebook, timeout=SECONDS, resources=resources, record_timing=False)
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    notebook.metadata.get("language_info", {}).pop("version", None)
    return notebook


def said(notebook: Any) -> list[str]:
    """All that a notebook's cells say, without their pictures; a stream may come in any pieces."""
    texts = ("".join(map(_text, cell.get("outputs", []))) for cell in notebook.cells)
    return [text for text in texts if text]


def _text(output: Any) -> str:
    """What a reader sees: of several forms the page, not Python's; nothing of a picture."""
    data = output.get("data", {})
    shown = "" if "image/png" in data else data.get("text/html") or data.get("text/plain", "")
    return str(output.get("text") or shown)


def store(name: str) -> None:
    """Run a notebook and put it in its place with its outputs."""
    import nbformat

    nbformat.write(executed(name), NOTEBOOKS / f"{name}.ipynb")


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob(f"{sys.argv[1] if sys.argv[1:] else '*'}.ipynb")):
        store(path.stem)

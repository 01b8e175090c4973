"""The bundled scenarios in the terminal, and as plain values for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from whitecap.sim.bundled import Bundled
from whitecap.sim.scenario.yaml.text import read_yaml
from whitecap.terminal.console import new_console
from whitecap.terminal.table import PrintedColumn, show_table

COLUMNS = (PrintedColumn("name", text=True), PrintedColumn("what it is", text=True))

PURPOSES = {
    "": "to begin with",
    "explain": "tables for `whitecap explain --table NAME`",
    "failures": "what goes wrong between writers and their store, and its remedy",
    "field": "what users reported, with the effect of the workaround",
    "regression": "one situation each, with what is expected of it (`whitecap check regression`)",
}
"""What the files of a folder are for."""


def show_scenarios(listed: Sequence[Bundled]) -> None:
    """A line each, folder by folder."""
    console = new_console()
    for folder, inside in groupby(listed, lambda each: each.folder):
        title = f"{folder}: {PURPOSES[folder]}" if folder else PURPOSES[folder]
        rows = [(each.stem, description_of(each)) for each in inside]
        show_table(console, COLUMNS, rows, title=title)
        console.print()


def scenarios_document(listed: Sequence[Bundled]) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "scenarios": [
            {
                "name": each.name,
                "folder": each.folder,
                "description": description_of(each),
                "is_table": each.is_table,
                "file": each.file,
            }
            for each in listed
        ]
    }


def description_of(bundled: Bundled) -> str:
    """A line about it: its `description`, or of a table the first sentence of its comment."""
    described = read_yaml(bundled.file).content.get("description")
    return str(described) if described else _first_sentence(bundled)


def _first_sentence(bundled: Bundled) -> str:
    lines = bundled.file.read_text(encoding="utf-8").splitlines()
    comment = " ".join(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    return f"{comment.partition('. ')[0].removesuffix('.')}."

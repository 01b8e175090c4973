"""A matrix as plain values: what is written as JSON, and what pages are made from."""

from __future__ import annotations

from whitecap.engine.dialects import Dialect
from whitecap.engine.outcomes import Verdict
from whitecap.engine.races.interleaving.document import (
    RaceDocument,
    step_documents,
    verdict_document,
)
from whitecap.engine.races.interleaving.story import NAMES
from whitecap.engine.races.matrix.cells import Cell
from whitecap.engine.races.matrix.family import FILES, SCHEMA, SITUATIONS, day_of
from whitecap.engine.races.matrix.matrix import DerivedCell, DerivedTable, Grid, Matrix
from whitecap.engine.races.matrix.observing import Witness
from whitecap.engine.rules import Decider


def matrix_document(matrix: Matrix) -> RaceDocument:
    """The whole matrix. Every key is always there; what does not apply is `None` or empty."""
    return {
        "dialect": matrix.dialect.name,
        "against": None if matrix.against is None else matrix.against.name,
        "commands": list(matrix.commands),
        "tables": [variant.text for variant in matrix.variants],
        "situations": [situation.text for situation in SITUATIONS],
        "files": [
            {"name": f"file {number}", "day": day_of(ids[0]), "ids": list(ids)}
            for number, ids in enumerate(FILES, start=1)
        ],
        "schema": SCHEMA,
        "schedules": matrix.schedules,
        "warning": _warning(matrix.dialect),
        "published": [_table(table, matrix) for table in matrix.tables],
        "grids": [_grid(grid, matrix) for grid in matrix.grids],
    }


def _warning(dialect: Dialect) -> str:
    """What a matrix does not show: only conflicts are in it."""
    if dialect.checks.moves_concern_removers:
        return ""
    return (
        f"Nobody is aborted where {dialect.name} commits over what a compaction moved: rows are"
        " doubled or come back (whitecap explain shows which)."
    )


def _grid(grid: Grid, matrix: Matrix) -> RaceDocument:
    is_one_of_two = len(matrix.grids) > 1
    where = f", tables with{'' if grid.rows_reconciled else 'out'} row-level concurrency"
    return {
        "title": f"All commands{where if is_one_of_two or grid.rows_reconciled else ''}",
        "pairs": [
            {"loser": loser, "winner": winner, **_cell(cell, matrix)}
            for (loser, winner), cell in grid.cells.items()
        ],
    }


def _table(table: DerivedTable, matrix: Matrix) -> RaceDocument:
    published = table.published
    return {
        "name": published.name,
        "title": published.title,
        "source": published.source,
        "notes": list(published.notes),
        "groups": [
            {"title": group.title, "commands": list(group.commands)} for group in published.groups
        ],
        "agrees": table.agrees if matrix.is_whole else None,
        "cells": [_derived(cell, matrix) for cell in table.cells],
    }


def _derived(derived: DerivedCell, matrix: Matrix) -> RaceDocument:
    return {
        "row": derived.published.row,
        "column": derived.published.column,
        "published": derived.published.text,
        "agrees": derived.agrees if matrix.is_whole else None,
        "expected": derived.published.expected,
        "reading": derived.published.reading,
        **_cell(derived.cell, matrix),
        "only_when": derived.cell.only_when_besides,
    }


def _cell(cell: Cell, matrix: Matrix) -> RaceDocument:
    witness = cell.witness
    return {
        "sentence": cell.sentence,
        "can_conflict": cell.can_conflict,
        "only_when": cell.only_when,
        "exceptions": cell.exceptions,
        "witness": None if witness is None else _witness(witness, matrix.dialect),
    }


def _file(verdict: Verdict) -> str | None:
    """Whose file decided, in words; `None` where it was no file."""
    if verdict.rule.decider is Decider.COMMIT:
        return None
    name = verdict.evidence.rpartition("/")[2].removeprefix("part-00000-")
    writer = {"a0000000": "A", "b0000000": "B"}.get(name.partition("-")[0])
    return f"written by {writer}" if writer else "of the table before the race"


def _witness(witness: Witness, dialect: Dialect) -> RaceDocument:
    verdict = witness.verdict
    return {
        "table": witness.variant.text,
        "situation": witness.situation.text,
        "before": list(witness.before),
        "statements": dict(zip(NAMES, witness.statements, strict=True)),
        "loser": witness.loser,
        "steps": step_documents(witness.lines),
        **verdict_document(verdict, dialect.vendor),
        "file": _file(verdict),
        "predicate": verdict.predicate,
    }

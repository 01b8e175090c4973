"""Two recorded runs or sweeps side by side: `sim` recorded them, `reports` compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, gathered, noted
from whitecap.engine.recorded import Measure
from whitecap.reports.aggregate import measure_cells
from whitecap.reports.comparisons.changes import MeasureChanges, changes_between
from whitecap.reports.comparisons.sides import COMPARED, Sides, side_of
from whitecap.reports.comparisons.wording import (
    SHOWN_EACH,
    basis_text,
    change_text,
    changes_document,
    counts_text,
    first_named,
    notes_of,
)
from whitecap.reports.runs import RunSet
from whitecap.reports.words import sentence
from whitecap.sim.scenario.cells import show_cell
from whitecap.sweep_places import recorded_runs

if TYPE_CHECKING:
    import pandas as pd

    from whitecap.sim.sweeps.engines import SweepEngine


class RecordedSide(Struct, frozen=True):
    """What was recorded in one place, as one side of a comparison."""

    place: str
    scenario: str
    seed: int
    code_version: str
    sides: Sides

    @property
    def replications(self) -> set[int]:
        """Those that any cell has."""
        return set().union(*(side.replications for side in self.sides.values()))


class Compared(Struct, frozen=True):
    """Two places, and what changed from the first to the second."""

    before: RecordedSide
    """The first: its `place`, `seed`, `replications` and `code_version`."""
    after: RecordedSide
    """The second, with the same."""
    changes: MeasureChanges
    """Every comparison, each with its interval and verdict; `table` has a row for each."""
    notes: tuple[str, ...]
    """What else a reader should know of what the two hold."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        return notebook_part(list(self._lines()))

    def _lines(self) -> Iterator[str]:
        """What is worse or better, how many of each there are, and what to know besides."""
        yield f"{self.after.place} against {self.before.place}:"
        for change in self.changes.having(*SHOWN_EACH):
            yield sentence(f"{change.verdict}: {change_text(change)}")
        yield sentence(f"{counts_text(self.changes)} ({basis_text(self.changes)})")
        for note in (*self.notes, *notes_of(self.changes)):
            yield sentence(note)

    @property
    def document(self) -> dict[str, Any]:
        """All of it, made of what JSON knows."""
        return compared_document(self)

    @property
    def table(self) -> pd.DataFrame:
        """A row per cell, writer group and measure.

        Columns: `cell`, `writer_group` and `command` (none: all together), `measure`, `unit`,
        `before`, `now`, `difference` (now minus before), `low`, `high` with the `confidence` of
        this one interval, `tolerated`, `verdict`, `text`.
        """
        import pandas as pd

        return pd.DataFrame(self.document["changes"])


def compare_recorded(
    before: str,
    after: str,
    engine: Callable[[], SweepEngine],
    measures: Sequence[Measure] = COMPARED,
) -> Compared:
    """What differs between two runs or sweeps: by pairs where they share seed and replications.

    One cell beside one cell is compared whatever they are called. Raises `InvalidInput`: neither
    lies there, something is damaged, or they have no cell in common.
    """
    with gathered() as problems:
        with noted(problems):
            earlier = recorded_runs(before, engine)
        later = recorded_runs(after, engine)
    first, second = _recorded(before, earlier, measures), _recorded(after, later, measures)
    then, now = _of_one_name(first.sides, second.sides)
    if not then.keys() & now.keys():
        raise InvalidInput([Problem(after, no_cell_in_common(before, then, now))])
    is_paired = first.seed == second.seed and bool(first.replications & second.replications)
    changes = changes_between(then, now, paired=is_paired)
    return Compared(first, second, changes, tuple(_notes(first, second)))


def _recorded(place: str, runs: RunSet, measures: Sequence[Measure]) -> RecordedSide:
    measured = measure_cells(runs)
    sides = {
        show_cell(labels): side_of(measured[cell], _digest(runs, cell), measures)
        for cell, labels in runs.cells.items()
    }
    manifest = runs.runs[0].manifest
    name, code = str(manifest["scenario_name"]), str(manifest["code_version"])
    return RecordedSide(place, name, int(manifest["seed"]), code, sides)


def _digest(runs: RunSet, cell: str) -> str:
    (digest,) = {str(manifest["scenario_hash"]) for manifest in runs.manifests_of(cell)}
    return digest


def _of_one_name(then: Sides, now: Sides) -> tuple[Sides, Sides]:
    if len(then) == len(now) == 1:
        return {"": next(iter(then.values()))}, {"": next(iter(now.values()))}
    return then, now


def no_cell_in_common(before: str, then: Sides, now: Sides) -> str:
    """The first cells of either side, and how many more there are."""
    named = ([name or "the scenario as it is" for name in sides] for sides in (then, now))
    theirs, ours = map(first_named, named)
    return f"has no cell in common with {before}: {ours}, and there {theirs}"


def _notes(before: RecordedSide, after: RecordedSide) -> list[str]:
    notes = []
    if before.seed != after.seed:
        notes.append(
            f"other random numbers (seed {before.seed}, and {after.seed}): replications have "
            "nothing in common, so the intervals are wider than those of pairs"
        )
    if before.scenario != after.scenario:
        notes.append(f"other scenarios: {before.scenario}, and {after.scenario}")
    if before.code_version != after.code_version:
        notes.append(f"made by other code: {before.code_version}, and {after.code_version}")
    return notes


def compared_document(compared: Compared) -> dict[str, Any]:
    """As `compare --json` prints it."""
    document = changes_document(compared.changes)
    return {
        "before": _place_document(compared.before),
        "after": _place_document(compared.after),
        **document,
        "notes": [*compared.notes, *document["notes"]],
    }


def _place_document(recorded: RecordedSide) -> dict[str, Any]:
    return {
        "place": recorded.place,
        "scenario_name": recorded.scenario,
        "seed": recorded.seed,
        "replications": sorted(recorded.replications),
        "code_version": recorded.code_version,
        "cells": list(recorded.sides),
    }

"""Which run of a sweep is replayed: of the cell that its answer names, or of the one asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from tests.replay.recorded_cases import REGRESSION, record
from whitecap.engine.errors import InvalidInput
from whitecap.sim.loading import load_scenario
from whitecap.sim.recording.dataset.layout import batch_folder
from whitecap.sim.recording.dataset.local import LocalPlace
from whitecap.sim.recording.dataset.place import DEFINITION_FILE
from whitecap.sim.recording.dataset.rows import Ran
from whitecap.sim.recording.recording import read_recording
from whitecap.sim.replay.choice import choose_run, named_run
from whitecap.sim.run import run_scenario


def _sweep(root: Path, runs: dict[tuple[str, int], str]) -> LocalPlace:
    """A sweep's place with a recording of the case of that name for every run."""
    place = LocalPlace(root)
    batch = batch_folder(0, "made")
    recorded = {run: read_recording(record(name, root / name)) for run, name in runs.items()}
    place.add(batch, 0, [Ran(run, recording, None, 0.1) for run, recording in recorded.items()])
    place.close(batch)
    return place


def test_of_a_sweep_the_cell_is_replayed_that_its_answer_names(tmp_path: Path) -> None:
    runs = {("few", 0): "concurrent-append", ("many", 0): "concurrent-transaction"}
    place = _sweep(tmp_path, runs)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "answer.json").write_text('{"cell": "few"}')
    chosen = choose_run(place, tmp_path)
    assert (chosen.cell, chosen.label) == ("few", "few, replication 0")
    recorded = read_recording(tmp_path / "concurrent-append")
    assert chosen.recording.tables == recorded.tables
    assert chosen.recording.scenario == recorded.scenario


@pytest.mark.parametrize("content", [None, "{}", "[]", "{"])
def test_without_an_answer_a_cell_of_the_sweep_must_be_named(
    tmp_path: Path, content: str | None
) -> None:
    place = _sweep(tmp_path, {("few", 0): "concurrent-append"})
    (tmp_path / "report").mkdir()
    if content is not None:
        (tmp_path / "report" / "answer.json").write_text(content)
    with pytest.raises(InvalidInput, match=r"answer\.json: (is not there|is damaged)"):
        choose_run(place, tmp_path)
    assert choose_run(place, tmp_path, "few").cell == "few"


def test_an_answer_that_cannot_be_read_is_told_with_the_reason(tmp_path: Path) -> None:
    place = _sweep(tmp_path, {("few", 0): "concurrent-append"})
    (tmp_path / "report" / "answer.json").mkdir(parents=True)
    with pytest.raises(InvalidInput, match=r"answer\.json: cannot be read: Is a directory"):
        choose_run(place, tmp_path)


def test_of_a_cells_replications_the_one_with_most_exceptions_is_replayed(tmp_path: Path) -> None:
    place = _sweep(tmp_path, {("cell", 0): "disjoint-partitions", ("cell", 1): "concurrent-append"})
    assert choose_run(place, tmp_path, "cell").label == "cell, replication 1"


def test_an_unknown_cell_is_refused_with_the_nearest_or_with_those_there_are(
    tmp_path: Path,
) -> None:
    place = _sweep(tmp_path, {("few", 0): "concurrent-append", ("many", 0): "disjoint-partitions"})
    with pytest.raises(InvalidInput, match=r"no cell 'manny' \(did you mean 'many'\?\)"):
        choose_run(place, tmp_path, "manny")
    with pytest.raises(InvalidInput, match="no cell 'other': there are few, many"):
        choose_run(place, tmp_path, "other")


def test_cells_and_axes_are_listed_in_the_order_of_the_scenario(tmp_path: Path) -> None:
    place = _sweep(tmp_path, {("few", 0): "concurrent-append", ("many", 0): "disjoint-partitions"})
    cells = [
        {"name": name, "labels": {"writers": name, "isolation": level}}
        for name, level in (("many", "Serializable"), ("few", "WriteSerializable"))
    ]
    own = {"scenario_name": "a", "scenario_hash": "1", "seed": 1, "replications": 1, "axes": {}}
    place.write(DEFINITION_FILE, json.dumps({**own, "cells": cells}))
    with pytest.raises(InvalidInput, match="no cell 'other': there are many, few"):
        choose_run(place, tmp_path, "other")
    with pytest.raises(InvalidInput) as refused:
        choose_run(place, tmp_path, {})
    said = [str(problem) for problem in refused.value.problems]
    assert [text.partition("is left open: choose ")[2] for text in said] == [
        "many | few",
        "Serializable | WriteSerializable",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "it is no JSON from line 1, column 2 on"),
        ("[]", "it holds no"),
        ("{}", "scenario_name is"),
    ],
)
def test_a_definition_that_is_damaged_is_named(tmp_path: Path, content: str, said: str) -> None:
    place = _sweep(tmp_path, {("few", 0): "concurrent-append"})
    place.write(DEFINITION_FILE, content)
    with pytest.raises(InvalidInput, match=rf"sweep\.json: is damaged: {said}"):
        choose_run(place, tmp_path, "few")


def test_a_cell_is_called_by_its_labels_too(tmp_path: Path) -> None:
    scenario = load_scenario(REGRESSION / "concurrent-append.yaml")
    place, batch = LocalPlace(tmp_path), batch_folder(0, "made")
    labels = {f"few__{writers}": {"kind": "few", "writers": writers} for writers in "28"}
    runs = {(cell, 0): run_scenario(scenario, labels=own) for cell, own in labels.items()}
    place.add(batch, 0, [Ran(name, run.recording, None, 0.1) for name, run in runs.items()])
    place.close(batch)
    assert choose_run(place, tmp_path, {"writers": "8"}).cell == "few__8"
    assert choose_run(place, tmp_path, {"writers": "2", "kind": "few"}).cell == "few__2"
    with pytest.raises(InvalidInput, match=r"axis 'writers' has no '9': there are 2 \| 8"):
        choose_run(place, tmp_path, {"writers": "9"})
    with pytest.raises(InvalidInput, match=r"no axis 'writer'.*\n.*'writers' is left open"):
        choose_run(place, tmp_path, {"writer": "8"})


def test_rows_that_are_not_those_that_were_recorded_are_refused(tmp_path: Path) -> None:
    place = _sweep(tmp_path, {("cell", 0): "concurrent-append"})
    (part,) = tmp_path.glob("recordings/*/table=transactions/*.parquet")
    rows = pq.read_table(part, partitioning=None)
    other = pc.add(rows["submitted_at_ms"], 1.0)
    pq.write_table(
        rows.set_column(rows.schema.get_field_index("submitted_at_ms"), "submitted_at_ms", other),
        part,
    )
    with pytest.raises(InvalidInput, match="has other transactions of cell cell, replication 0"):
        choose_run(place, tmp_path, "cell")


def test_a_single_run_has_no_cells(tmp_path: Path) -> None:
    run = record("concurrent-append", tmp_path / "run")
    with pytest.raises(InvalidInput, match="is a single run: it has no cells"):
        named_run(run, "cell")

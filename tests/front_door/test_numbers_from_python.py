"""Numbers and names given in Python are looked at as on the command line, before any run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whitecap
from whitecap.api import scenario_from

VARY = "writers.etl.count=1..3"

WRONG: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (whitecap.run, {"seed": "7"}, ("seed: needs a whole number, not '7'",)),
    (whitecap.run, {"seed": 1.5}, ("seed: needs a whole number, not 1.5",)),
    (whitecap.run, {"seed": True}, ("seed: needs a whole number, not True",)),
    (
        whitecap.run,
        {"seed": -1, "replication": -3},
        ("seed: -1 is not between 0 and", "replication: -3 is not between 0 and 1,000"),
    ),
    (
        whitecap.sweep,
        {"seed": -1, "replications": "x", "engine": "processes"},
        ("seed: -1 is not", "replications: needs a whole number, not 'x'"),
    ),
    (
        whitecap.plan,
        {"vary": VARY, "seed": -1, "max_runs": "5", "jobs": 0},
        ("seed: -1 is not", "max_runs: needs a whole number, not '5'", "jobs: 0 is not between"),
    ),
    (
        whitecap.sensitivity,
        {"seed": -1, "replications": 2, "max_runs": None, "jobs": -1},
        ("seed: -1", "replications: 2 is not between 5", "max_runs: needs a whole", "jobs: -1"),
    ),
    (
        whitecap.advise,
        {"allow": "retries", "seed": -1, "replications": 2, "max_runs": 0, "jobs": 0},
        ("seed: -1", "replications: 2 is not between 5", "max_runs: 0 is not", "jobs: 0"),
    ),
]

UNNAMED: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (
        whitecap.sweep,
        {"axes": ["duration"], "only": "partitioning", "seed": -1, "engine": "processes"},
        ("axes: needs names with a list each", "only: needs names with a list", "seed: -1 is not"),
    ),
    (
        whitecap.sweep,
        {"axes": {"writers.etl.count": 0}, "only": {"partitioning": "by dat"}},
        ("there is no label 'by dat' (did you mean 'by date'?)",),
    ),
    (whitecap.sweep, {"only": {"partitioning": 8}}, ("there is no label '8'",)),
    (whitecap.sweep, {"only": {1: None}}, ("there is no axis '1'",)),
    (whitecap.plan, {"vary": VARY, "only": "layout"}, ("only: needs names with a list each",)),
    (whitecap.run, {"changes": {1: 2}}, ("changes: needs dotted paths with values, not {1: 2}",)),
]


@pytest.mark.parametrize(("asked", "numbers", "said"), WRONG)
def test_every_wrong_number_is_told_with_its_name(
    asked: Callable[..., Any], numbers: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(whitecap.InvalidInput) as refused:
        asked("capacity", **numbers)
    for each in said:
        assert each in str(refused.value)


@pytest.mark.parametrize(("asked", "names", "said"), UNNAMED)
def test_what_stands_where_names_with_values_should_is_told(
    asked: Callable[..., Any], names: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(whitecap.InvalidInput) as refused:
        asked("capacity", **names)
    for each in said:
        assert each in str(refused.value)


NOWHERE = "/dev/null/there"
LOST: list[tuple[Callable[[], object], tuple[str, ...]]] = [
    (
        lambda: whitecap.run("capacity", out=NOWHERE, changes={"writers.elt.count": 3}),
        (f"{NOWHERE}: cannot be written", "no writer 'elt'"),
    ),
    (
        lambda: whitecap.run("evnts", out=NOWHERE, until="conflict_rat +- 1 point"),
        (f"{NOWHERE}: cannot be written", "'conflict_rate'?", "did you mean events?"),
    ),
    (
        lambda: whitecap.sweep("evnts", out=NOWHERE, engine="processes"),
        (f"{NOWHERE}: cannot be written", "did you mean events?"),
    ),
    (
        lambda: whitecap.replay("nowhere", out=NOWHERE, window="3", transactions=0),
        (f"{NOWHERE}: cannot be written", "'3' is not of the form", "nowhere: no such", "0 is"),
    ),
]


@pytest.mark.parametrize(("asked", "said"), LOST)
def test_a_place_that_cannot_be_written_is_told_with_what_else_is_wrong(
    asked: Callable[[], object], said: tuple[str, ...]
) -> None:
    with pytest.raises(whitecap.InvalidInput) as refused:
        asked()
    for each in said:
        assert each in str(refused.value)


def test_a_wrong_number_and_a_wrong_scenario_are_told_together() -> None:
    with pytest.raises(whitecap.InvalidInput, match=r"seed: -1(.|\n)*no writer 'elt'"):
        whitecap.run("capacity", seed=-1, changes={"writers.elt.count": 3})


@pytest.mark.parametrize("given", ["duration", [("duration", "1 h")]])
def test_changes_that_are_no_dictionary_are_refused_in_words(given: Any) -> None:
    with pytest.raises(whitecap.InvalidInput, match="changes: needs dotted paths with values"):
        whitecap.run("capacity", changes=given)


def test_a_cell_that_is_neither_labels_nor_a_name_is_refused_in_words() -> None:
    cell: Any = ["by date"]
    said = r"cell: needs a label for each axis, or a name, not \['by"
    with pytest.raises(whitecap.InvalidInput, match=said):
        whitecap.run("capacity", cell=cell)


def test_a_label_that_is_a_number_may_be_given_as_one() -> None:
    cell: Any = {"partitioning": "by date", "isolation": "Serializable", "writers": 8}
    labels = {**cell, "writers": "8"}
    assert scenario_from("events", cell=cell).labels == labels
    cell["writers"] = 9
    with pytest.raises(whitecap.InvalidInput, match=r"axis 'writers' has no '9': there are 8 \|"):
        scenario_from("events", cell=cell)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    three: Any = np.int64(3)
    run = whitecap.run("capacity", seed=three, changes={"duration": "1 min"}, out=tmp_path / "run")
    assert run.recording.manifest["seed"] == 3
    assert whitecap.load(tmp_path / "run").recording.manifest["seed"] == 3


def test_a_replay_of_less_than_two_transactions_is_refused() -> None:
    run = whitecap.run("capacity", changes={"duration": "5 min"})
    with pytest.raises(whitecap.InvalidInput, match="transactions: 0 is not between 2 and"):
        whitecap.replay(run, transactions=0)


def test_a_draft_from_no_commits_is_refused(tmp_path: Path) -> None:
    whitecap.run("capacity", changes={"duration": "5 min"}).export(tmp_path / "table")
    with pytest.raises(whitecap.InvalidInput, match="commits: 0 is not between 1 and"):
        whitecap.from_log(tmp_path / "table", commits=0)

"""Equal writers that meet by how they are described are told so, where they stop each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from whitecap.cli import main

CONSTANT: dict[str, Any] = {"closed": {"think": "2 min"}}
GROUP: dict[str, Any] = {
    "count": 3,
    "statement": "UPDATE events SET v = v + 1",
    "arrival": CONSTANT,
    "compute": "10 s",
}
QUERY: dict[str, Any] = {
    "count": 3,
    "streaming": {"checkpoint": "c", "rows": {"count": 5}},
    "arrival": {"closed": {"think": {"exponential": {"mean": "1 min"}}}},
    "compute": "10 s",
}
SAME_INSTANTS = (
    "etl: its 3 writers fall due at the same instants: give `think` a distribution, or the "
    "schedule a `jitter`."
)
ONE_QUERY = "etl: its 3 writers are runs of one query: separate queries need a checkpoint each."


def said(path: Path, *words: str, etl: dict[str, Any], **parts: Any) -> str:
    """What the command says of this writer group, in one line."""
    table = {"schema": "id BIGINT, v DOUBLE", "key": "id", "initial": {"rows": 100}}
    scenario = {
        "name": "s", "duration": "20 min", "table": table, "store": "s3", "writers": {"etl": etl},
    }  # fmt: skip
    file = path / "s.yaml"
    file.write_text(yaml.safe_dump(scenario | parts))
    command, *others = words
    result = CliRunner().invoke(main, [command, str(file), *others], env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    "arrival",
    [CONSTANT, {"schedule": {"every": "2 min"}}, {"schedule": {"at": ["1 min", "9 min"]}}],
)
def test_writers_that_fall_due_at_the_same_instants_are_told_so(
    tmp_path: Path, arrival: dict[str, Any]
) -> None:
    assert SAME_INSTANTS in said(tmp_path, "run", etl=GROUP | {"arrival": arrival})


@pytest.mark.parametrize(
    "changes",
    [
        {"arrival": {"closed": {"think": {"exponential": {"mean": "2 min"}}}}},
        {"compute": {"lognormal": {"median": "10 s", "sigma": 0.4}}},
        {"arrival": {"schedule": {"every": "2 min", "jitter": {"exponential": {"mean": "5 s"}}}}},
        {"rerun": {"fixed": {"wait": "1 min", "budget": 3}}},
        {"count": 1},
        {"statement": "INSERT INTO events VALUES :rows", "parameters": {"rows": {"rows": {}}}},
    ],
)
def test_writers_that_chance_sets_apart_or_that_do_not_stop_each_other_are_not(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert "its 3 writers" not in said(tmp_path, "run", etl=GROUP | changes)


def test_writers_on_one_checkpoint_are_said_to_be_one_query(tmp_path: Path) -> None:
    assert ONE_QUERY in said(tmp_path, "run", etl=QUERY)


def test_a_sweep_tells_it_of_the_cell_that_limits(tmp_path: Path) -> None:
    axes = {"writers": {"1": {"writers.etl.count": 1}, "2": {"writers.etl.count": 2}}}
    out = ["--engine", "processes", "--out", str(tmp_path / "out")]
    sweep = {"axes": axes, "replications": 2}
    shown = said(tmp_path, "sweep", *out, etl=GROUP, sweep=sweep)
    assert SAME_INSTANTS.replace("3 writers", "2 writers") in shown


def test_a_replicated_run_tells_it(tmp_path: Path) -> None:
    assert SAME_INSTANTS in said(
        tmp_path, "run", "--until", "conflict_rate +- 90 points", etl=GROUP
    )


def test_listed_instants_after_the_end_of_the_run_are_told(tmp_path: Path) -> None:
    etl = GROUP | {"arrival": {"schedule": {"at": ["1 min", "2 h"]}}}
    line = "etl: `at` 2 h after `start` is not in the run of 20 min."
    assert line in said(tmp_path, "run", etl=etl)
    assert line in said(tmp_path, "run", "--until", "conflict_rate +- 90 points", etl=etl)

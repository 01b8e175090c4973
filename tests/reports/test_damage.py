"""Commits that are lost or doubled are told wherever somebody reads how a run went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whitecap
from tests.command_line import invoked
from whitecap.exit_codes import ExitCode
from whitecap.reports.damage import damage_sentences

LOSING = "f03-wrong-log-store"
LOST = "were written over by others"


def _said(*arguments: str) -> str:
    result = invoked(*arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    return " ".join(result.stdout.split())


def test_a_run_that_loses_commits_says_so() -> None:
    assert f"48 commits {LOST}" in _said("run", LOSING, "--cell", "notebook=wrong log store")


def test_a_run_that_loses_none_says_nothing_of_it() -> None:
    assert LOST not in _said("run", LOSING, "--cell", "notebook=as all others")


@pytest.mark.parametrize(("cell", "lost"), [("wrong log store", 48), ("as all others", None)])
def test_json_of_a_run_has_what_it_lost(cell: str, lost: int | None) -> None:
    document = json.loads(_said("run", LOSING, "--cell", f"notebook={cell}", "--json"))
    assert document.get("lost_commits") == lost


def test_json_of_a_sweep_has_which_runs_lost_what(tmp_path: Path) -> None:
    options = ("--out", str(tmp_path / "sweep"), "--engine", "processes", "--json")
    document = json.loads(_said("sweep", LOSING, *options))
    damaged = {cell["name"]: cell.get("damaged_runs") for cell in document["cells"]}
    assert damaged["as-all-others"] is None
    assert [run["replication"] for run in damaged["wrong-log-store"]] == [0, 1]
    assert damaged["wrong-log-store"][0] == {"replication": 0, "lost_commits": 48}


def test_a_sweep_and_its_page_name_the_cell_that_loses_commits(tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    text = _said("sweep", LOSING, "--out", str(out), "--engine", "processes")
    assert "wrong log store: in 2 of 2 runs" in text
    assert LOST in text
    assert "as all others: in" not in text
    whitecap.report(out, engine="processes")
    page = (out / "report" / "report.html").read_text(encoding="utf-8")
    assert LOST in page


@pytest.mark.parametrize(
    ("manifests", "said"),
    [
        ([{}], []),
        ([{"lost_commits": 1}], ["1 commit was written over by others: what it wrote is gone"]),
        (
            [{"lost_commits": 2}, {}],
            ["in 1 of 2 runs 2 commits were written over by others: what they wrote is gone"],
        ),
        (
            [{"doubled_commits": 3}],
            ["3 transactions are in the log twice, and what they wrote too"],
        ),
        (
            [{"damage": {"commits": 1, "files_removed_again": 2, "first_version": 7}}],
            [
                "1 commit, from version 7 on, removed 2 files that were gone already; rows that "
                "they held may be there twice"
            ],
        ),
    ],
)
def test_what_is_wrong_is_counted_over_runs(
    manifests: list[dict[str, object]], said: list[str]
) -> None:
    assert damage_sentences(manifests) == said

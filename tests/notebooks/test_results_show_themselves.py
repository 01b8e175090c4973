"""At the end of a notebook's cell a result shows what it says, its tables and its figures."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import whitecap
from tests.sim.sim_worlds import document
from whitecap.reports.markup.notebook_part import notebook_part

LEVELS = ("Serializable", "WriteSerializable")
AXES = {"isolation": {level: {"table.isolation": level} for level in LEVELS}}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few minutes of a small table, and a sweep of two cells over it."""
    path = tmp_path_factory.mktemp("shown") / "small.yaml"
    path.write_text(yaml.safe_dump(document(duration="3 min", sweep={"axes": AXES})))
    return path


@pytest.fixture(scope="module")
def run(file: Path) -> whitecap.Run:
    return whitecap.run(file)


@pytest.fixture(scope="module")
def sweep(file: Path) -> whitecap.Sweep:
    return whitecap.sweep(file, replications=2, engine="processes", quiet=True)


def shown(result: Any) -> tuple[str, int]:
    """The words that a notebook shows of a result, and how many pictures."""
    page = result._repr_html_()
    words = html.unescape(re.sub(r"<[^>]+>", " ", page))
    return " ".join(words.split()), page.count('src="data:image/png;base64,')


def test_a_run_shows_its_summary_who_stops_whom_and_its_timeline(run: whitecap.Run) -> None:
    words, pictures = shown(run)
    assert repr(run) in words
    committed = (run.transactions["outcome"] == "committed").sum()
    assert f"seed 1, replication 0: {len(run.transactions)} transactions" in words
    assert f"{committed} committed" in words
    for table in (run.summary, run.refusals):
        assert set(table.columns) <= set(words.split())
    assert pictures == 1


def test_a_sweep_shows_its_answer_its_table_and_success(sweep: whitecap.Sweep) -> None:
    words, pictures = shown(sweep)
    assert sweep.answer.headline in words
    assert sweep.table.iloc[0]["Goodput"] in words
    assert pictures == 1


def test_an_answer_shows_its_sentences_each_in_its_place(sweep: whitecap.Sweep) -> None:
    words, pictures = shown(sweep.answer)
    assert words == " ".join(str(sweep.answer).split())
    assert pictures == 0
    assert f">  {html.escape(sweep.answer.sentences[0])}</p>" in sweep.answer._repr_html_()


def test_a_plan_shows_its_boundary_and_its_figure(file: Path) -> None:
    plan = whitecap.plan(
        file, "writers.corrector.count=1..2", objective="job_success_rate of corrector >= 50 %",
        max_runs=10, max_replications=5, jobs=1, quiet=True,
    )  # fmt: skip
    words, pictures = shown(plan)
    assert " ".join(str(plan).split()) in words
    assert set(plan.table.columns) <= set(words.split())
    assert pictures == 1


def test_what_a_replay_of_a_run_cannot_be_asked_is_refused_before_spark_starts(
    run: whitecap.Run,
) -> None:
    with pytest.raises(whitecap.InvalidInput, match=r"is not of the form FROM\.\.TO"):
        whitecap.replay(run, window="3", quiet=True)
    with pytest.raises(whitecap.InvalidInput, match="a run has no cells"):
        whitecap.replay(run, cell="Serializable", quiet=True)


def test_the_timeline_of_a_transaction_that_is_not_there_is_refused(run: whitecap.Run) -> None:
    with pytest.raises(whitecap.InvalidInput, match="the run has no transaction 999999"):
        whitecap.figures.timeline(run, 999_999)


def test_a_figure_of_a_sweep_takes_no_run_and_one_of_a_run_no_sweep(run: Any, sweep: Any) -> None:
    figures = whitecap.figures
    for drawn in (figures.heat_map, figures.over_quantity, figures.exceptions, figures.latency):
        with pytest.raises(whitecap.InvalidInput, match="sweep: needs a sweep, as"):
            drawn(run)
    with pytest.raises(whitecap.InvalidInput, match="sweep: needs a sweep, as"):
        figures.ranges(run, "conflict_rate")
    with pytest.raises(whitecap.InvalidInput, match="run: needs a run, as"):
        figures.timeline(sweep)


def test_words_are_shown_whole_from_the_left_and_numbers_from_the_right() -> None:
    said = "so many words that pandas would cut them off somewhere in the middle"
    words = notebook_part([], {"": pd.DataFrame({"because": [said]})})
    assert f'<td style="text-align: left">{said}</td>' in words
    assert '<th style="text-align: left">because</th>' in words
    numbers = notebook_part([], {"": pd.DataFrame({"because": [said], "count": [3]})})
    assert "<td>3</td>" in numbers


def test_what_users_name_is_escaped() -> None:
    page = notebook_part(["a <b> & c"], {"<i>": pd.DataFrame({"<u>": ["<s>"]})})
    assert "a &lt;b&gt; &amp; c" in page
    assert not re.search("<[bius]>", page)

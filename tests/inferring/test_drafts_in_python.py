"""`whitecap.from_log`: what a draft says of its figures, in Python and in notebooks."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import whitecap
from tests.inferring.synthetic_logs import LogOnDisk
from whitecap.sim.inferring.evidence.figures import Surety

DAYS = ("2026-01-10", "2026-01-11", "2026-01-12")
OF_A_DAY = '["(day#12 = 2026-01-11)"]'


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half an hour of appends, deletes of a day and compaction, and a property that is read."""
    folder = tmp_path_factory.mktemp("drafted") / "clicks"
    log = LogOnDisk(folder, properties={"delta.deletedFileRetentionDuration": "interval 1 day"})
    for number in range(10):
        log.append(DAYS[number % 3], readVersion=log.version - 1)
        log.commit("DELETE", predicate=OF_A_DAY, readVersion=log.version - 1)
        log.commit("OPTIMIZE", predicate="[]", readVersion=log.version - 1)
    return folder


@pytest.fixture(scope="module")
def draft(table: Path) -> whitecap.Draft:
    return whitecap.from_log(table)


def _at(document: Any, path: str) -> Any:
    for part in path.split("."):
        document = document[part]
    return document


def test_every_figure_of_the_text_is_in_the_table_with_its_value(draft: whitecap.Draft) -> None:
    said = "|".join(surety.value for surety in Surety)
    stated = re.findall(rf"^ *# ({said}): ", draft.text, re.MULTILINE)
    figures = draft.figures
    assert list(figures["known"]) == stated
    assert len({path.split(".")[1] for path in figures["figure"] if "writers." in path}) == 3
    document = yaml.safe_load(draft.text)
    for path, value in zip(figures["figure"], figures["value"], strict=True):
        there = _at(document, path)
        assert isinstance(there, dict) if not value else there == yaml.safe_load(value)


def test_what_the_log_counts_is_not_among_what_is_assumed(draft: whitecap.Draft) -> None:
    of_log = draft.figures[draft.figures["figure"].str.startswith("table.log")]
    assert dict(zip(of_log["figure"], of_log["known"], strict=True)) == {
        "table.log.commits": "counted",
        "table.log.checkpoint_interval": "assumed",
    }


def test_a_reason_of_several_lines_is_told_whole(draft: whitecap.Draft) -> None:
    in_one_line = " ".join(re.sub(r"^ *#", "", draft.text, flags=re.MULTILINE).split())
    assert all(because in in_one_line for because in draft.figures["because"])
    assert draft.figures["because"].str.len().max() > 90


def test_a_draft_shows_what_it_is_drawn_from_and_every_figure(draft: whitecap.Draft) -> None:
    page = draft._repr_html_()
    words = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert "Drafted from 31 commits: insert: 10 commits" in words
    assert "Left out: 1 commit of CREATE TABLE." in words
    assert "No aborted transaction is in a log" in words
    for because in draft.figures["because"]:
        assert because in words


def test_an_anonymous_draft_shows_nothing_of_its_place(table: Path) -> None:
    hidden = whitecap.from_log(table, anonymise=True)
    shown = "".join([hidden._repr_html_(), repr(hidden), str(hidden), hidden.figures.to_string()])
    assert "clicks" not in shown
    assert str(table.parent) not in shown


def test_a_draft_is_written_to_a_file_that_is_run_and_replaced_only_where_that_is_said(
    draft: whitecap.Draft, tmp_path: Path
) -> None:
    written = draft.write(tmp_path / "drafts" / "mine.yaml")
    assert written.read_text(encoding="utf-8") == draft.text
    with pytest.raises(whitecap.InvalidInput, match="overwrite=True"):
        draft.write(written)
    draft.write(written, overwrite=True)
    assert len(whitecap.run(written, changes={"duration": "1 min"}).transactions) > 0


def test_failures_that_were_kept_are_held_against_it(draft: whitecap.Draft, tmp_path: Path) -> None:
    lines = (f"2026-01-12 00:{10 + n}:00,delete,ConcurrentAppendException" for n in range(15))
    failures = tmp_path / "failures.csv"
    failures.write_text("\n".join(["instant,job,exception", *lines]))
    predicted = draft.compare(failures)
    table = predicted.table.set_index("writer")
    assert dict(table["seen"]) == {"insert": 0, "delete": 15, "optimize": 0}
    assert table.at["delete", "verdict"] == "fewer than seen"
    assert not predicted.agrees
    row = table.loc["delete"]
    assert row["seen_low"] < row["seen_per_hour"] < row["seen_high"]
    assert row["predicted_high"] < row["seen_low"]
    assert "delete: 15 seen" in str(predicted)
    assert "15" in predicted._repr_html_()

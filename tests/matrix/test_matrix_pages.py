"""What people and programs see of a matrix: the command, the page, Markdown and JSON."""

from __future__ import annotations

import html
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.matrix.matrices import matrix, published_matrix
from whitecap.cli import main
from whitecap.engine.races.matrix.document import matrix_document
from whitecap.reports.pages.matrix_page import matrix_html, matrix_markdown
from whitecap.terminal.matrix import show


@cache
def published() -> dict[str, Any]:
    """The matrix of Delta's own tables, as pages have it."""
    return {**matrix_document(published_matrix("delta-oss-4.4")), "origin": "whitecap of a test"}


class Page(HTMLParser):
    """Ids, links and unclosed elements of a page."""

    VOID = frozenset({"meta", "br", "img", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if "href" in values else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    text = matrix_html(published())
    page = Page(text)
    assert not page.open
    assert not re.search(r"<(script|link|img)|url\(|@import", text)
    assert "Every cell of the published table comes out as published." in text


def test_a_table_that_is_cut_off_shows_by_a_shade_that_there_is_more() -> None:
    """The shade lies behind the cells, which must let it through."""
    text = matrix_html(published())
    boxes = re.findall(r'<div class="([^"]*)" tabindex="0">', text)
    assert len(boxes) >= 2
    assert all("scroll" in box.split() for box in boxes)
    assert not re.search(r"td\.\w+ \{ background: #", text)


def test_every_mark_on_the_page_leads_to_its_witness() -> None:
    page = Page(matrix_html(published()))
    anchors = [link.removeprefix("#") for link in page.links if link.startswith("#")]
    conflicts = [c for c in published()["grids"][0]["pairs"] if c["can_conflict"]]
    anchors.remove("family")
    page.ids.remove("family")
    assert len(anchors) == len(conflicts) == len(set(anchors))
    assert set(anchors) == set(page.ids)


def test_the_page_says_whose_file_decided_and_is_silent_where_none_did() -> None:
    cells = {(c["loser"], c["winner"]): c for c in published()["grids"][0]["pairs"]}
    assert cells["UPDATE", "INSERT"]["witness"]["file"] == "written by A"
    assert cells["DELETE", "OPTIMIZE ZORDER BY"]["witness"]["file"] is not None
    metadata = matrix_document(matrix("delta-oss-4.4", ("INSERT", "ADD COLUMN"), partitioned=True))
    lost = {(c["loser"], c["winner"]): c for c in metadata["grids"][0]["pairs"]}
    assert lost["INSERT", "ADD COLUMN"]["witness"]["file"] is None


def test_every_reading_of_a_published_cell_is_shown_wherever_the_table_is() -> None:
    readings = [c["reading"] for c in published()["published"][0]["cells"] if c["reading"]]
    assert readings
    for shown in (html.unescape(matrix_html(published())), matrix_markdown(published())):
        assert all(reading in shown for reading in readings)


def test_the_terminal_shows_how_cells_were_read(capsys: pytest.CaptureFixture[str]) -> None:
    show(published(), with_witnesses=False)
    output = " ".join(capsys.readouterr().out.split())
    for cell in published()["published"][0]["cells"]:
        assert cell["reading"] in output


def test_every_published_conflict_unfolds() -> None:
    tables = matrix_html(published()).partition("<h2>All commands</h2>")[0]
    can = [c for c in published()["published"][0]["cells"] if c["can_conflict"]]
    assert tables.count("<details>") == len(can) == 4


def test_markdown_shows_the_documented_sentences_and_the_witnesses() -> None:
    text = matrix_markdown(published())
    assert "| **UPDATE, DELETE, MERGE INTO** | Can conflict <br>*Here on partitioned" in text
    assert "- B: `UPDATE t SET v = v + 1 WHERE id = 1`" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table[:5]} == {5}


def test_the_command_prints_the_witnesses_of_a_pair() -> None:
    result = CliRunner().invoke(main, ["matrix", "--pair", "insert", "update"])
    assert result.exit_code == 0
    assert result.output.startswith("INSERT and UPDATE can conflict.")
    assert "INSERT aborted by UPDATE: never" in result.output
    assert "is aborted with ConcurrentAppendException" in " ".join(result.stdout.split())


def test_a_pair_is_raced_alone_and_not_each_with_itself() -> None:
    result = CliRunner().invoke(main, ["matrix", "--pair", "INSERT", "OPTIMIZE"])
    assert result.output.startswith("INSERT and OPTIMIZE cannot conflict.")
    assert "OPTIMIZE aborted by OPTIMIZE" not in result.output


def test_the_command_writes_json_that_says_what_was_raced(tmp_path: Path) -> None:
    out = tmp_path / "new" / "matrix.json"
    arguments = ["matrix", "--dialect", "databricks-14.3", "--row-level-concurrency", "on"]
    arguments += ["--pair", "DELETE", "UPDATE", "--format", "json", "--out", str(out)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    document = json.loads(out.read_text())
    assert document["tables"] == [
        "unpartitioned, deletion vectors, row-level concurrency, WriteSerializable",
        "unpartitioned, deletion vectors, row-level concurrency, Serializable",
        "clustered by day, deletion vectors, row-level concurrency, WriteSerializable",
        "clustered by day, deletion vectors, row-level concurrency, Serializable",
    ]
    cells = {(c["loser"], c["winner"]): c for c in document["grids"][0]["pairs"]}
    assert cells["DELETE", "UPDATE"]["only_when"] == "only at the same row"


OLDEST = ["--dialect", "databricks-13.3"]
ROWS = ["--row-level-concurrency", "on"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dialect", "delta-oss-4"], "did you mean 'delta-oss-4.4'?"),
        (ROWS, "row-level concurrency is not part of delta-oss-4.4"),
        ([*OLDEST, *ROWS, "--clustered", "no"], "on clustered tables with deletion vectors only"),
        ([*OLDEST, *ROWS, "--deletion-vectors", "off"], "on clustered tables with deletion"),
        (["--partitioned", "yes", "--clustered", "yes"], "a partitioned table cannot be clustered"),
        (["--isolation", "Snapshot"], "Serializable or WriteSerializable, not 'Snapshot'"),
        (["--isolation", "WriteSerializable"], "delta-oss-4.4 lets nobody set WriteSerializable"),
        (["--pair", "UPDAT", "DELET"], "error: UPDAT: no such command (did you mean 'UPDATE'?)"),
        (["--out", "x.txt"], "needs --format, one of html, markdown, json"),
        (["--out", "x.md", "--format", "html"], "x.md ends as markdown does, and --format says"),
        (["--out", "/"], "is a directory"),
    ],
)
def test_the_command_refuses_what_cannot_be_before_it_races(
    arguments: list[str], said: str
) -> None:
    result = CliRunner().invoke(main, ["matrix", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_the_ending_of_the_file_names_the_format(tmp_path: Path) -> None:
    for name, begins in (("a.html", "<!DOCTYPE html>"), ("a.md", "# Which"), ("a.json", "{")):
        out = tmp_path / name
        arguments = ["matrix", "--pair", "INSERT", "INSERT", "--out", str(out)]
        assert CliRunner().invoke(main, arguments).exit_code == 0
        assert out.read_text().lstrip().startswith(begins)


def test_a_cell_of_which_a_part_cannot_apply_is_not_marked_as_it_was_published() -> None:
    document = {
        **matrix_document(published_matrix("databricks-13.3")),
        "origin": "whitecap of a test",
    }
    text = matrix_html(document)
    assert "comes out as published, as far as it applies to databricks-13.3." in text
    assert text.count('class="verdict same"') == 10
    assert text.count("Published: Can conflict when ZORDER BY is used.") == 2

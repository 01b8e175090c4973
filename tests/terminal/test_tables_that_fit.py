"""Tables fit the width, and no number, word or name in them is cut."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from whitecap.terminal.table import (
    EMPTY,
    PrintedColumn,
    columns_that_fit,
    print_indented,
    print_named,
    show_table,
)

COLUMNS = (
    PrintedColumn("writer", text=True),
    PrintedColumn("committed"),
    PrintedColumn("given up"),
    PrintedColumn("attempts", leave=1),
    PrintedColumn("p50", leave=2),
    PrintedColumn("exception", text=True),
)
ROWS = [
    ["merger-2", "1,234,567", EMPTY, "12", "307 s", "ConcurrentDeleteReadException"],
    ["merger-10", "18", "84", "1,012", "10.1 s", "none"],
]


def _printed(width: int, columns: object = COLUMNS, rows: object = ROWS, **options: object) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    show_table(console, columns, rows, **options)  # type: ignore[arg-type]
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(width: int) -> None:
    text = _printed(width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for cell in ("merger-2", "merger-10", "1,234,567", "84", "ConcurrentDeleteReadException"):
        assert cell in text


def test_a_stacked_row_in_which_all_is_empty_says_so() -> None:
    lines = _printed(30, rows=[*ROWS, ["nightly", EMPTY, EMPTY, EMPTY, EMPTY, ""]]).splitlines()
    assert lines[-2:] == ["nightly", "  nothing to count"]


def test_columns_that_may_leave_do_so_in_their_order_and_the_caption_names_them() -> None:
    wide, narrower, narrow = _printed(90), _printed(75), _printed(62)
    assert "Left out" not in wide
    assert "Left out at this width: attempts." in narrower
    assert "Left out at this width: attempts, p50." in narrow


def test_rows_are_stacked_with_all_their_columns_where_nothing_else_helps() -> None:
    lines = _printed(44, names=1).splitlines()
    assert lines[0] == "merger-2"
    assert "attempts 12" in "\n".join(lines)
    assert "  exception  ConcurrentDeleteReadException" in lines
    assert "given up 84" in "\n".join(lines)
    assert EMPTY not in "\n".join(lines)


def test_texts_are_folded_between_words_before_a_column_leaves() -> None:
    columns = (
        PrintedColumn("cell", text=True),
        PrintedColumn("goodput"),
        PrintedColumn("retries", leave=1),
    )
    rows = [["by date and region · 12 mergers", "11.8 / min", "0.3 %"]]
    lines = _printed(45, columns, rows).splitlines()
    assert "retries" in lines[0]
    assert lines[2].startswith("by date and region · 12 ") or "by date and region" in lines[2]
    assert "11.8 / min" in lines[2]


WORDS = st.text(st.sampled_from("abc 123"), max_size=24)


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=4),
    st.integers(30, 100),
)
def test_whatever_stands_in_them_numbers_are_whole(rows: list[tuple[str, ...]], width: int) -> None:
    columns = (
        PrintedColumn("name", text=True),
        PrintedColumn("a"),
        PrintedColumn("b", leave=1),
        PrintedColumn("c"),
    )
    shown = columns_that_fit(columns, rows, width)
    text = _printed(width, columns, rows)
    kept = range(4) if shown is None else shown
    flat = " ".join(text.split())
    for row in rows:
        for at in kept[1:]:
            assert " ".join(row[at].split()) in flat
    assert max(map(len, text.splitlines()), default=0) <= width


def test_names_stand_above_their_texts_where_a_word_would_be_cut() -> None:
    out = io.StringIO()
    console = Console(file=out, width=40)
    print_named(console, {"exception": "ConcurrentDeleteReadException", "who": "A", "no": ""})
    assert out.getvalue().splitlines() == [
        "  exception",
        "    ConcurrentDeleteReadException",
        "  who        A",
    ]


@pytest.mark.parametrize("width", [44, 62, 80, 120])
def test_no_line_ends_in_blanks(width: int) -> None:
    text = _printed(width, caption="A caption that is much longer than a terminal is wide. " * 3)
    assert all(line == line.rstrip() for line in text.splitlines())


def test_what_is_bold_in_a_table_stays_bold() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system="standard")
    show_table(console, COLUMNS[:3], [row[:3] for row in ROWS], stressed=[1])
    assert "\x1b[1mmerger-10\x1b[0m" in out.getvalue()


SENTENCE = (
    "goodput 3.11 / min, 12 to 15 % (of 2 runs) after 30 s or 1.2 min, +1.2 to +5.0 points beside "
    "250 ms and 1 point"
)
PARTED = re.compile(r"[\d/]\n *(%|ms|s|min|h|points?|/)(?!\w)")


@pytest.mark.parametrize("width", range(18, 100))
def test_no_line_is_broken_between_a_number_and_its_unit(width: int) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    print_indented(console, SENTENCE, by=2)
    print_named(console, {"because": SENTENCE})
    assert not PARTED.search(out.getvalue())
    assert " ".join(out.getvalue().split()).count(SENTENCE) == 2


@pytest.mark.parametrize("width", range(40, 100))
def test_no_cell_is_broken_between_a_number_and_its_unit(width: int) -> None:
    columns = (PrintedColumn("writer", text=True), PrintedColumn("what", text=True))
    printed = _printed(width, columns, [["merger", SENTENCE]])
    lines = [line.removeprefix("merger").strip() for line in printed.splitlines()]
    assert not PARTED.search("\n".join(lines))
    assert SENTENCE in " ".join(lines)

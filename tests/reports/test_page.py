"""The page: well formed, self-contained, escaped, and with every number that its figures show."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.reports.synthetic_recordings import made_up_subject
from whitecap.reports.answers.of_runs import answer_of_subject
from whitecap.reports.figures.figures import HEADLINES, draw_all
from whitecap.reports.figures.style import save
from whitecap.reports.measures import MEASURES, REPORTED, Unit, written
from whitecap.reports.pages.page import page_of

AXES = {"partitioning": ["<none>", "by date & country"], "isolation": ["A", "B"]}

VOID = {"meta", "img", "br", "link", "input"}


class Outline(HTMLParser):
    """Checks that tags close in order; collects text and what is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.text: list[str] = []
        self.described: list[str] = []
        self.reachable = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loaded += [str(given[name]) for name in ("src", "href") if name in given]
        if tag == "img":
            self.described.append(given.get("alt") or "")
        self.reachable += tag == "figure" and given.get("tabindex") == "0"
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.text.append(data.replace("\u00a0", " "))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a sweep with awkward labels."""
    root = tmp_path_factory.mktemp("page")
    subject = made_up_subject(root / "sweep", AXES)
    drawings = [(d, save(d.figure, root, d.name)[1]) for d in draw_all(subject)]
    answer = answer_of_subject(subject)
    return page_of(subject, answer, drawings, None, "name: <script>alert(1)</script>")


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    """The page, parsed."""
    parser = Outline()
    parser.feed(page)
    parser.close()
    return parser


def test_every_tag_is_closed_in_order(outline: Outline) -> None:
    assert outline.open == []


def test_nothing_is_loaded_from_elsewhere_and_every_image_is_described(outline: Outline) -> None:
    assert len(outline.loaded) == 6
    assert all(source.startswith("data:image/svg+xml;base64,") for source in outline.loaded)
    assert all(outline.described)


def test_a_figure_says_what_it_shows_and_where_its_numbers_are(outline: Outline) -> None:
    headlines = [text for text in outline.text if text in HEADLINES.values()]
    assert len(headlines) == len(outline.described) == outline.reachable == 6
    for described in outline.described:
        assert described not in headlines
        assert "ogether" in described
        assert described.endswith(" Its numbers are in the table below.")


def test_two_replications_are_said_to_tell_one_bound(outline: Outline) -> None:
    text = " ".join(outline.text)
    assert "the 95 % bound that matters: fewer than 5 replications tell no other" in text
    assert "its 95 % interval" not in text


def test_the_cell_where_who_stops_whom_is_told_is_explained(outline: Outline) -> None:
    text = " ".join(outline.text)
    assert re.search(r"The design that the answer names, which (is|misses) ", text)


def test_texts_of_the_user_are_escaped(page: str, outline: Outline) -> None:
    assert "<script>alert" not in page
    assert "<none>" not in page
    text = " ".join(outline.text)
    assert "<none> · A" in text
    assert "by date & country · B" in text


def test_every_measure_is_defined_and_shown(outline: Outline) -> None:
    text = " ".join(outline.text)
    for measure in REPORTED:
        assert MEASURES[measure].title in text
        assert MEASURES[measure].meaning in text


def test_who_stops_whom_is_told_of_the_named_cell_and_listed_of_all(outline: Outline) -> None:
    text = " ".join(outline.text)
    assert "Who stops whom" in text
    assert "100 % of the aborts of loader are no conflict with anybody's commit" in text
    assert text.count("loader · INSERT") >= 2


def test_a_named_cell_without_aborts_says_so(tmp_path: Path) -> None:
    axes = {"partitioning": ["unpartitioned", "by date"]}
    subject = made_up_subject(tmp_path / "sweep", axes, quiet=["by-date"])
    answer = answer_of_subject(subject)
    page = page_of(subject, answer, [], None, "")
    section = page[page.index('<section id="stopped">') :]
    assert "Who stops whom: by date" in section
    of_cell, _, in_every_cell = section.partition("In every cell")
    assert "Nobody here: no transaction was aborted because of another's commit." in of_cell
    assert "<table" not in of_cell
    assert "loader" in in_every_cell


def test_the_page_does_not_depend_on_where_it_was_made(tmp_path: Path, page: str) -> None:
    assert str(tmp_path.parent) not in page


def test_what_one_decides_by_comes_first(page: str, outline: Outline) -> None:
    text = " ".join(outline.text)
    parts = ["Asked for", "Objectives, cell by cell", "All measures", "Who stops whom"]
    assert sorted(parts, key=text.index) == parts
    measures = page[page.index("<h2>All measures</h2>") :]
    titles = [MEASURES[name].title for name in ("job_success_rate", "goodput_per_minute")]
    headings = re.findall(r'<th scope="col".*?>(.*?)</th>', measures)[:3]
    assert headings == ["cell", *titles]


def test_columns_of_words_are_told_from_columns_of_numbers(page: str) -> None:
    words = set(re.findall(r'<th scope="col" class="text">(.*?)</th>', page))
    assert {"objectives", "aborted", "because of", "exception", "command"} <= words
    assert not words & {measure.title for measure in MEASURES.values()}
    for kinds, shown in re.findall(r'<td(?: class="([^"]*)")?>([^<]+)', page):
        is_number = any(map(str.isdigit, shown)) or shown == "n/a"
        assert is_number is not ("text" in kinds.split()), shown


def test_costs_stand_on_the_page_where_a_price_was_stated(tmp_path: Path, page: str) -> None:
    price = {"per_slot_hour": 0.5, "currency": "EUR"}
    subject = made_up_subject(tmp_path / "sweep", AXES, price=price)
    priced = page_of(subject, answer_of_subject(subject), [], None, "")
    for title in ("Cost per month", "Wasted per month", "Cost per job that brings data"):
        assert f">{title} (EUR)</th>" in priced
        assert title not in page
    cost = subject.tables.of("cost_per_month")[subject.layout.cells[0].name]
    assert f"<td>{written(cost.point, Unit.MONEY)}<small>" in priced


def test_how_a_group_stands_is_told_by_a_sign_and_not_by_colour_alone(page: str) -> None:
    for mark, sign in (("met", "✓"), ("missed", "✗"), ("undecided", "?"), ("too_few", "·")):
        for shown in re.findall(rf'<td class="{mark}(?: text)?">(.)', page):
            assert shown == sign
    assert re.search(r'<td class="(met|missed|undecided|too_few)">', page)


def test_no_interval_of_a_table_is_broken_between_a_number_and_its_unit(page: str) -> None:
    below = re.findall(r"<small>(.*?)</small>", page)
    assert any("\u00a0min" in each or "\u00a0s" in each for each in below)
    units = r"\d (%|ms|s|min|h|points?|values?|/)(?!\w)"
    parted = [each for each in below if re.search(units, each)]
    assert not parted


def test_no_sentence_of_the_answer_is_broken_between_a_number_and_its_unit(page: str) -> None:
    (answer,) = re.findall(r'<section class="answer".*?</section>', page, re.DOTALL)
    assert "\u00a0%" in answer
    assert " %" not in answer

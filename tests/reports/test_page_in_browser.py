"""The page of a run in a real browser: it opens, filters, sorts, and shows what was recorded.

A script that is added to the page does what a user would, and what the browser then shows is read.
Without Chromium there is nothing to try it with; continuous integration installs it.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import whitecap

EVENTS = Path(__file__).parents[2] / "scenarios" / "events.yaml"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium to open the page with")


@dataclass(frozen=True, slots=True)
class Reported:
    """A run's directory with its page, and its transactions."""

    place: Path
    transactions: pd.DataFrame

    @property
    def refused(self) -> pd.DataFrame:
        """Those that were aborted."""
        return self.transactions.query("outcome == 'aborted'")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Half an hour of the events table, with its report."""
    place = tmp_path_factory.mktemp("browser") / "run"
    made = whitecap.run(EVENTS, seed=3, changes={"duration": "30 min"}, out=place)
    whitecap.report(place)
    return Reported(place, made.transactions)


def seen(run: Reported, actions: str, width: int = 1200) -> dict[str, Any]:
    """What `actions`, the body of a function that returns an object, see on the page."""
    assert CHROMIUM is not None
    page = (run.place / "report/report.html").read_text(encoding="utf-8")
    script = """<script>
    const failures = [];
    window.addEventListener("error", (event) => failures.push(event.message));
    </script>"""
    after = f"""<script>
    const by = (name) => document.getElementById("lanes-" + name);
    const click = (name) => by(name).click();
    const choose = (name, value) => {{
      const select = by(name);
      select.value = [...select.options].find((option) => option.textContent === value).value;
      select.onchange();
    }};
    const seen = (() => {{ {actions} }})();
    const told = document.createElement("pre");
    told.id = "seen";
    told.textContent = JSON.stringify({{ ...seen, failures }});
    document.body.append(told);
    </script>"""
    tried = run.place / "tried.html"
    text = page.replace("<body>", f"<body>{script}", 1).replace("</body>", f"{after}</body>")
    tried.write_text(text, encoding="utf-8")
    shown = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900",
            f"--user-data-dir={run.place / 'profile'}", "--dump-dom", tried.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=300,
    ).stdout  # fmt: skip
    matched = re.search(r'<pre id="seen">(.*?)</pre>', shown, re.DOTALL)
    assert matched, shown[-2000:]
    result: dict[str, Any] = json.loads(html.unescape(matched[1]))
    assert result["failures"] == []
    return result


def test_it_opens_and_counts_the_transactions_of_the_recording(run: Reported) -> None:
    transactions = run.transactions
    writers = transactions["writer"].nunique()
    assert seen(run, 'return { count: by("count").textContent };')["count"] == (
        f"{len(transactions):,} transactions of {writers} writers, {len(run.refused):,} refused"
    )


def test_the_next_refusal_is_told_with_rule_source_evidence_and_winner(run: Reported) -> None:
    detail = seen(run, 'click("next"); return { text: by("detail").textContent };')["text"]
    first = run.refused.sort_values("snapshot_at_ms", kind="stable").iloc[0]
    for name in ("writer", "command", "exception", "rule", "evidence"):
        assert str(first[name]) in detail
    winner = run.transactions.query(f"committed_version == {first['winning_version']}").iloc[0]
    assert f"{winner['writer']}, version {first['winning_version']:.0f}" in detail
    assert "ConflictChecker.scala" in detail


def test_it_filters_by_writer_group_and_by_exception(run: Reported) -> None:
    name = run.refused["exception"].value_counts().index[0]
    counts = seen(
        run,
        f"""choose("exception", {json.dumps(name)});
        const narrowed = by("count").textContent;
        choose("exception", "all"); choose("group", "loader");
        return {{ narrowed, loaders: by("count").textContent }};""",
    )
    refusals = (run.refused["exception"] == name).sum()
    assert counts["narrowed"].endswith(f" {refusals:,} refused")
    loaders = run.transactions.query("writer_group == 'loader'")
    assert counts["loaders"].startswith(f"{len(loaders):,} transactions of ")


def test_it_is_zoomed_and_moved_with_the_keyboard(run: Reported) -> None:
    pixels = seen(
        run,
        """const canvas = by("canvas");
        const press = (key) => canvas.onkeydown(new KeyboardEvent("keydown", { key }));
        press("n"); const first = by("detail").textContent;
        press("n"); const second = by("detail").textContent;
        press("p"); press("+"); press("ArrowRight"); press("Home");
        return { moved: first !== second, back: first === by("detail").textContent };""",
    )
    assert pixels["moved"]
    assert pixels["back"]


def test_a_table_is_sorted_by_a_heading_and_back(run: Reported) -> None:
    columns = seen(
        run,
        """const tables = [...document.querySelectorAll("table")].filter((each) => each.tHead);
        const table = tables.find((each) => each.tBodies[0].rows.length > 3);
        const names = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
        const value = (row) => parseFloat(row.cells[1].textContent);
        const values = () => [...table.tBodies[0].rows].map(value);
        const button = table.tHead.rows[0].cells[1].querySelector("button"), before = names();
        button.click(); const down = values();
        button.click(); const up = values();
        button.click();
        return { before, after: names(), down, up };""",
    )
    numbers = [value for value in columns["down"] if value is not None]
    assert numbers == sorted(numbers, reverse=True)
    assert [value for value in columns["up"] if value is not None] == sorted(numbers)
    assert columns["before"] == columns["after"]


def test_what_has_no_number_stands_behind_and_a_name_with_one_is_a_name(run: Reported) -> None:
    orders = seen(
        run,
        """const tables = [...document.querySelectorAll("table")].filter((each) => each.tHead);
        const table = tables.find((each) => each.tBodies[0].rows.length > 3);
        const cells = () => [...table.tBodies[0].rows].map((row) => row.cells[1]);
        const button = table.tHead.rows[0].cells[1].querySelector("button");
        const first = () => cells().slice(0, 3).map((cell) => cell.textContent);
        const sorted = (texts) => {
          cells().forEach((cell, n) => { cell.textContent = texts[n] ?? texts.at(-1); });
          button.click(); const down = first();
          button.click(); const up = first();
          button.click();
          return { down, up };
        };
        return {
          numbers: sorted(["n/a", "2 %", "10 %", "n/a"]),
          names: sorted(["merger-2", "merger-10", "merger-1", "merger-3"]),
        };""",
    )
    assert orders["numbers"] == {"down": ["10 %", "2 %", "n/a"], "up": ["2 %", "10 %", "n/a"]}
    assert orders["names"]["up"] == ["merger-1", "merger-2", "merger-3"]
    assert orders["names"]["down"][0] == "merger-10"


@pytest.mark.parametrize("width", [500, 2000])
def test_nothing_is_wider_than_the_window(run: Reported, width: int) -> None:
    wide = "return { over: document.documentElement.scrollWidth - window.innerWidth };"
    assert seen(run, wide, width)["over"] <= 0


def test_nothing_of_where_it_is_from_is_cut_off(run: Reported) -> None:
    for width in (500, 1200):
        seen_there = seen(
            run,
            """const box = document.querySelector(".origins").parentElement;
            return { needed: box.scrollWidth, there: box.clientWidth };""",
            width,
        )
        assert seen_there["needed"] <= seen_there["there"]


def test_figures_stay_legible_on_a_telephone_and_scroll_with_the_keyboard(run: Reported) -> None:
    figures = seen(
        run,
        """const all = [...document.querySelectorAll("main figure")];
        all[0].focus();
        return { widths: all.map((each) => each.querySelector("img").clientWidth),
          scrolls: all.map((each) => each.scrollWidth > each.clientWidth),
          page: document.documentElement.scrollWidth - innerWidth,
          focused: document.activeElement === all[0] };""",
        500,
    )
    assert min(figures["widths"]) > 700
    assert all(figures["scrolls"])
    assert figures["focused"]
    assert figures["page"] <= 0

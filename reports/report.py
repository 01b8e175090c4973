"""Making a report: tables, figures, answer and page of a sweep's or a run's directory.

Everything is written under `report/` and depends on the recordings only: the same recordings
give the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from whitecap.reports.agreement import read_agreement
from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.of_runs import answer_of_subject
from whitecap.reports.figures.figures import draw_all
from whitecap.reports.figures.style import save
from whitecap.reports.pages.lanes import lanes_of_run
from whitecap.reports.pages.page import page_of
from whitecap.reports.runs import RunSet
from whitecap.reports.subject import Subject, subject_of


class Report(Struct, frozen=True):
    """What was made: the page, the figures (PNG), the directory of the tables, and the answer."""

    page: Path
    figures: tuple[Path, ...]
    tables: Path
    answer: WordedAnswer
    subject: Subject

    def __repr__(self) -> str:
        return f"{self.answer}\n\nreport  {self.page}"


def build_report(runs: RunSet) -> Report:
    """Make the report of these runs, in their directory.

    The runs of a sweep are measured only when the tables are not there yet or runs were added.

    Raises `InvalidInput`: recordings or what a replay left there are broken; all problems together.
    """
    root = runs.root
    agreement = read_agreement(root)
    subject, answer = analyse(runs)
    directory = root / "report"
    drawings = list(draw_all(subject))
    files = [save(drawing.figure, directory / "figures", drawing.name) for drawing in drawings]
    shown = [(drawing, svg) for drawing, (_, svg) in zip(drawings, files, strict=True)]
    page = directory / "report.html"
    lanes = None if runs.is_sweep else lanes_of_run(root)
    text = page_of(subject, answer, shown, agreement, _scenario_text(runs), lanes)
    page.write_text(text, encoding="utf-8")
    figures = tuple(png for png, _ in files)
    return Report(page, figures, directory / "tables", answer, subject)


def analyse(runs: RunSet) -> tuple[Subject, WordedAnswer]:
    """The tables of the runs, written under `report/`, and the answer that they give."""
    subject = subject_of(runs)
    answer = answer_of_subject(subject)
    answer.write(runs.root / "report" / "answer.json")
    return subject, answer


def _scenario_text(runs: RunSet) -> str:
    """The scenario as recorded: YAML beside a run, JSON in a sweep's definition."""
    recorded = runs.root / "scenario.yaml"
    if recorded.is_file():
        return recorded.read_text(encoding="utf-8")
    parts = {key: runs.definition[key] for key in ("scenario", "axes") if key in runs.definition}
    return json.dumps(parts, indent=2, ensure_ascii=False) if parts else ""

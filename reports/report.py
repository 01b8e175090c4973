"""Making a report: tables, figures, answer and page of a sweep's or a run's directory.

Everything is written under `report/` and depends on the recordings only: the same recordings
give the same bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whitecap.reports.agreement import read_agreement
from whitecap.reports.answers.answer import Answer
from whitecap.reports.answers.of_runs import answer_of_subject
from whitecap.reports.figures.figures import draw_all
from whitecap.reports.figures.style import save
from whitecap.reports.pages.page import page_of
from whitecap.reports.runs import RunSet, find_runs
from whitecap.reports.subject import Subject, subject_of

if TYPE_CHECKING:
    from whitecap.reports.aggregate import MeasureEach


@dataclass(frozen=True, slots=True)
class Report:
    """What was made: the page, the figures (PNG), the directory of the tables, and the answer."""

    page: Path
    figures: tuple[Path, ...]
    tables: Path
    answer: Answer
    subject: Subject


def build_report(root: Path, measure_each: MeasureEach) -> Report:
    """Make the report of the directory `root`.

    `measure_each` has runs of a sweep measured; it is called only when the tables are not there yet
    or runs were added since.

    Raises `InvalidInput`: `root` holds no recordings, or broken ones; all problems together.
    """
    runs = find_runs(root)
    agreement = read_agreement(root)
    subject, answer = analyse(runs, measure_each)
    directory = root / "report"
    drawings = list(draw_all(subject))
    files = [save(drawing.figure, directory / "figures", drawing.name) for drawing in drawings]
    shown = [(drawing, svg) for drawing, (_, svg) in zip(drawings, files, strict=True)]
    page = directory / "report.html"
    text = page_of(subject, answer, shown, agreement, _scenario_text(runs))
    page.write_text(text, encoding="utf-8")
    figures = tuple(png for png, _ in files)
    return Report(page, figures, directory / "tables", answer, subject)


def analyse(runs: RunSet, measure_each: MeasureEach) -> tuple[Subject, Answer]:
    """The tables of the runs, written under `report/`, and the answer that they give."""
    subject = subject_of(runs, measure_each)
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

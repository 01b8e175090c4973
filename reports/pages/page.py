"""The report's page: one HTML file with its images inside, that opens without a network."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from whitecap.reports.agreement import ReportedAgreement
from whitecap.reports.answers.answer import WordedAnswer
from whitecap.reports.answers.behind import limiting_cell, why_limiting
from whitecap.reports.damage import damage_sentences
from whitecap.reports.fewest import FEWEST_REPLICATIONS
from whitecap.reports.figures.figures import Drawing
from whitecap.reports.markup.templating import template
from whitecap.reports.measures import measures_shown
from whitecap.reports.measures.refusals import refusal_sentences
from whitecap.reports.pages.page_answer import differences_table, objectives_table
from whitecap.reports.pages.page_tables import (
    PageTable,
    definitions,
    exceptions_table,
    groups_table,
    left_out_table,
    measures_table,
    refusals_table,
    replay_table,
)
from whitecap.reports.subject import Subject


class ShownFigure(Struct, frozen=True):
    """A figure on the page: its image as a data URI, and the table that it is drawn from."""

    name: str
    headline: str
    reading: str
    image: str
    table: PageTable | None


def page_of(
    subject: Subject,
    answer: WordedAnswer,
    drawings: Sequence[tuple[Drawing, Path]],
    agreement: ReportedAgreement | None,
    scenario_text: str,
    lanes: str | None = None,
) -> str:
    """The whole page; `drawings` come with their SVG files, `lanes` a run's timeline (JSON)."""
    is_sweep = subject.runs.is_sweep
    measures = measures_shown(subject.runs.is_priced)
    return template("report.html").render(
        subject=subject,
        fewest=FEWEST_REPLICATIONS,
        provenance=subject.provenance,
        answer=answer,
        agreement=agreement,
        replayed=replay_table(agreement) if agreement else None,
        damaged=list(_damaged(subject)),
        objectives=objectives_table(subject, answer),
        summary=measures_table(subject, measures, answer.cell if is_sweep else None),
        figures=[_shown(subject, drawing, svg) for drawing, svg in drawings],
        differences=differences_table(subject, answer) if is_sweep else None,
        stopped=_stopped(subject, answer if is_sweep else None),
        left_out=left_out_table(subject),
        groups=groups_table(subject) if is_sweep else None,
        definitions=definitions(measures),
        scenario_text=scenario_text,
        lanes=lanes,
    )


def _damaged(subject: Subject) -> Iterator[str]:
    """What is wrong with the tables that the runs left, of a sweep cell by cell."""
    runs, layout = subject.runs, subject.layout
    titles = {name: layout.title(name) if runs.is_sweep else "Damage" for name in runs.cells}
    for name, title in titles.items():
        for sentence in damage_sentences(runs.manifests_of(name)):
            yield f"{title}: {sentence}."


class WhoStopsWhom(Struct, frozen=True):
    """Sentences and table of one cell (where the answer's design first falls
    short, or a run's writers together), and the table of all."""

    where: str
    why: str
    sentences: tuple[str, ...]
    table: PageTable
    all_cells: PageTable | None


def _stopped(subject: Subject, answer: WordedAnswer | None) -> WhoStopsWhom:
    names = [cell.name for cell in subject.layout.cells]
    shown = limiting_cell(answer.findings) if answer else names[0]
    several = len(names) > 1 and subject.runs.is_sweep
    return WhoStopsWhom(
        where=subject.layout.title(shown) if several else "",
        why=why_limiting(answer.findings) if several and answer else "",
        sentences=tuple(refusal_sentences(subject.tables.refusals_of(shown))),
        table=refusals_table(subject, [shown]),
        all_cells=refusals_table(subject, names) if several else None,
    )


def _shown(subject: Subject, drawing: Drawing, svg: Path) -> ShownFigure:
    table: PageTable | None = None
    if drawing.measures == ("exceptions",):
        table = exceptions_table(subject)
    elif drawing.measures:
        table = measures_table(subject, drawing.measures)
    content = base64.b64encode(svg.read_bytes()).decode("ascii")
    image = f"data:image/svg+xml;base64,{content}"
    return ShownFigure(drawing.name, drawing.headline, drawing.reading, image, table)

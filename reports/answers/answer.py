"""The answer of a sweep or a run: a sentence, what stands behind it, and all of it as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from whitecap.reports.answers.document import document_of
from whitecap.reports.answers.findings import AnswerFindings, findings_of
from whitecap.reports.answers.grid import DesignGrid
from whitecap.reports.answers.objectives import ObjectiveSet
from whitecap.reports.answers.settling import Settling, settling_document, settling_of
from whitecap.reports.answers.standing import CellStanding
from whitecap.reports.answers.wording import headline_of, sentences_of
from whitecap.reports.documents import write_document
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.precision.asked import Asked
from whitecap.reports.precision.reached import ReachedPrecision, reached_by, reached_document
from whitecap.reports.words import sentence


class WordedAnswer(Struct, frozen=True):
    """`headline` in one sentence, `sentences` behind it, and the `findings` that they tell."""

    headline: str
    sentences: tuple[str, ...]
    findings: AnswerFindings
    reached: tuple[ReachedPrecision, ...] = ()
    """How exactly measures are known that were asked for with `until`."""
    settling: Settling = field(default_factory=Settling)
    """What is left out as warm-up, and what would have to be."""

    def __str__(self) -> str:
        return "\n".join((f"{self.headline}.", *(f"  {each}" for each in self.sentences)))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from whitecap.reports.markup.notebook_part import notebook_part

        return notebook_part(str(self).splitlines())

    @property
    def cell(self) -> str:
        """The cell that it is about: what to choose, under the heaviest load that it takes."""
        return self.findings.cell

    @property
    def standings(self) -> dict[str, CellStanding]:
        """How every cell stands to its objectives, lightest load first."""
        return self.findings.standings

    @property
    def document(self) -> dict[str, object]:
        """All of it, made of what JSON knows."""
        return {
            "headline": self.headline,
            "sentences": list(self.sentences),
            **document_of(self.findings),
            "until": list(map(reached_document, self.reached)),
            "warm_up": settling_document(self.settling),
        }

    def write(self, path: Path) -> None:
        """As JSON, for the replay and for scripts."""
        write_document(path, self.document)


def answer_of(
    measured: Mapping[str, Runs],
    grid: DesignGrid,
    objectives: ObjectiveSet,
    asked: Sequence[Asked] = (),
    damaged: Collection[str] = (),
) -> WordedAnswer:
    """The answer of the cells that have runs; of at least one. Runs of the `damaged` ones did not
    leave the table whole."""
    findings = findings_of(measured, grid, objectives, damaged)
    titles = {grid.layout.title(cell): runs for cell, runs in measured.items()}
    reached = reached_by(asked, titles)
    settling = settling_of(titles)
    warned = [str(settling)] if settling.cells else []
    before, behind = (warned, []) if settling.is_warning else ([], warned)
    sentences = (
        *map(sentence, [*before, *map(str, reached)]),
        *sentences_of(findings, measured),
        *map(sentence, behind),
    )
    return WordedAnswer(headline_of(findings), sentences, findings, reached, settling)

"""What stands below a summary: what it leaves out, who stopped whom, and what was expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whitecap.reports.answers.overload import Overload
from whitecap.reports.answers.standing import ObjectiveStanding
from whitecap.reports.damage import damage_sentences
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import (
    JobsLeftOpen,
    half_done_sentence,
    left_out_sentences,
)
from whitecap.reports.measures.refusals import (
    RefusalCount,
    groups_stopping_themselves,
    refusal_sentences,
)
from whitecap.reports.measures.writing import percent
from whitecap.reports.provenance import compaction_sentences, stores_of, tables_of
from whitecap.sim.describing.in_step import after_the_end, in_step
from whitecap.terminal.table import print_indented, print_trimmed

if TYPE_CHECKING:
    from whitecap.reports.expectations.cells import JudgedCells
    from whitecap.reports.expectations.judging import Judged
    from whitecap.reports.layout import SweepLayout
    from whitecap.sim.scenario.model import Scenario

CAUSES_SHOWN = 4
"""Of each loser; the table of refusals has them all."""

CELLS_SHOWN = 3
"""Of those that do not meet an expectation."""

STYLES = {
    ObjectiveStanding.MET: "green",
    ObjectiveStanding.MISSED: "red",
    ObjectiveStanding.UNDECIDED: "yellow",
    ObjectiveStanding.TOO_FEW: "dim",
}
"""By how an expectation or objective came out."""


def show_left_out(console: Console, left_out: Mapping[WriterCommand, JobsLeftOpen]) -> None:
    """A line for each writer group whose success and latency do not say all."""
    for sentence in left_out_sentences(left_out):
        print_indented(console, sentence, by=0)


def show_refusals(console: Console, refusals: Sequence[RefusalCount]) -> None:
    """Each loser with its most frequent causes, then what that amounts to."""
    for loser in dict.fromkeys(each.loser for each in refusals):
        own = [each for each in refusals if each.loser == loser]
        console.print(Text(f"{_named(loser)}: {own[0].aborts:,} aborted"))
        print_trimmed(console, _causes(own[:CAUSES_SHOWN]))
        if len(own) > CAUSES_SHOWN:
            rest = own[CAUSES_SHOWN:]
            causes = "one other cause" if len(rest) == 1 else f"{len(rest)} other causes"
            console.print(Text(f"  {sum(each.count for each in rest):,} for {causes}"))
    for sentence in refusal_sentences(refusals):
        print_indented(console, f"{sentence}.", by=0)


def show_in_step(console: Console, scenario: Scenario, refusals: Sequence[RefusalCount]) -> None:
    """Of each writer group that is mostly aborted by itself, why its members meet, if they do by
    how they are described."""
    itself = groups_stopping_themselves(refusals)
    for group, said in in_step(scenario).items():
        if group in itself:
            print_indented(console, f"{group}: {said}.", by=0)


def show_instants_after_the_end(console: Console, scenario: Scenario) -> None:
    """A line for each writer group with instants that no run of this length reaches."""
    for group, said in after_the_end(scenario).items():
        print_indented(console, f"{group}: {said}.", by=0)


def _causes(refusals: Sequence[RefusalCount]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("right", "right", "left", "left"):
        table.add_column(justify=justify, overflow="fold")
    for each in refusals:
        share = f"{percent(each.share, 2)} %"
        table.add_row(f"  {each.count:,}", share, _named(each.winner), each.exception)
    return table


def _named(group: WriterCommand) -> str:
    return " ".join(part for part in group if part)


def show_overload(console: Console, layout: SweepLayout, overload: Mapping[str, Overload]) -> None:
    """The cells of a sweep in which work piled up, with the groups, over all replications."""
    for cell, of_groups in overload.items():
        for group, due in of_groups.items():
            print_indented(console, layout.led(cell, due.said(group.writer_group)), by=0)


def show_half_done(
    console: Console, layout: SweepLayout, left_out: Mapping[str, JobsLeftOpen]
) -> None:
    """The cells of a sweep in which jobs left a commit behind, over all replications."""
    for cell, each in left_out.items():
        if each.half_done:
            print_indented(console, layout.led(cell, half_done_sentence(each)), by=0)


def show_damage(console: Console, manifests: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """What is wrong with the tables that runs left, by what is to stand before it."""
    for title, of_runs in manifests.items():
        for sentence in damage_sentences(of_runs):
            print_indented(console, f"{title}: {sentence}.", by=0, style="bold red")


def show_judged_cells(console: Console, layout: SweepLayout, judged: Sequence[JudgedCells]) -> None:
    """A line per expectation of a sweep, and below it the cells that do not meet it."""
    console.print(Text("expected, judged over replications:", style="bold"))
    for each in judged:
        show_standing(console, each.standing, f"{each}: {each.counted}")
        failing = {
            cell: judged_cell.text
            for cell, judged_cell in each.cells.items()
            if not judged_cell.is_met
        }
        show_few_cells(console, layout, failing)


def show_expectations(console: Console, title: str, judged: Sequence[Judged]) -> None:
    """A line per expectation, with what was found and how that was judged."""
    console.print(Text(title, style="bold"))
    for each in judged:
        show_standing(console, each.standing, str(each))


def show_standing(console: Console, stands: str, text: str) -> None:
    """A line that begins with how something came out."""
    kind = ObjectiveStanding(stands)
    line = Text(f"{kind.sign} {kind}: ", style=STYLES[kind])
    print_indented(console, line.append(text, style="default"), by=0)


def show_few_cells(console: Console, layout: SweepLayout, texts: Mapping[str, str]) -> None:
    """The first cells with what is to be said of each, and how many more there are."""
    for cell, text in list(texts.items())[:CELLS_SHOWN]:
        print_indented(console, layout.led(cell, text), by=4)
    if len(texts) > CELLS_SHOWN:
        print_indented(console, f"and {len(texts) - CELLS_SHOWN} more", by=4)


def show_origins(console: Console, manifests: Sequence[Mapping[str, Any]]) -> None:
    """With which real tables runs began, which figures of the stores rest on assumptions, and
    which auto compactions had no time to take."""
    sentences = [text for table in tables_of(manifests) for text in table.sentences]
    sentences += [text for store in stores_of(manifests) for text in store.sentences]
    sentences += compaction_sentences(manifests)
    for sentence in sentences:
        print_indented(console, f"{sentence}.", by=0, style="dim")

"""What stands behind an answer: who stops whom, what its numbers leave out, what nobody asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.reports.answers.findings import AnswerFindings
from whitecap.reports.answers.overload import left_out_in, overload_in
from whitecap.reports.answers.phrases import where_text
from whitecap.reports.answers.standing import ObjectiveStanding
from whitecap.reports.answers.survivors import surviving_in, unasked
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.left_out import JobsLeftOpen, added, due_sentence
from whitecap.reports.measures.measured_run import Runs
from whitecap.reports.measures.refusals import RefusalCount, ranked, refusal_sentences
from whitecap.reports.words import listed


def refusals_in(runs: Runs) -> tuple[RefusalCount, ...]:
    """Who stopped whom in a cell, over all replications."""
    return ranked(refusal for run in runs.values() for refusal in run.refusals)


def limiting_cell(findings: AnswerFindings) -> str:
    """Where to look for what stands in the way: the named design under the lightest load where it
    misses the objective, else that it is not shown to take, else under the heaviest."""
    cells = {load: cell for cell, load in findings.grid.of(findings.design)}
    missed = [c for c in cells.values() if findings.standings[c].stands is ObjectiveStanding.MISSED]
    beyond = [cell for load, cell in cells.items() if load not in findings.capacity.shown]
    return [*missed, *beyond, *reversed(cells.values())][0]


def why_limiting(findings: AnswerFindings) -> str:
    """What there is to see where one is to look: `, where it is first undecided`.

    Of a design under one load that meets its objectives nothing.
    """
    several = len(list(findings.grid.of(findings.design))) > 1
    standing = findings.standings[limiting_cell(findings)]
    match standing.stands:
        case ObjectiveStanding.MISSED:
            return f", {'where it first' if several else 'which'} misses its objectives"
        case ObjectiveStanding.UNDECIDED:
            return f", {'where it is first' if several else 'which is'} undecided"
        case ObjectiveStanding.MET if several and not standing.is_shown:
            return ", the first of which it is not sure"
    return ", under its heaviest load" if several else ""


def behind(findings: AnswerFindings, measured: Mapping[str, Runs]) -> Iterator[str]:
    """The last sentences of an answer, without full stops."""
    cell = limiting_cell(findings)
    where = _where(findings, cell)
    short = {each.held.writer for each in findings.standings[cell].short}
    refusals = [
        each
        for each in refusals_in(measured[cell])
        if not short - {None} or each.loser.writer_group in short
    ]
    causes = list(refusal_sentences(refusals))
    if causes:
        yield f"{where}{'; '.join(causes)}"
    left_out = left_out_in(measured[cell].values())
    for group, due in overload_in(left_out).items():
        yield f"{where}{due_sentence(group, due)}"
    yield from _unfinished(where, left_out)
    yield from unasked(surviving_in(findings.objectives, measured[findings.cell]))


def _where(findings: AnswerFindings, cell: str) -> str:
    """The load of a cell of the named design, and that design."""
    load = next(load for name, load in findings.grid.of(findings.design) if name == cell)
    return where_text(findings.design.title, load)


def _unfinished(where: str, left_out: Mapping[WriterCommand, JobsLeftOpen]) -> Iterator[str]:
    """What is in no success rate, and what is in no latency."""
    if not left_out:
        return
    total = added(list(left_out.values()))
    parts = []
    if total.unfinished:
        parts.append(f"{_were(total.unfinished)} unfinished at the end (not in the success rate)")
    if total.given_up:
        half_done = f", {total.half_done:,} of them half done" if total.half_done else ""
        parts.append(f"{_were(total.given_up)} given up (without a latency){half_done}")
    if parts:
        yield f"{where}of {total.jobs:,} jobs {listed(parts)}"


def _were(count: int) -> str:
    return f"{count:,} {'was' if count == 1 else 'were'}"

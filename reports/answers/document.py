"""The findings as plain values: what `answer.json` and `--json` hold."""

from __future__ import annotations

from typing import Any

from whitecap.reports.answers.findings import AnswerFindings, UnderLoad
from whitecap.reports.answers.phrases import found_text, objective_text
from whitecap.reports.answers.standing import CellStanding, JudgedObjective
from whitecap.reports.answers.wording import capacity_text
from whitecap.reports.measures.writing import finite
from whitecap.reports.statistics import EstimatedDifference


def document_of(findings: AnswerFindings) -> dict[str, Any]:
    """Everything that was found; `cell` is the one that `whitecap replay` plays."""
    return {
        "cell": findings.cell,
        "load": findings.load.title,
        "design": findings.design.title,
        "objectives": [
            {**each.as_row(), "text": objective_text(each)} for each in findings.objectives.each
        ],
        "objectives_are_default": findings.objectives.are_default,
        "capacities": [
            {
                "design": design.title,
                "for_sure": [load.title for load in capacity.heaviest_for_sure],
                "shown": [load.title for load in capacity.heaviest_shown],
                "perhaps": [load.title for load in capacity.heaviest_perhaps],
                "text": capacity_text(findings, capacity),
            }
            for design, capacity in findings.capacities.items()
        ],
        "loads": [_under_load(under) for under in findings.loads],
    }


def _under_load(under: UnderLoad) -> dict[str, Any]:
    """One load: what is named there, and how every design stands."""
    choice = under.choice
    return {
        "load": under.load.title,
        "labels": dict(under.load.labels),
        "stands": under.standing.stands.value,
        "design": under.design.title,
        "cell": under.standing.cell,
        "choice": None
        if choice is None
        else {
            "best": choice.best,
            "compared": choice.compared,
            "flattered_by": choice.flattered_by,
            "most_goodput": choice.most,
            "equal": list(choice.equal),
            "more_waste": {cell: _gap(gap) for cell, gap in choice.more_waste.items()},
            "less_goodput": {cell: _gap(gap) for cell, gap in choice.less_goodput.items()},
        },
        "designs": [
            {"design": design.title, **_standing(standing)}
            for design, standing in under.standings.items()
        ],
    }


def _standing(standing: CellStanding) -> dict[str, Any]:
    return {
        "cell": standing.cell,
        "stands": standing.stands.value,
        "is_sure": standing.is_sure,
        "replications_needed": standing.needed,
        "objectives": [_judged(each) for each in standing.objectives],
    }


def _judged(judged: JudgedObjective) -> dict[str, Any]:
    objective, estimate = judged.held.objective, judged.estimate
    return {
        "measure": objective.measure.value,
        "writer": judged.held.writer,
        "direction": objective.direction.value,
        "threshold": objective.threshold,
        "stands": judged.stands.value,
        "value": finite(judged.judged.measured),
        "low": finite(estimate.low),
        "high": finite(estimate.high),
        "statement": estimate.statement.value,
        "values": None if estimate.beyond is None else estimate.units,
        "is_overloaded": bool(judged.overload),
        "missed_at_most": judged.missed_at_most,
        "jobs": judged.jobs,
        "replications_needed": judged.needed,
        "jobs_needed": judged.needed_jobs,
        "text": found_text(judged),
    }


def _gap(gap: EstimatedDifference) -> dict[str, Any]:
    """Best minus other for goodput, other minus best for waste."""
    return {"difference": finite(gap.point), "low": finite(gap.low), "high": finite(gap.high)}

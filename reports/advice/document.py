"""What to change, as JSON has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whitecap.reports.advice.result import Advice, Behind
from whitecap.reports.advice.steps import Stood
from whitecap.reports.advice.wording import headline
from whitecap.reports.answers.phrases import objective_text
from whitecap.reports.measures.writing import finite
from whitecap.reports.planning.document import quantity_row, surviving_row
from whitecap.reports.statistics.as_rows import difference_row, estimate_row


def advice_document(advice: Advice) -> dict[str, Any]:
    """As `advice.json` and `--json` hold it."""
    searched = advice.searched
    return {
        "scenario_name": advice.scenario_name,
        "text": headline(advice),
        "met": advice.is_met,
        "objectives": [{**e.as_row(), "text": objective_text(e)} for e in advice.objectives],
        "currency": advice.currency,
        "stands": _stood(advice.stands),
        "best": _stood(advice.best),
        "steps": list(step_rows(advice)),
        "behind": [_behind(each) for each in advice.behind],
        "searched": {
            "kinds": dict(searched.kinds),
            "not_possible": dict(searched.refused),
            "designs": searched.designs,
            "looked_at": searched.looked_at,
            "runs": searched.runs,
            "fresh_replications": searched.fresh,
            "seed": searched.seed,
            "finished": not searched.is_cut,
        },
    }


def _stood(stood: Stood) -> dict[str, Any]:
    return {
        "changes": [{"kind": kind, "change": label} for kind, label in stood.design],
        "standing": stood.value.standing.value,
        "objectives": [quantity_row(each) for each in stood.value.quantities],
        "jobs_committed": [surviving_row(each) for each in stood.value.surviving],
        "cost_per_job": estimate_row(stood.cost),
    }


def step_rows(advice: Advice) -> Iterator[dict[str, Any]]:
    """A row per step and measure."""
    for number, step in enumerate(advice.steps, 1):
        for each in step.bought:
            yield {
                "step": number,
                "kind": step.kind,
                "change": step.label,
                "measure": each.followed.measure.value,
                "writer": each.followed.writer or "",
                "before": finite(each.before.point),
                "after": finite(each.after.point),
                **difference_row(each.gap, "difference"),
                "distinguishable": each.is_distinguishable,
            }


def _behind(behind: Behind) -> dict[str, Any]:
    return {
        "loser": behind.loser,
        "winner": behind.winner,
        "exception": behind.exception,
        "count": behind.count,
        "share_of_waste": finite(behind.waste),
        "statements": None if behind.statements is None else list(behind.statements),
        "answer": behind.answer,
        "suggestions": list(behind.suggestions),
    }

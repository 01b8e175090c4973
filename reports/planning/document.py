"""A plan as JSON has it."""

from __future__ import annotations

from typing import Any

from whitecap.reports.answers.phrases import objective_text
from whitecap.reports.answers.survivors import SurvivingJobs
from whitecap.reports.planning.planned import Plan, PlannedVariant
from whitecap.reports.planning.trying import Quantity
from whitecap.reports.planning.wording import boundary_text, reasons, sense_text
from whitecap.reports.statistics.as_rows import estimate_row


def plan_document(plan: Plan) -> dict[str, Any]:
    """As `plan.json` and `--json` hold it; values as a scenario takes them, shares as shares."""
    return {
        "scenario_name": plan.scenario_name,
        "path": plan.path,
        "values": {"first": plan.labels[0], "last": plan.labels[-1], "count": len(plan.labels)},
        "objectives": [{**each.as_row(), "text": objective_text(each)} for each in plan.objectives],
        "seed": plan.seed,
        "runs": plan.runs,
        "max_runs": plan.most_runs,
        "interrupted": plan.is_interrupted,
        "variants": [_variant(plan, each) for each in plan.variants],
    }


def _variant(plan: Plan, variant: PlannedVariant) -> dict[str, Any]:
    boundary = variant.boundary
    return {
        "name": variant.name,
        "text": boundary_text(boundary, plan.labels),
        "sense": None if boundary.sense is None else boundary.sense.value,
        "looked_for": sense_text(boundary.sense),
        "value": _label(plan, boundary.point),
        "low": _label(plan, boundary.low),
        "high": _label(plan, boundary.high),
        "finished": not variant.is_cut,
        "sentences": list(reasons(plan, variant)),
        "warnings": list(variant.warnings),
        "tried": [
            {
                "value": plan.labels[at],
                "standing": tried.standing.value,
                "replications": tried.replications,
                "objectives": [quantity_row(each) for each in tried.quantities],
                "jobs_committed": [surviving_row(each) for each in tried.surviving],
            }
            for at, tried in sorted(variant.tried.items())
        ],
    }


def _label(plan: Plan, at: int | None) -> str | None:
    """A value; `null` for what lies beyond the first or the last."""
    return plan.labels[at] if at is not None and 0 <= at < len(plan.labels) else None


def quantity_row(quantity: Quantity) -> dict[str, Any]:
    """One objective of one writer group at one value."""
    return {
        "measure": quantity.held.measure.value,
        "writer": quantity.held.writer or "",
        **estimate_row(quantity.estimate),
        "standing": quantity.standing.value,
        "is_idle": quantity.is_idle,
        "is_overloaded": bool(quantity.overload),
    }


def surviving_row(surviving: SurvivingJobs) -> dict[str, Any]:
    """How many jobs of a writer group whose latency is asked committed."""
    return {
        "writer": surviving.writer or "",
        **estimate_row(surviving.success),
        "is_asked": surviving.is_asked,
    }

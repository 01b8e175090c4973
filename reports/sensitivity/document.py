"""What moves a result, as JSON has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whitecap.reports.measures.writing import finite
from whitecap.reports.sensitivity.result import MovedMeasure, Sensitivity
from whitecap.reports.sensitivity.wording import verdict
from whitecap.reports.statistics.as_rows import difference_row, estimate_row


def sensitivity_document(sensitivity: Sensitivity) -> dict[str, Any]:
    """As `sensitivity.json` and `--json` hold it; shares as shares, durations in milliseconds."""
    return {
        "scenario_name": sensitivity.scenario_name,
        "seed": sensitivity.seed,
        "replications": sensitivity.replications,
        "runs": sensitivity.runs,
        "confidence_of_each": sensitivity.confidence,
        "measures": [_moved(each) for each in sensitivity.measures],
        "left_out": dict(sensitivity.left_out),
    }


def _moved(moved: MovedMeasure) -> dict[str, Any]:
    return {
        "measure": moved.followed.measure.value,
        "writer": moved.followed.writer or "",
        "stands": estimate_row(moved.stands),
        "text": verdict(moved),
        "effects": list(effect_rows(moved)),
    }


def effect_rows(moved: MovedMeasure) -> Iterator[dict[str, Any]]:
    """A row per parameter and value, the largest effect first."""
    for moving in moved.moving:
        for effect in moving.effects:
            yield {
                "measure": moved.followed.measure.value,
                "writer": moved.followed.writer or "",
                "parameter": moving.path,
                "stands": moving.stands,
                "value": effect.value,
                "there": finite(effect.estimate.point),
                **difference_row(effect.gap, "effect"),
                "distinguishable": effect.is_distinguishable,
            }

"""Runs that leave their warm-up to be found are measured together, with the same one for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import pyarrow as pa
from msgspec import Struct

from whitecap.reports.measures.measured_run import MeasuredRun, courses_of_run, measure_run
from whitecap.reports.measures.warm_up import is_auto, warm_up_in_common

K = TypeVar("K")


class Unmeasured(Struct, frozen=True):
    """A recording that waits for the others."""

    manifest: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


def measured_or_kept(
    manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> MeasuredRun | Unmeasured:
    """A run as it is measured, unless that takes the others."""
    return Unmeasured(manifest, tables) if is_auto(manifest) else measure_run(manifest, tables)


def measured_in_common(
    cells: Mapping[K, Mapping[int, MeasuredRun | Unmeasured]],
) -> dict[K, dict[int, MeasuredRun]]:
    """All runs of these cells, those that waited with one warm-up."""
    waiting = [
        [each for each in runs.values() if isinstance(each, Unmeasured)] for runs in cells.values()
    ]
    durations = [float(each.manifest["duration_ms"]) for several in waiting for each in several]
    courses = [[courses_of_run(e.manifest, e.tables) for e in several] for several in waiting]
    used_ms = warm_up_in_common(courses, min(durations, default=0.0))
    return {
        cell: {
            number: measure_run(each.manifest, each.tables, used_ms)
            if isinstance(each, Unmeasured)
            else each
            for number, each in runs.items()
        }
        for cell, runs in cells.items()
    }

"""Where the results of a check go."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from whitecap.checking import CheckedScenario
from whitecap.commands.check.showing import print_counts, print_json_of, print_result
from whitecap.commands.check.writing import print_annotations, write_junit_of, write_markdown
from whitecap.engine.errors import Problem
from whitecap.reports.checks.markdown import MARKER
from whitecap.reports.junit import BEGINS as JUNIT_BEGINS
from whitecap.sim.machine.places import refused_places, require_file


class CheckOutputs(Struct, frozen=True):
    """The files that are written, and what is printed."""

    junit: Path | None
    markdown: Path | None
    annotations: bool
    as_json: bool

    def problems(self, baseline: Path | None) -> list[Problem]:
        """What of the files cannot be written, a baseline that is updated among them."""
        return [
            *refused_places(partial(require_file, begins=JUNIT_BEGINS), self.junit),
            *refused_places(partial(require_file, begins=MARKER.encode()), self.markdown),
            *refused_places(require_file, baseline),
        ]

    def show(self, result: CheckedScenario) -> None:
        """One scenario, as soon as it is judged."""
        if not self.as_json:
            print_result(result)

    def give(self, results: Sequence[CheckedScenario]) -> None:
        """All of them."""
        if self.junit is not None:
            write_junit_of(results, self.junit)
        if self.markdown is not None:
            write_markdown(results, self.markdown)
        if self.annotations:
            print_annotations(results)
        if self.as_json:
            print_json_of(results)
        else:
            print_counts(results)

"""Where the results of a check go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from whitecap.checking import CheckedScenario
from whitecap.checking.against import Against
from whitecap.commands.check.showing import print_counts, print_json_of, print_result
from whitecap.commands.check.writing import (
    print_annotations,
    update_baseline,
    write_junit_of,
    write_markdown,
)
from whitecap.engine.errors import Problem
from whitecap.out_file import each_done
from whitecap.reports.checks.markdown import MARKER
from whitecap.reports.junit import JUNIT_BEGINS
from whitecap.sim.machine.places import refused_places, require_file, written


class CheckOutputs(Struct, frozen=True):
    """The files that are written, the baseline among them if it is updated, and what is printed.

    Where nothing can be printed the check goes on if there are files to write: `lost` tells why.
    """

    junit: Path | None
    markdown: Path | None
    baseline: Path | None
    annotations: bool
    as_json: bool
    lost: list[OSError] = field(default_factory=list)

    def problems(self) -> list[Problem]:
        """What of the files cannot be written."""
        return [
            *refused_places(partial(require_file, begins=JUNIT_BEGINS), self.junit),
            *refused_places(partial(require_file, begins=MARKER.encode()), self.markdown),
            *refused_places(require_file, self.baseline),
        ]

    def show(self, result: CheckedScenario) -> None:
        """One scenario, as soon as it is judged."""
        if not self.as_json:
            self._print(partial(print_result, result))

    def give(self, results: Sequence[CheckedScenario], compared: Against | None) -> None:
        """All of them, printed first: what cannot be written is then seen at least."""
        self._print(partial(self._print_all, results))
        each_done(*self._writing(results, compared), self._tell_lost)

    def _print(self, say: Callable[[], None]) -> None:
        if self.lost:
            return
        try:
            say()
            sys.stdout.flush()
        except OSError as error:
            if not any((self.junit, self.markdown, self.baseline)):
                raise
            self.lost.append(error)

    def _print_all(self, results: Sequence[CheckedScenario]) -> None:
        if self.annotations:
            print_annotations(results)
        if self.as_json:
            print_json_of(results)
        else:
            print_counts(results)

    def _writing(
        self, results: Sequence[CheckedScenario], compared: Against | None
    ) -> Iterator[Callable[[], None]]:
        """How each file is written."""
        if self.junit is not None:
            write = partial(write_junit_of, results)
            yield partial(written, results, write, self.junit)
        if self.markdown is not None:
            write = partial(write_markdown, results)
            yield partial(written, results, write, self.markdown)
        if self.baseline is not None and compared is not None:
            write = partial(update_baseline, compared, results)
            yield partial(written, results, write, self.baseline)

    def _tell_lost(self) -> None:
        for error in self.lost:
            raise error

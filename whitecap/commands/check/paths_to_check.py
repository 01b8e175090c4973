"""The paths of a check: sweeps that were made before, and scenarios, which are run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from whitecap.checking import CheckedScenario, check_scenarios, check_sweep
from whitecap.checking.against import Against
from whitecap.checking.scenarios import compared_with
from whitecap.sim.sweeps.read_runs import Watch
from whitecap.sim.sweeps.regression import RunEffort
from whitecap.sim.sweeps.regression_files import require_runnable
from whitecap.sweep_places import is_sweep
from whitecap.until import Until


class PathsToCheck(Struct, frozen=True):
    """The places of sweeps, and the files and folders of scenarios.

    `undecided_passes`: what the replications do not decide fails nothing.
    """

    sweeps: Sequence[str]
    scenarios: Sequence[Path]
    undecided_passes: bool

    @classmethod
    def of(cls, paths: Sequence[str], undecided_passes: bool) -> PathsToCheck:
        """Whichever each of them is."""
        sweeps = [path for path in paths if is_sweep(path)]
        scenarios = [Path(path) for path in paths if path not in sweeps]
        return cls(sweeps, scenarios, undecided_passes)

    def require_runnable(self, *, needs_expectations: bool) -> None:
        """Raises `InvalidInput` with what is wrong with the scenarios, before any is run."""
        if self.scenarios:
            require_runnable(self.scenarios, needs_expectations=needs_expectations)

    def checked(
        self, effort: RunEffort, until: Until, compared: Against | None, watch: Watch
    ) -> Iterator[CheckedScenario]:
        """Each by itself, and beside the baseline if there is one to be `compared` with.

        Sweeps come first: what is wrong with them is then told before anything runs.
        """
        for place in self.sweeps:
            result = check_sweep(place, until, needs_expectations=compared is None)
            yield self._held_to(result, compared)
        if self.scenarios:
            accept = None if compared is None else compared.accept
            for result in check_scenarios(self.scenarios, effort, until, watch, accept=accept):
                yield self._held_to(result, compared)

    def _held_to(self, result: CheckedScenario, compared: Against | None) -> CheckedScenario:
        checked = replace(result.checked, undecided_passes=self.undecided_passes)
        result = replace(result, checked=checked)
        if compared is None or compared.is_updated:
            return result
        return compared_with(result, compared.changes)

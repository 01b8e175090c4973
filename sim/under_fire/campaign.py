"""Runs of real writers, of some scenarios and of the cells of their sweeps in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from whitecap.sim.loading.loading import cell_of
from whitecap.sim.scenario import Scenario
from whitecap.sim.under_fire.clients import real_client
from whitecap.sim.under_fire.fire import burn, expected
from whitecap.sim.under_fire.order import NobodyLeft
from whitecap.sim.under_fire.verdict import LeftOut, Verdict


def run_under_fire(
    scenarios: Sequence[Scenario], numbers: range, seed: int, out: Path, python: str | None = None
) -> Iterator[Verdict | LeftOut]:
    """One run after the other, each with a table and a history below `out`.

    Raises:
        InvalidInput: there is no deltalake.
        InvariantViolated: the store does not keep what it promises.
    """
    with real_client(python) as client:
        version = client.version
    for number in numbers:
        round_, which = divmod(number, len(scenarios))
        scenario = scenarios[which]
        try:
            plan = expected(_in_turn(scenario, round_), version, seed, number)
        except NobodyLeft as lack:
            yield LeftOut(scenario.name, number, str(lack))
            continue
        burnt = burn(plan, out / f"{scenario.name}-{number}", python)
        yield Verdict(scenario.name, number, version, plan, burnt)


def _in_turn(scenario: Scenario, round_: int) -> Scenario:
    """A cell of its sweep, each in turn; the scenario itself if it has none."""
    if scenario.sweep is None:
        return scenario
    cells = list(scenario.sweep.cells())
    return cell_of(scenario, cells[round_ % len(cells)])

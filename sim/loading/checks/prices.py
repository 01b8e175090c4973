"""Is there a price where costs are asked for?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from whitecap.engine.recorded import OF_A_PRICE, Measure
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.objective import StatedObjective
from whitecap.sim.scenario.yaml.text import KeyPath, PlacedProblem


def costs_without_price(
    objectives: Mapping[int, StatedObjective], expectations: Mapping[int, Expectation]
) -> Iterator[PlacedProblem]:
    """Objectives and expectations of costs, in a scenario without a price."""
    asked: dict[KeyPath, Measure] = {
        **{("objective", at): each.measure for at, each in objectives.items()},
        **{("expect", at): each.measure for at, each in expectations.items()},
    }
    for place, measure in asked.items():
        if measure in OF_A_PRICE:
            yield place, f"{measure} needs a price: write `price: {{per_slot_hour: 0.5}}`", None

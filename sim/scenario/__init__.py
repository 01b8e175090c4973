"""What a scenario may say, and what is wrong with one by itself."""

from whitecap.sim.scenario.model import Scenario

__all__ = ["Scenario"]

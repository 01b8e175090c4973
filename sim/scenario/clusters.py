"""What writers of one cluster share besides its driver: slots, computing power, and its load; and
what an hour of a slot costs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from whitecap.engine.errors import said_unknown
from whitecap.scenarios import SCENARIOS
from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import MS_PER, Duration, Number, Whole
from whitecap.sim.scenario.yaml.text import read_yaml

MAX_LOAD_CV = 10.0
"""Of a load: most of the time hardly anything would take time, and a little takes all."""


class Load(Section):
    """Busy and quiet times, by which all Spark jobs take longer or shorter together.

    A factor of mean 1 multiplies the compute time of what begins at an instant. It is lognormal
    with the coefficient of variation `cv`, and `lasts` so long: the correlation of its logarithm
    between two instants falls by e over that time.
    """

    cv: Number = Field(gt=0, le=MAX_LOAD_CV)
    lasts: Duration

    @field_validator("lasts")
    @classmethod
    def _long_enough(cls, lasts: float) -> float:
        if lasts < MS_PER["s"]:
            raise ValueError("is shorter than a second: give compute.time that spread instead")
        return lasts


@lru_cache(maxsize=1)
def price_lists() -> dict[str, dict[str, Any]]:
    """What requests to a store cost, by the name of the list, with source and date."""
    lists: dict[str, dict[str, Any]] = read_yaml(SCENARIOS / "prices.yaml").content
    return lists


class Price(Section):
    """What computing costs: nothing that is simulated depends on it.

    A slot is what one transaction takes while its Spark job runs, whatever cores that means: a
    cluster that runs 8 at a time and costs 4 an hour has slot-hours at 0.5. With a list of
    `requests` (`scenarios/prices.yaml`) runs record the requests for their logs, and price them.
    """

    per_slot_hour: Number = Field(gt=0, le=MAX_COUNT)
    currency: str = Field(default="USD", min_length=1, max_length=12)
    requests: str | None = None

    @field_validator("requests")
    @classmethod
    def _is_listed(cls, name: str | None, others: ValidationInfo) -> str | None:
        if name is None:
            return None
        if name not in price_lists():
            raise ValueError(said_unknown("price list", name, price_lists()))
        listed, own = price_lists()[name]["currency"], others.data.get("currency")
        if own not in (None, listed):
            raise ValueError(f"the list prices of {name} are in {listed}, the price in {own}")
        return name

    @property
    def recorded(self) -> dict[str, Any]:
        """As manifests hold it."""
        return {"per_slot_hour": self.per_slot_hour, "currency": self.currency}

    @property
    def per_1000(self) -> Mapping[str, float]:
        """What 1,000 requests of a kind cost."""
        prices: dict[str, float] = {}
        return prices if self.requests is None else price_lists()[self.requests]["per_1000"]


class ClusterOptions(Section):
    """A cluster that groups of writers name.

    At most `slots` transactions run on it at a time, others wait their turn before they begin, in
    the order in which they came. So many jobs of Spark as `full_speed` says compute at full speed;
    more share it evenly, each as much slower. Both are unlimited unless they are said.
    """

    slots: Whole | None = Field(default=None, ge=1, le=MAX_COUNT)
    full_speed: Whole | None = Field(default=None, ge=1, le=MAX_COUNT)
    load: Load | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.slots is None and self.full_speed is None and self.load is None:
            raise ValueError("says nothing: give slots, full_speed or load")
        return self

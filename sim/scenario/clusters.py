"""What writers of one cluster share besides its driver: slots, computing power, and its load."""

from __future__ import annotations

from typing import Self

from pydantic import Field, field_validator, model_validator

from whitecap.sim.quantities.bounds import MAX_COUNT
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import MS_PER, Duration, Number, Whole

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

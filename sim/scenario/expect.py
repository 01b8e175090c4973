"""The `expect:` of a scenario: thresholds on what a run recorded, for regression tests."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from whitecap.engine.recorded import OF_ABORTS, Measure
from whitecap.sim.section import Section


class Expectation(Section):
    """A threshold on a measure, over all transactions or those of a writer group or command.

    With `exception`, only aborts by that class count (for `aborted` and the rates of aborts and
    conflicts). `when` names variants of the scenario's sweep, axis by axis: what is expected of
    their cells; without it, of every cell.
    """

    measure: Measure
    writer: str | None = None
    command: str | None = None
    exception: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    equals: float | None = None
    because: str = Field(default="")
    when: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if self.at_least is None and self.at_most is None and self.equals is None:
            raise ValueError("give at_least, at_most or equals")
        if self.exception and self.measure not in OF_ABORTS:
            names = ", ".join(sorted(OF_ABORTS))
            raise ValueError(f"exception goes only with the measures {names}")
        return self

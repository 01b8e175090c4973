"""The `expect:` of a scenario: thresholds on what its runs recorded, for regression tests."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from whitecap.engine.recorded import OF_ABORTS, Measure
from whitecap.sim.section import Section

Threshold = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A number: neither text nor `true`, which a lenient reading would take for one."""


class Expectation(Section):
    """A threshold on a measure, over all transactions or those of a writer group or command.

    With `exception`, only aborts by that class count (for `aborted` and the rates of aborts and
    conflicts). `when` names variants of the scenario's sweep, axis by axis: what is expected of
    their cells; without it, of every cell. Counts must hold in every replication and everything
    else is judged by its interval over them; `exactly` judges one run, of the scenario's own seed.
    """

    measure: Measure
    writer: str | None = None
    command: str | None = None
    exception: str | None = None
    at_least: Threshold | None = None
    at_most: Threshold | None = None
    equals: Threshold | None = None
    exactly: bool = Field(default=False, strict=True)
    because: str = Field(default="")
    when: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if not self.thresholds:
            raise ValueError("give at_least, at_most or equals")
        if self.exception and self.measure not in OF_ABORTS:
            names = ", ".join(sorted(OF_ABORTS))
            raise ValueError(f"exception goes only with the measures {names}")
        return self

    @property
    def thresholds(self) -> dict[str, float]:
        """The thresholds that are given, by their keys."""
        given = {"at_least": self.at_least, "at_most": self.at_most, "equals": self.equals}
        return {key: value for key, value in given.items() if value is not None}

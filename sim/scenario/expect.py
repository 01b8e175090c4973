"""The `expect:` of a scenario: thresholds on what its runs recorded, for regression tests."""

from __future__ import annotations

import re
from typing import Any, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from whitecap.engine.recorded import OF_ABORTS, Measure
from whitecap.sim.quantities.section import Section
from whitecap.sim.quantities.units import Number, parse_duration

SHARES = "shares lie between 0 and 1"
LATENCIES = "latencies are milliseconds"


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
    at_least: Number | None = None
    at_most: Number | None = None
    equals: Number | None = None
    exactly: bool = Field(default=False, strict=True)
    because: str = Field(default="")
    when: dict[str, str] = Field(default_factory=dict)

    @field_validator("at_least", "at_most", "equals", mode="before")
    @classmethod
    def _in_units_of_recordings(cls, given: Any) -> Any:
        if isinstance(given, str):
            for written, unit in ((_share_of(given), SHARES), (_ms_of(given), LATENCIES)):
                if written is not None:
                    raise ValueError(f"{given!r} is written {written:.10g} here: {unit}")
        return given

    @model_validator(mode="after")
    def _has_a_threshold(self) -> Self:
        if not self.thresholds:
            raise ValueError("give at_least, at_most or equals")
        return self

    @field_validator("exception")
    @classmethod
    def _is_of_aborts(cls, exception: str | None, others: ValidationInfo) -> str | None:
        if exception and others.data.get("measure", Measure.ABORTED) not in OF_ABORTS:
            names = ", ".join(sorted(OF_ABORTS))
            raise ValueError(f"exception goes only with the measures {names}")
        return exception

    @property
    def thresholds(self) -> dict[str, float]:
        """The thresholds that are given, by their keys."""
        given = {"at_least": self.at_least, "at_most": self.at_most, "equals": self.equals}
        return {key: value for key, value in given.items() if value is not None}


def _share_of(text: str) -> float | None:
    """The share that a percentage is; `None` of anything else."""
    percentage = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", text)
    return float(percentage[1]) / 100 if percentage else None


def _ms_of(text: str) -> float | None:
    """The milliseconds of a duration with its unit; `None` of anything else."""
    try:
        return parse_duration(text)
    except ValueError:
        return None

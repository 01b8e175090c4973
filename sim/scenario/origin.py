"""Where a store's figures are from: programs can tell what is measured from what is guessed.

A figure that rests on an `assumption` says which, whatever its basis: a fit is as sure as what it
takes for granted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from whitecap.sim.quantities.section import Section

DATE = r"^\d{4}(-\d{2}(-\d{2})?)?$"
"""A year, a month of it, or a day."""


class Basis(StrEnum):
    """How a figure came to be known."""

    MEASURED = "measured"
    FITTED = "fitted"
    PUBLISHED = "published"
    ASSUMED = "assumed"
    DEFINED = "defined"
    GIVEN = "given"

    @property
    def meaning(self) -> str:
        """In a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    Basis.MEASURED: "as somebody measured it",
    Basis.FITTED: "parameters of a model that come closest to a measurement",
    Basis.PUBLISHED: "said by the vendor, or read in the code",
    Basis.ASSUMED: "a guess, which says what it takes for granted",
    Basis.DEFINED: "so by definition",
    Basis.GIVEN: "set by the scenario",
}

Day = Annotated[
    str, BeforeValidator(lambda given: given if isinstance(given, list) else str(given))
]
"""YAML takes 2025 for a number and 2025-06-14 for a date."""


Assumption = Annotated[str, Field(min_length=1)]


class Sourced(Section):
    """Figures with their `source`, its `date`, how they are known, and on what they rest.

    An `assumption` is a sentence about all figures of the part, or of some of them one each.
    """

    source: str
    date: Day | None = Field(default=None, pattern=DATE)
    basis: Basis = Basis.GIVEN
    assumption: Assumption | dict[str, Assumption] | None = None

    @field_validator("assumption")
    @classmethod
    def _of_figures(cls, assumption: str | dict[str, str] | None) -> str | dict[str, str] | None:
        for name in assumption if isinstance(assumption, dict) else ():
            if name in ORIGIN or name not in cls.model_fields:
                raise ValueError(f"there is no figure {name!r} here")
        return assumption

    def assumption_about(self, figure: str) -> str | None:
        """What is taken for granted of one of the figures."""
        match self.assumption:
            case dict() as by_figure:
                return by_figure.get(figure)
            case of_all:
                return of_all


ORIGIN = frozenset(Sourced.model_fields)
"""Keys that say where figures are from, and change nothing about them."""

BY_THE_SCENARIO = {"source": "the scenario", "basis": Basis.GIVEN.value}
"""The origin of what a scenario sets without saying more."""


def without_origins(given: Any) -> Any:
    """A store's values alone."""
    if not isinstance(given, dict):
        return given
    return {key: without_origins(part) for key, part in given.items() if key not in ORIGIN}


def origins_lacking(given: Any, at: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """What origins in a profile's document do not say: places, and sentences about them."""
    if not isinstance(given, dict):
        return []
    lacking = [(at, said) for said in _lacks(given)] if "source" in given else []
    return lacking + [
        missing for key, part in given.items() for missing in origins_lacking(part, (*at, str(key)))
    ]


def _lacks(origin: dict[str, Any]) -> list[str]:
    bases = ", ".join(basis for basis in Basis if basis is not Basis.GIVEN)
    basis = origin.get("basis")
    checks = {
        f"'basis' is missing: {bases}": basis in (None, Basis.GIVEN),
        "'date' is missing: that of the source, such as 2025-06": (
            "date" not in origin and basis != Basis.DEFINED
        ),
        "'assumption' is missing: say what is taken for granted": (
            basis == Basis.ASSUMED and not origin.get("assumption")
        ),
    }
    return [said for said, is_so in checks.items() if is_so]

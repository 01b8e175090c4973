"""Types of options, which say in our words what a value should have been (`mistakes.py`)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whitecap.engine.errors import nearest
from whitecap.options.mistakes import note_mistake

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:  # click before 8.2 has no type of what is chosen
    _Choice = click.Choice


class WholeNumber(click.IntRange):
    """A whole number within bounds; `--help` asks for `N`."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; what it is not is noted."""
        try:
            number = int(value)
        except ValueError:
            return note_mistake(f"needs a whole number, not {value!r}", param, ctx)
        low, high = self.min or 0, math.inf if self.max is None else self.max
        if low <= number <= high:
            return number
        bounds = f"{low} or more" if self.max is None else f"between {low} and {high:,}"
        return note_mistake(f"{number} is not {bounds}", param, ctx)

    def _describe_range(self) -> str:
        """As `--help` says it."""
        low = self.min or 0
        return f"{low} or more" if self.max is None else f"{low} to {self.max:,}"


class Seed(WholeNumber):
    """A whole number of which `--help` does not name the ends, which nobody comes near."""

    def _describe_range(self) -> str:
        return ""


class Positive(click.FloatRange):
    """A number of minutes or seconds: more than nothing, or at least so many."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; what it is not is noted."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            return note_mistake(f"needs a number, not {value!r}", param, ctx)
        low = self.min or 0.0
        if number > low or (number == low and not self.min_open):
            return number
        return note_mistake(f"{number:g} is not {self._describe_range()}", param, ctx)

    def _describe_range(self) -> str:
        """As messages and `--help` say it."""
        low = self.min or 0.0
        return f"more than {low:g}" if self.min_open else f"{low:g} or more"


class PlaceOf(click.Path):
    """A path that names something: `--out ""`, as of an unset variable, does not."""

    def __init__(self, kind: type[Path] | type[str] = Path) -> None:
        super().__init__(path_type=kind)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; what it is not is noted."""
        if str(value).strip():
            return super().convert(value, param, ctx)
        if param is None or param.required:
            raise click.BadParameter("is empty", ctx, param)
        return note_mistake("is empty", param, ctx)


class WordOf(_Choice):
    """One of a few words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word; what is none of them is noted, with the nearest."""
        if value in self.choices:
            return str(value)
        said = f"{value!r} is none of {', '.join(self.choices)}"
        return note_mistake(said, param, ctx, nearest(str(value), self.choices))

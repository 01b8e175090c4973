"""The parameter that a plan varies: `writers.etl.count=1..200`, `...every=10 s..10 min`.

Whole numbers go up by one, or by the step that is given; durations, rates and other numbers through
all values with two digits, 10 s, 11 s, ... 99 s, 100 s, 110 s, or by their step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, gathered
from whitecap.sim.quantities.units import (
    MS_PER,
    parse_duration,
    parse_rate,
    show_duration,
)
from whitecap.sim.scenario.sweep import Changes, shared_by_all_cells

EXAMPLE = "writers.etl.count=1..200"

MOST_VALUES = 100_000
"""More than anybody can tell apart."""

_FORM = re.compile(r"\s*(?P<path>[^=\s]+)\s*=\s*(?P<low>.+?)\s*\.\.\s*(?P<high>[^:]+?)\s*"
                   r"(?::\s*(?P<step>.+?)\s*)?")  # fmt: skip
_RATE_UNIT = re.compile(r"(?:per|/)\s*(ms|s|min|h|d)\s*$")


class Varied(Struct, frozen=True):
    """A parameter by its dotted path, and its values upward: as a scenario takes them, as numbers
    (durations in milliseconds, rates per millisecond) and as people write them."""

    path: str
    values: tuple[Any, ...]
    numbers: tuple[float, ...]
    labels: tuple[str, ...]


class NumberKind(Struct, frozen=True):
    """How numbers of a kind are read and written; `base` is what two digits are counted in."""

    read: Callable[[str], float]
    write: Callable[[float], Any]
    base: float = 1.0
    is_whole: bool = False


def varied_by(text: str) -> Varied:
    """What is to be varied, from where to where. Raises `InvalidInput` with all that is wrong."""
    parts = _FORM.fullmatch(text)
    if parts is None:
        said = f"is not PATH=LOW..HIGH, such as {EXAMPLE}"
        raise InvalidInput([Problem(f"vary {text!r}", said)])
    path, low, high, step = (parts[name] for name in ("path", "low", "high", "step"))
    kind = _kind_with_step(path, [low, high], step)
    first, last = kind.read(low), kind.read(high)
    by = kind.read(step) if step else 1.0 if kind.is_whole else None
    with gathered() as problems:
        problems += shared_by_all_cells([path])
        if first > last:
            problems.append(Problem(path, f"{low} is more than {high}: write {high}..{low}"))
        if by is not None and by <= 0:
            problems.append(Problem(path, f"the step {step} is not more than 0"))
        elif by is not None and (last - first) / by > MOST_VALUES:
            problems.append(Problem(path, f"more than {MOST_VALUES:,} values: give a step, :N"))
    numbers = list(_by_step(first, last, by) if by else _by_digits(first, last, kind.base))
    values = tuple(kind.write(number) for number in numbers)
    return Varied(path, values, tuple(numbers), tuple(map(str, values)))


def _kind_with_step(path: str, ends: list[str], step: str | None) -> NumberKind:
    """What the ends are, and the step if there is one. Raises `InvalidInput`."""
    if step is None:
        return kind_of(path, ends)
    with suppress(InvalidInput):
        return kind_of(path, [*ends, step])
    kind_of(path, ends)
    said = f"the step {step} does not go with {'..'.join(ends)}: write it as these are written"
    raise InvalidInput([Problem(path, said)])


def ends_of(text: str) -> dict[str, Changes]:
    """What both ends set, by what people write: each by itself, whatever is wrong between them.

    So it can be asked whether there is such a parameter. An end that is no number sets nothing.
    """
    parts = _FORM.fullmatch(text)
    if parts is None:
        return {}
    path, ends = parts["path"], (parts["low"], parts["high"])
    kinds = ((end, _kind_if_any(path, end)) for end in ends)
    values = [kind.write(kind.read(end)) for end, kind in kinds if kind]
    return {str(value): {path: value} for value in values}


def _kind_if_any(path: str, text: str) -> NumberKind | None:
    try:
        return kind_of(path, [text])
    except InvalidInput:
        return None


def kind_of(path: str, texts: list[str]) -> NumberKind:
    """What all of these are. Raises `InvalidInput` if they are not of one kind that has numbers."""
    unit = _RATE_UNIT.search(texts[0])
    base = MS_PER[unit[1]] if unit else 1.0
    kinds = [
        NumberKind(int, int, is_whole=True),
        NumberKind(float, lambda number: float(f"{number:.10g}")),
        NumberKind(parse_duration, show_duration, _base_of(texts[0])),
        NumberKind(
            parse_rate, lambda rate: f"{rate * base:.6g} per {unit[1] if unit else 's'}", 1 / base
        ),
    ]
    for kind in kinds:
        if all(_is_read(kind, text) for text in texts):
            return kind
    said = (
        f"{'..'.join(texts[:2])} are not two numbers, two durations (10 s) or two rates (3 per min)"
    )
    raise InvalidInput([Problem(path, said)])


def _is_read(kind: NumberKind, text: str) -> bool:
    try:
        return math.isfinite(kind.read(text))
    except (ValueError, OverflowError):  # the second of an integer that is more than any float
        return False


def _base_of(text: str) -> float:
    """The unit of a duration as it was written; two digits are counted in it."""
    unit = re.search(r"(ms|s|min|h|d)\s*$", text)
    return MS_PER[unit[1]] if unit else 1.0


def _by_step(first: float, last: float, step: float) -> Iterator[float]:
    count = math.floor((last - first) / step + 1e-9)
    for number in range(count + 1):
        yield _rounded(first + number * step)
    if first + count * step < last - 1e-9 * step:
        yield last


def _by_digits(first: float, last: float, base: float) -> Iterator[float]:
    """From first to last by the second digit; from 0 the least that is told apart is 1 % of
    the last."""
    at = first
    while at < last * (1 - 1e-9):
        yield at
        size = max(at / base, last / base / 100)
        step = 10.0 ** (math.floor(math.log10(size) + 1e-9) - 1) * base
        at = _rounded((math.floor(at / step + 1e-6) + 1) * step)
    yield last


def _rounded(number: float) -> float:
    """Without what adding floats leaves in the last digits."""
    return float(f"{number:.12g}")

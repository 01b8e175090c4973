"""A baseline: what scenarios did in every replication, in a file that can be read and diffed.

JSON, one line for each measure of each writer group. Shares keep numerator and denominator of every
replication, rates count and minutes; of latencies the percentile of each replication is kept, not
every latency.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from whitecap.engine.errors import InvalidInput, Problem, require_format, unreadable
from whitecap.engine.recorded import Measure
from whitecap.reports.comparisons.sides import DIGITS_THAT_COUNT, Kept, PerRun, Series, Side, Sides
from whitecap.reports.measures.counting import PERCENTILES
from whitecap.reports.measures.groups import WriterCommand
from whitecap.reports.measures.stored import STORED_NUMBERS, numbers_of, tally_of
from whitecap.reports.measures.tally import Count, CountedShare, Latencies, PerMinute, WeightedShare

FORMAT_VERSION = 1

UPDATE_COMMAND = "whitecap check --update-baseline"
"""What writes a baseline, to whoever reads one: the command, or the plugin of pytest."""

AGAIN = f"write it anew with {UPDATE_COMMAND}"

WITHOUT_IT = f"remove it and {AGAIN}"
"""Of a file that cannot be read: what else is in it would be lost without a word."""

_VALUE = "value"


class BaselineScenario(Struct, frozen=True):
    """One scenario: from which seed, and every cell. `source` is its file as it was called."""

    name: str
    source: str
    seed: int
    sides: Sides

    @property
    def replications(self) -> int:
        """How many there are of the cell that has most."""
        return max((len(side.replications) for side in self.sides.values()), default=0)


class Baseline(Struct, frozen=True):
    """Scenarios by their names, and the code that made each of them."""

    scenarios: Mapping[str, BaselineScenario] = field(default_factory=dict)
    made_by: Mapping[str, str] = field(default_factory=dict)

    def with_these(self, several: Sequence[BaselineScenario], code_version: str) -> Baseline:
        """With these scenarios in the place of those of the same names."""
        new = {each.name: each for each in several}
        made_by = {**self.made_by, **dict.fromkeys(new, code_version)}
        return Baseline({**self.scenarios, **new}, made_by)

    @property
    def text(self) -> str:
        """The file: scenarios by their names, so that a change of one is a change there."""
        document = {
            "format_version": FORMAT_VERSION,
            "scenarios": [
                {"name": name, "made_by": self.made_by[name], **_scenario(self.scenarios[name])}
                for name in sorted(self.scenarios)
            ],
        }
        return "\n".join(_lines(document)) + "\n"


def as_stored(stored: BaselineScenario) -> BaselineScenario:
    """A scenario as it is read back from a baseline: with what is kept of it, and no more."""
    return _stored({"name": stored.name, **_scenario(stored)})


def read_baseline(path: Path) -> Baseline:
    """A baseline's file.

    Raises `InvalidInput`: it is not there, is none, or is of another format version; with what to
    do.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        said = f"there is no such baseline: {UPDATE_COMMAND} writes it"
        raise InvalidInput([Problem(str(path), said)]) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    return _baseline(path, document)


def _baseline(path: Path, document: Any) -> Baseline:
    version = document.get("format_version") if isinstance(document, dict) else None
    if version is None:
        raise InvalidInput([Problem(str(path), "is no baseline: it has no format_version")])
    require_format(version, FORMAT_VERSION, str(path), WITHOUT_IT)
    try:
        scenarios = {each["name"]: _stored(each) for each in document["scenarios"]}
        made_by = {each["name"]: str(each["made_by"]) for each in document["scenarios"]}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput([Problem(str(path), f"is damaged ({error!r}): {WITHOUT_IT}")]) from None
    return Baseline(scenarios, made_by)


def _scenario(stored: BaselineScenario) -> dict[str, Any]:
    return {
        "source": stored.source,
        "seed": stored.seed,
        "cells": [
            {
                "cell": cell,
                "digest": side.digest,
                "replications": sorted(side.replications),
                "writers": [
                    {**_named(group), **_measures(measures, sorted(side.replications))}
                    for group, measures in side.groups.items()
                ],
            }
            for cell, side in stored.sides.items()
        ],
    }


def _named(group: WriterCommand) -> dict[str, str | None]:
    """A writer group and its command; neither where all writers are meant."""
    return {name: value or None for name, value in group._asdict().items()}


def _measures(
    measures: Mapping[Measure, Series], replications: Sequence[int]
) -> dict[str, dict[str, list[Any]]]:
    """Every measure that has a number, with a list of each of its parts."""
    written = {}
    for measure, series in measures.items():
        parts = [_parts(series[n]) if n in series else {} for n in replications]
        names = dict.fromkeys(name for each in parts for name in each)
        lists = {name: [_number(each.get(name)) for each in parts] for name in names}
        if any(number is not None for several in lists.values() for number in several):
            written[measure.value] = lists
    return written


def _parts(kept: Kept) -> dict[str, float]:
    """A tally by what it is made of; what says nothing is left out."""
    if isinstance(kept, PerRun | Latencies):
        return {_VALUE: kept.value}
    numbers = zip(STORED_NUMBERS, numbers_of(kept), strict=True)
    return dict(islice(numbers, _NUMBERS_OF_TALLY[type(kept)]))


_NUMBERS_OF_TALLY: Mapping[type, int] = {Count: 1, CountedShare: 2, PerMinute: 2, WeightedShare: 4}
"""How many of the `NUMBERS` say all of a tally."""


def _number(value: float | None) -> float | int | None:
    if value is None or not math.isfinite(value):
        return None
    number = round(float(value), DIGITS_THAT_COUNT)
    return int(number) if number.is_integer() else number


def _stored(row: Mapping[str, Any]) -> BaselineScenario:
    cells = {str(cell["cell"]): _side(cell) for cell in row["cells"]}
    return BaselineScenario(str(row["name"]), str(row["source"]), int(row["seed"]), cells)


def _side(cell: Mapping[str, Any]) -> Side:
    replications = [int(number) for number in cell["replications"]]
    groups = {
        WriterCommand(row["writer_group"] or "", row["command"] or ""): {
            Measure.named(name): dict(_series(Measure.named(name), parts, replications))
            for name, parts in row.items()
            if name not in WriterCommand._fields
        }
        for row in cell["writers"]
    }
    return Side(groups, str(cell["digest"]))


def _series(
    measure: Measure, parts: Mapping[str, Sequence[float | None]], replications: Sequence[int]
) -> Iterator[tuple[int, Kept]]:
    if any(len(several) != len(replications) for several in parts.values()):
        raise ValueError(f"{measure} is not of {len(replications)} replications")
    for at, replication in enumerate(replications):
        numbers = {name: _read(several[at]) for name, several in parts.items()}
        if measure in PERCENTILES:
            yield replication, PerRun(numbers[_VALUE])
        elif not all(map(math.isnan, numbers.values())):
            tally = tally_of(measure, {**dict.fromkeys(STORED_NUMBERS, math.nan), **numbers})
            _require_whole(measure, tally, numbers)
            yield replication, tally


def _require_whole(measure: Measure, tally: Kept, numbers: Mapping[str, float]) -> None:
    """Raises `ValueError` unless these numbers make such a tally."""
    if numbers.keys() != _parts(tally).keys() or any(map(math.isnan, numbers.values())):
        raise ValueError(f"{measure} has {', '.join(numbers)}")
    match tally:
        case CountedShare(part, whole) | WeightedShare(part, whole, _, _) if not 0 <= part <= whole:
            raise ValueError(f"{measure} is {part:g} of {whole:g}")
        case WeightedShare(_, _, events, units) if not 0 <= events <= units:
            raise ValueError(f"{measure} is of {events:g} of {units:g}")
        case PerMinute(_, minutes) if minutes <= 0:
            raise ValueError(f"{measure} is of {minutes:g} minutes")


def _read(number: float | None) -> float:
    return math.nan if number is None else float(number)


def _lines(value: Any, indent: str = "", first: str = "", last: str = "") -> Iterator[str]:
    """JSON, with what has no parts of parts on one line."""
    match value:
        case dict() if not _is_flat(value):
            inner = [(f"{json.dumps(key)}: ", part) for key, part in value.items()]
            opening, closing = "{", "}"
        case list() if not _is_flat(value):
            inner = [("", part) for part in value]
            opening, closing = "[", "]"
        case _:
            yield f"{indent}{first}{json.dumps(value, ensure_ascii=False)}{last}"
            return
    yield f"{indent}{first}{opening}"
    for at, (name, part) in enumerate(inner, start=1):
        yield from _lines(part, f"{indent} ", name, "," if at < len(inner) else "")
    yield f"{indent}{closing}{last}"


def _is_flat(value: Any) -> bool:
    """Whether it holds numbers and texts, or lists of these."""
    if isinstance(value, list):
        return not any(isinstance(part, dict | list) for part in value)
    return all(
        not isinstance(part, dict) and (not isinstance(part, list) or _is_flat(part))
        for part in value.values()
    )

"""Measured requests: what a calibration makes of a store, or somebody brings as a CSV file."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from io import StringIO
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from whitecap.engine.errors import InvalidInput, Problem, nearest, unreadable
from whitecap.sim.quantities.units import MAX_DURATION_MS


class StoreOperation(StrEnum):
    """What a store can be asked, as in a profile."""

    PUT_IF_ABSENT = "put_if_absent"
    PUT = "put"
    GET = "get"
    HEAD = "head"
    LIST = "list"
    COPY = "copy"
    DELETE = "delete"
    RENAME = "rename"


CREATED, ALREADY_EXISTS, DONE, REFUSED = "created", "already_exists", "done", "refused"
"""Outcomes: of a put-if-absent the first two; `refused` is one that the store would not take."""

OUTCOMES = {StoreOperation.PUT_IF_ABSENT: (CREATED, ALREADY_EXISTS, REFUSED)}
OTHER_OUTCOMES = (DONE, REFUSED)

MAX_CLIENTS = 1000
"""More than anybody lets compete for one key."""


class Sample(Struct, frozen=True):
    """One request: `bytes` of its object (of a list, the keys that it gave), `clients` at once."""

    operation: StoreOperation
    bytes: int
    latency_ms: float
    clients: int
    outcome: str


COLUMNS = Sample.__struct_fields__
NEEDED = ("operation", "latency_ms")


def samples_text(samples: Iterable[Sample]) -> str:
    """Samples as CSV."""
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    lines.writerows(astuple(sample) for sample in samples)
    return text.getvalue()


def read_samples(path: Path) -> list[Sample]:
    """Samples of a CSV file: `operation` and `latency_ms`, and if given bytes, clients, outcome.

    Raises `InvalidInput`: every line that is wrong, by its number.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    lines = csv.DictReader(StringIO(text))
    problems = list(_of_header(f"{path}:1", lines.fieldnames or ()))
    samples = []
    for line in lines if not problems else ():
        place = f"{path}:{lines.line_num}"
        wrong = list(_of_line(place, line))
        problems += wrong
        if not wrong:
            samples.append(_sample(line))
    if not problems and not samples:
        problems.append(Problem(str(path), "holds no samples"))
    if problems:
        raise InvalidInput(problems)
    return samples


def _of_header(place: str, names: Sequence[str]) -> Iterator[Problem]:
    for name in NEEDED:
        if name not in names:
            yield Problem(place, f"has no column {name!r}: there may be {', '.join(COLUMNS)}")
    for name in names:
        if name not in COLUMNS:
            yield Problem(place, f"unknown column {name!r}", nearest(name, COLUMNS))


def _of_line(place: str, line: Mapping[str, str | None]) -> Iterator[Problem]:
    if None in line or None in line.values():
        yield Problem(place, "has not as many values as there are columns")
        return
    yield from _of_operation(place, line)
    yield from _of_numbers(place, line)


def _of_operation(place: str, line: Mapping[str, str | None]) -> Iterator[Problem]:
    """What was asked of the store, and what came of it."""
    operation = str(line["operation"])
    if operation not in {*StoreOperation}:
        said = f"{operation!r} is none of {', '.join(StoreOperation)}"
        likely = nearest(operation, [member.value for member in StoreOperation])
        yield Problem(f"{place} operation", said, likely)
        return
    outcomes = OUTCOMES.get(StoreOperation(operation), OTHER_OUTCOMES)
    outcome = line.get("outcome") or outcomes[0]
    if outcome not in outcomes:
        said = f"{outcome!r} is none of {', '.join(outcomes)}"
        yield Problem(f"{place} outcome", said, nearest(outcome, outcomes))


BOUNDS = {"latency_ms": (0, MAX_DURATION_MS), "bytes": (0, 2**50), "clients": (1, MAX_CLIENTS)}
"""Least and most of each number; a petabyte is more than any store takes as one object."""


def _of_numbers(place: str, line: Mapping[str, str | None]) -> Iterator[Problem]:
    for name, (least, most) in BOUNDS.items():
        is_whole = name != "latency_ms"
        if line.get(name) and not _is_between(str(line[name]), least, most, is_whole):
            needed = f"needs a {'whole number' if is_whole else 'number'}"
            said = f"{needed} from {least} to {most:,.0f}, not {line[name]!r}"
            yield Problem(f"{place} {name}", said)
    if not line["latency_ms"]:
        yield Problem(f"{place} latency_ms", "is empty")


def _is_between(text: str, least: float, most: float, whole: bool) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and least <= number <= most and (number.is_integer() or not whole)


def _sample(line: Mapping[str, str]) -> Sample:
    operation = StoreOperation(line["operation"])
    return Sample(
        operation,
        int(float(line.get("bytes") or 0)),
        float(line["latency_ms"]),
        int(float(line.get("clients") or 1)),
        line.get("outcome") or OUTCOMES.get(operation, OTHER_OUTCOMES)[0],
    )

"""Which cases of the files given are run: all, some by name, or an even sample."""

from __future__ import annotations

from collections.abc import Sequence

from whitecap.engine.errors import InvalidInput, Problem, nearest
from whitecap.engine.races.conformance.case import Case


def cases_named(cases: Sequence[Case], ids: Sequence[str]) -> list[Case]:
    """The cases with these ids, in file order; all of them where no id is given.

    Raises `InvalidInput` for every id that no case has.
    """
    case_ids = {case.id for case in cases}
    problems = [_missing(name, case_ids) for name in ids if name not in case_ids]
    if problems:
        raise InvalidInput(problems)
    return [case for case in cases if not ids or case.id in ids]


def sampled(cases: Sequence[Case], size: int | None) -> list[Case]:
    """`size` cases spread evenly over the list, the first one included; all without a size."""
    if size is None or size >= len(cases):
        return list(cases)
    return [cases[position * len(cases) // size] for position in range(size)]


def _missing(name: str, case_ids: set[str]) -> Problem:
    return Problem("--case", f"no case is called {name!r}", nearest(name, sorted(case_ids)))

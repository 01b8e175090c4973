"""Lists of values that conditions name: which of them stay the same, and how many are drawn.

A draft has a parameter for each value of a list. Draws of a scenario are independent of each other,
so that more of them than values were listed may be needed for as many to differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from datetime import date
from itertools import chain
from statistics import median

import numpy as np

from whitecap.sim.inferring.choices import OFTEN, ValueChoice, of_days_behind, ranked
from whitecap.sim.inferring.domains import DraftDomain, day_of, values_in
from whitecap.sim.inferring.evidence.figures import counted, many
from whitecap.sim.inferring.log.conditions import EQUAL, compared, condition_of
from whitecap.sim.inferring.log.observed import ObservedCommit
from whitecap.sim.inferring.ranges import DraftRange, moved

MOST_DRAWN = 40
"""Values that a drafted list draws at most: nobody reads more. Ours."""

FEWEST_ALIKE = 3
"""Lists that are all the same by more than chance. Ours."""

_Lists = Sequence[tuple[ObservedCommit, Set[str]]]


def value_list(
    domain: DraftDomain, commits: Sequence[ObservedCommit], columns: Sequence[str]
) -> DraftRange | None:
    """The list of values that these commits name; `None` where most of them name one.

    `columns` are all of the table's.
    """
    named = [(commit, _named(domain, commit, columns)) for commit in commits]
    lists = [(commit, values) for commit, values in named if values]
    if not lists or median(len(values) for _, values in lists) <= 1:
        return None
    if domain.is_daily:
        return _of_days(domain, lists)
    values = lists[0][1]
    is_fixed = len(lists) >= FEWEST_ALIKE and all(each == values for _, each in lists)
    return _fixed(domain, lists) if is_fixed and domain.days is None else _drawn(domain, lists)


def _named(domain: DraftDomain, commit: ObservedCommit, columns: Sequence[str]) -> Set[str]:
    """The values that a commit's condition compares with; those it changed, if with none.

    Of a partition that is not there nothing is read.
    """
    sides = compared(condition_of(commit), domain.column.name, columns)
    stated = values_in(domain.column, (text for operator, text in sides if operator in EQUAL))
    values = stated or domain.of(commit)
    return values if domain.is_daily else values & set(domain.listed)


def _fixed(domain: DraftDomain, lists: _Lists) -> DraftRange:
    """The very values, the busiest first."""
    places = [at for at, value in enumerate(domain.listed) if value in lists[0][1]]
    said = f"all {many(len(lists), 'commit')} name these {len(places)}"
    first, *rest = (ValueChoice(counted("", said), 1.0, place) for place in places)
    share = len(places) / domain.count
    return DraftRange((_list_of(len(places)),), first, share, also=tuple(rest))


def _of_days(domain: DraftDomain, lists: _Lists) -> DraftRange:
    """Days that lie so far before the newest of their list as most do, else any that were named."""
    behind = [
        sorted(max((day_of(commit.timestamp_ms) - date.fromisoformat(day)).days, 0) for day in days)
        for commit, days in lists
    ]
    steps = Counter(tuple(day - newest for day in (newest, *rest)) for newest, *rest in behind)
    apart, count = steps.most_common(1)[0]
    if count < OFTEN * len(lists):
        choice = ValueChoice(of_days_behind(list(chain.from_iterable(behind)), domain), 1.0)
        return _several(domain, lists, choice)
    choice = ValueChoice(of_days_behind([newest for newest, *_ in behind], domain), 1.0)
    items = ", ".join(f":?{moved(-step)}" for step in apart)
    said = f"{count:,} of {many(len(lists), 'list')} have days so far from their newest one"
    share = min(len(apart) / domain.count, 1.0)
    return DraftRange((f"? IN ({items})",), choice, share, (counted("", said),))


def _drawn(domain: DraftDomain, lists: _Lists) -> DraftRange:
    return _several(domain, lists, ranked(domain, [set(values) for _, values in lists]))


def _several(domain: DraftDomain, lists: _Lists, choice: ValueChoice) -> DraftRange:
    """So many draws of the same kind that as many of them differ as a list has values."""
    wanted = median(len(values) for _, values in lists)
    draws, differ = _draws(wanted, Counter(chain.from_iterable(values for _, values in lists)))
    said = (
        f"lists of {wanted:g} values in the median of {many(len(lists), 'commit')}; of"
        f" {many(draws, 'draw')} {differ:.3g} differ in the mean"
    )
    also = (choice,) * (draws - 1)
    share = min(differ / domain.count, 1.0)
    return DraftRange((_list_of(draws),), choice, share, (counted("", said),), also)


def _draws(wanted: float, times: Counter[str]) -> tuple[int, float]:
    """How many draws have so many different values, and how many they have in the mean."""
    shares = np.array(list(times.values())) / times.total()
    draws, differ = 1, 1.0
    while differ < wanted - 0.5 and draws < MOST_DRAWN:
        draws += 1
        differ = float((1 - (1 - shares) ** draws).sum())
    return draws, differ


def _list_of(count: int) -> str:
    """A condition with a parameter for each value, `?` for the column in their names."""
    items = [":?", *(f":?{also_called(number)}" for number in range(2, count + 1))]
    return f"? IN ({', '.join(items)})"


def also_called(number: int) -> str:
    """What the name of a list's second, third, ... parameter has after that of its column."""
    return f"_listed_{number}"

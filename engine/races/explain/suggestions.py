"""Which changes avoid the conflicts of two statements: each is made, and raced in every order.

They are tried in the order of what they take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from whitecap.engine.errors import DeltaError, EngineError
from whitecap.engine.outcomes import Aborted
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.explain.change import Change, Changer, attempted, pairs, with_caution
from whitecap.engine.races.explain.damage import damages
from whitecap.engine.races.explain.implied_partitions import state_partitions
from whitecap.engine.races.explain.layouts import (
    other_layouts,
    with_deletion_vectors,
    write_serializable,
    write_serializable_elsewhere,
)
from whitecap.engine.races.explain.orders import in_turn
from whitecap.engine.races.explain.platforms import (
    newer_delta,
    row_level_concurrency,
    vectors_on_databricks,
)
from whitecap.engine.races.explain.row_concurrency import row_changes
from whitecap.engine.races.explain.wordings import (
    compact_elsewhere,
    name_partitions,
    without_zorder,
)
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.rules import ConflictException

OF_METADATA = frozenset({ConflictException.METADATA_CHANGED, ConflictException.PROTOCOL_CHANGED})
"""Conflicts about what a table is, not about its files or rows."""

MOST_PAIRS = 2
"""How many suggestions of two changes at once are made."""


_BETTER = {"name_partitions": "state_partitions"}
"""Where what a condition means is enough, values that are right for some rows are not asked for."""


class Suggestion(Struct, frozen=True):
    """A change after which no order of the two ends in a conflict; `schedules` were played."""

    change: Change
    schedules: int


def suggestions(case: RaceCase) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    """What helps and what was tried in vain; two changes at once only where one does not do."""
    played = case.played()
    trials = _Trials(_rows_in_turn(played, case.target), case)
    if _all_about_metadata(played):
        trials.race(_made(_metadata_changes(), case))
        return tuple(trials.helps), tuple(trials.in_vain)
    own = _own_changes(case)
    trials.race(_made(own, case))
    if not trials.helps:
        both = _Trials(trials.rows, case)
        both.race(pairs(case, own))
        trials.helps += both.helps[:MOST_PAIRS]
    trials.race(_made(_platform_changes(), case))
    return tuple(trials.helps), tuple(trials.in_vain)


def _own_changes(case: RaceCase) -> list[Changer]:
    """What users can do on the platform they have."""
    return [
        without_zorder,
        *(attempted(other_layouts, case) or ()),
        with_deletion_vectors,
        *row_changes(),
        write_serializable,
        state_partitions,
        name_partitions,
        compact_elsewhere,
    ]


def _platform_changes() -> list[Changer]:
    """What takes another platform or a newer one."""
    return [
        newer_delta,
        write_serializable_elsewhere,
        vectors_on_databricks,
        row_level_concurrency,
    ]


def _metadata_changes() -> list[Changer]:
    """What can help where metadata or protocol changed: layouts and levels never do."""
    return [newer_delta]


def _made(changers: Iterable[Changer], case: RaceCase) -> Iterator[Change]:
    """Those changes that make sense."""
    return (change for changer in changers if (change := attempted(changer, case)) is not None)


def _all_about_metadata(schedules: Sequence[Played]) -> bool:
    endings = (ending for played in schedules for ending in played.endings)
    exceptions = {e.verdict.exception for e in endings if isinstance(e, Aborted)}
    return exceptions <= OF_METADATA


class _Trials(Struct):
    """Changes that were raced; `rows` are what the two leave if B, and if A, runs second."""

    rows: list[list[str]]
    case: RaceCase
    helps: list[Suggestion] = field(default_factory=list)
    in_vain: list[str] = field(default_factory=list)

    def race(self, changes: Iterable[Change]) -> None:
        """Play each change; one that cannot be made is neither a help nor in vain."""
        for change in changes:
            if _is_among(change, self.helps) or self._is_needless(change):
                continue
            try:
                played = change.case.played()
            except EngineError:
                continue
            if self._is_help(change, played):
                self.helps.append(Suggestion(with_caution(change, self.case), len(played)))
            else:
                self.in_vain.append(change.title)

    def _is_needless(self, change: Change) -> bool:
        better = _BETTER.get(change.key)
        return any(suggestion.change.key == better for suggestion in self.helps)

    def _is_help(self, change: Change, played: Sequence[Played]) -> bool:
        """Whether both commit in every order, and leave the same rows in either turn, undamaged."""
        case = change.case
        is_fine = all(_is_fine(ending) for schedule in played for ending in schedule.endings)
        if not is_fine or any(damages(played, case.dialect, case.target)):
            return False
        return _rows_in_turn(played, case.target) == self.rows


def _rows_in_turn(schedules: Sequence[Played], target: str) -> list[list[str]]:
    """The rows if B, and if A, runs second, in an order that does not depend on files."""
    return [sorted(map(str, in_turn(schedules, second).rows[target])) for second in (1, 0)]


def _is_among(change: Change, helping: Iterable[Suggestion]) -> bool:
    return any(change.case == suggestion.change.case for suggestion in helping)


def _is_fine(ending: object) -> bool:
    return not isinstance(ending, Aborted | DeltaError)

"""From single observations to cells: can two commands conflict, under which circumstances only.

"Cannot" stands for every schedule on every table in every situation. "Only" clauses are necessary
conditions: outside of them nothing in the family conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.races.matrix.catalogue import ZORDER
from whitecap.engine.races.matrix.family import Layout, Meeting
from whitecap.engine.races.matrix.observing import Observation, Witness

CANNOT = "Cannot conflict"
CAN = "Can conflict"

_PLACES = {
    Meeting.SAME_ROW: "at the same row",
    Meeting.SAME_FILE: "in the same file",
    Meeting.SAME_PARTITION: "in the same partition",
    Meeting.OTHER_PARTITION: "anywhere",
}


# No slots: what is derived is kept.
@dataclass(frozen=True)
class Cell:
    """Everything observed about some pairs of commands."""

    observations: tuple[Observation, ...]

    @cached_property
    def conflicts(self) -> tuple[Observation, ...]:
        return tuple(observation for observation in self.observations if observation.conflicts)

    @property
    def can_conflict(self) -> bool:
        return bool(self.conflicts)

    @property
    def exceptions(self) -> list[str]:
        """The exceptions seen, by name."""
        return sorted({name for observation in self.conflicts for name in observation.exceptions})

    @property
    def witness(self) -> Witness | None:
        """The shortest schedule that ends in a conflict, on the first such table."""
        witnesses = (observation.witness for observation in self.conflicts)
        shown = [witness for witness in witnesses if witness is not None]
        return min(shown, key=lambda witness: len(witness.lines), default=None)

    @property
    def sentence(self) -> str:
        """The verdict in the words of the vendors' tables."""
        if not self.can_conflict:
            return CANNOT
        return self._about_zorder() or self._about_levels()

    def _about_zorder(self) -> str | None:
        """Where ZORDER BY makes the difference, at least on tables with deletion vectors."""
        with_vectors, without = _split(self.observations, lambda o: o.variant.deletion_vectors)
        if {_uses_zorder(observation) for observation in with_vectors} != {True, False}:
            return None
        if any(
            observation.conflicts and not _uses_zorder(observation) for observation in with_vectors
        ):
            return None
        if any(observation.conflicts and not _uses_zorder(observation) for observation in without):
            return (
                "Cannot conflict in tables with deletion vectors enabled, unless ZORDER BY is used."
                " Can conflict otherwise."
            )
        return "Can conflict when ZORDER BY is used. Cannot conflict otherwise."

    def _about_levels(self) -> str:
        explored = _levels(self.observations)
        conflicting = _levels(self.conflicts)
        when = " when modifying the same row" if self._only_at_one_row() else ""
        if conflicting != explored:
            others = [level for level in explored if level not in conflicting]
            return f"{CANNOT} in {_listed(others)}. {CAN} in {_listed(conflicting)}{when}."
        if when:
            return f"{CAN}{when}."
        return f"{CAN} in {_listed(explored)}." if len(explored) > 1 else CAN

    def _only_at_one_row(self) -> bool:
        meetings = {observation.situation.relation for observation in self.conflicts}
        return meetings == {Meeting.SAME_ROW}

    @property
    def only_when(self) -> str:
        """Circumstances without which nothing here conflicts; empty if there are none."""
        return "; ".join(self._clauses)

    @property
    def only_when_besides(self) -> str:
        """The same without what the sentence says already."""
        return "; ".join(clause for clause in self._clauses if not self._is_in_sentence(clause))

    @property
    def _clauses(self) -> list[str]:
        if not self.can_conflict:
            return []
        clauses = (self._only_levels(), self._only_vectors(), self._only_places())
        return [clause for clause in clauses if clause]

    def _is_in_sentence(self, clause: str) -> bool:
        """Levels and the same row are in the sentence's own words."""
        return clause.replace("only ", "").replace("at the", "the") in self.sentence

    def _only_levels(self) -> str:
        levels = _levels(self.conflicts)
        return "" if levels == _levels(self.observations) else f"only in {_listed(levels)}"

    def _only_vectors(self) -> str:
        explored = {observation.variant.deletion_vectors for observation in self.observations}
        conflicting = {observation.variant.deletion_vectors for observation in self.conflicts}
        if conflicting == explored:
            return ""
        return f"only with{'' if conflicting == {True} else 'out'} deletion vectors"

    def _only_places(self) -> str:
        """On which layouts, and how near to each other there."""
        explored = _by_layout(self.observations)
        places = {
            layout: _places(observations)
            for layout, observations in explored.items()
            if any(observation.conflicts for observation in observations)
        }
        if len(set(places.values())) == 1:
            layouts = "" if len(places) == len(explored) else f"only on {_tables(list(places))}"
            return _joined(layouts, places[min(places, key=list(Layout).index)])
        clauses = {
            text: [layout for layout in places if places[layout] == text]
            for text in dict.fromkeys(places.values())
        }
        listed = [f"on {_tables(alike)} {text}" for text, alike in clauses.items() if text]
        return "; ".join(listed)


def _joined(first: str, second: str) -> str:
    return ", ".join(part for part in (first, second) if part)


def _by_layout(observations: Iterable[Observation]) -> dict[Layout, list[Observation]]:
    by_layout: dict[Layout, list[Observation]] = {}
    for observation in observations:
        by_layout.setdefault(observation.variant.layout, []).append(observation)
    return by_layout


def _tables(layouts: Sequence[Layout]) -> str:
    return " and ".join(layout.adjective for layout in layouts) + " tables"


def _uses_zorder(observation: Observation) -> bool:
    return ZORDER in (observation.loser, observation.winner)


def _split(
    observations: Iterable[Observation], test: Callable[[Observation], bool]
) -> tuple[list[Observation], list[Observation]]:
    """Those that pass a test, and the others."""
    passing: list[Observation] = []
    others: list[Observation] = []
    for observation in observations:
        (passing if test(observation) else others).append(observation)
    return passing, others


def _levels(observations: Iterable[Observation]) -> list[IsolationLevel]:
    levels = {observation.variant.isolation for observation in observations}
    return [level for level in IsolationLevel if level in levels]


def _listed(levels: Sequence[IsolationLevel]) -> str:
    return " and ".join(level.value for level in levels)


def _places(observations: Sequence[Observation]) -> str:
    """How near to each other two commands must come; empty if it does not matter."""
    naming, leaving_open = _split(observations, lambda o: o.situation.names_day)
    named = _reach(naming or leaving_open)
    left_open = _reach(leaving_open or naming)
    if named == left_open:
        return "" if named == _PLACES[Meeting.OTHER_PARTITION] else f"only {named}"
    if named is None:
        return "only if the conditions do not name the partition"
    if left_open is None:
        return "only if the conditions name the partition"
    if left_open == _PLACES[Meeting.OTHER_PARTITION]:
        place = "it" if named == _PLACES[Meeting.SAME_PARTITION] else "the partition"
        return f"only {named}, if the conditions name {place}"
    return f"only {named}, if the conditions name the partition, else only {left_open}"


def _reach(observations: Sequence[Observation]) -> str | None:
    """The places of conflicts: `None` for none, else the farthest, or a list with gaps."""
    meetings = {
        observation.situation.relation for observation in observations if observation.conflicts
    }
    if not meetings:
        return None
    ordered = list(Meeting)
    farthest = max(ordered.index(meeting) for meeting in meetings)
    if meetings == set(ordered[: farthest + 1]):
        return _PLACES[ordered[farthest]]
    return "at " + " or ".join(meeting.text for meeting in ordered if meeting in meetings)

"""What happened in one schedule, in words: one line for each turn of a contender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from whitecap.engine.errors import DeltaError
from whitecap.engine.outcomes import Aborted, Committed, NothingToCommit, Unknown
from whitecap.engine.races.interleaving.race import Event, Played, StepKind
from whitecap.engine.races.interleaving.walk import Ending

NAMES = ("A", "B")
"""What the two statements of a race are called."""


class Line(Struct, frozen=True):
    """One turn: who, what it did, and whether it ended there in a conflict."""

    who: str
    text: str
    is_conflict: bool = False


def story(played: Played, names: Sequence[str]) -> list[Line]:
    """The turns of a schedule in order; `names` are those of the contenders."""
    written = {event.table for event in played.events if event.kind is StepKind.ATTEMPT}
    turns = [list(turn) for _, turn in groupby(played.events, key=lambda event: event.who)]
    last_turn = {turn[0].who: at for at, turn in enumerate(turns)}
    lines = []
    for at, turn in enumerate(turns):
        who = turn[0].who
        ending = played.endings[who] if last_turn[who] == at else None
        is_conflict = isinstance(ending, Aborted)
        lines.append(Line(names[who], ", ".join(_phrases(turn, ending, written)), is_conflict))
    return lines


def _phrases(turn: list[Event], ending: Ending | None, written: set[str]) -> Iterator[str]:
    """What was done in a turn; tables that are only read go by their names."""
    for event in turn:
        elsewhere = event.table.rstrip("/") if event.table not in written else ""
        yield _of_event(event) + (f" of {elsewhere}" if elsewhere else "")
    match ending:
        case Aborted(verdict):
            yield f"is aborted with {verdict.exception.value}"
        case NothingToCommit():
            yield "has nothing to commit"
        case Unknown():
            yield "does not learn whether it committed"
        case DeltaError() as error:
            yield f"is refused: {error.error_class or error.exception}"


def _of_event(event: Event) -> str:
    match event:
        case Event(kind=StepKind.SNAPSHOT, version=-1):
            return "finds no table"
        case Event(kind=StepKind.SNAPSHOT, version=version):
            return f"reads version {version}"
        case Event(kind=StepKind.STAGE, count=count):
            return f"stages {count} file{'s' if count > 1 else ''}"
        case Event(kind=StepKind.ATTEMPT, won=True, version=version):
            return f"commits version {version}"
        case Event(kind=StepKind.ATTEMPT, version=version):
            return f"finds version {version} taken"
    return "checks what was committed meanwhile"


def outcome_text(ending: Ending) -> str:
    """How a statement ended, in a word or two."""
    match ending:
        case Committed(version):
            return f"commits version {version}"
        case Aborted(verdict):
            return verdict.exception.value
        case NothingToCommit():
            return "nothing to commit"
        case DeltaError() as error:
            return f"refused: {error.error_class or error.exception}"
        case _:
            return "unknown"

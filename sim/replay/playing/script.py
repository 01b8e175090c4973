"""A replay as a script: who begins at which version, and in which order outcomes were decided.

A transaction begins when the table stands at its read version, and is decided when the table
stands at the version that its last conflict check saw. At one version first all begin that read
it, then those end that left no commit, then the next version is made: by the one that committed
it, or, where nobody plays that, by putting the recorded commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum, StrEnum

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.replay.real.commands import RealCommand


class End(StrEnum):
    """How a transaction ended: by the recording in all of these ways, really in the first three."""

    COMMITTED = RecordedOutcome.COMMITTED.value
    NOTHING_TO_COMMIT = "nothing_to_commit"
    ABORTED = RecordedOutcome.ABORTED.value
    UNKNOWN = RecordedOutcome.UNKNOWN.value
    IN_FLIGHT = RecordedOutcome.IN_FLIGHT.value


class TransactionResult(Struct, frozen=True):
    """How a transaction ended, with what is compared of it."""

    end: End
    version: int | None = None
    exception: str | None = None
    error_class: str | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None


class CommandPart(Struct, frozen=True):
    """One of the transactions that a command opens; most commands open one.

    `decided_at`: the newest version when its outcome was decided; of a commit, the version before
    its own. A part without `version` that another part follows is a conflict after which the
    command started again by itself.
    """

    read_version: int
    decided_at: int
    version: int | None = None

    @property
    def complete_at(self) -> int:
        """The version at which it has ended."""
        return self.decided_at if self.version is None else self.version


class Planned(Struct, frozen=True):
    """One command of a script; `recorded` is how its last part ended.

    `repeats`: it commits files that the recorded table has already. In reality these are other
    files, so only what is decided before it can go on from there.
    """

    name: str
    command: RealCommand
    parts: tuple[CommandPart, ...]
    recorded: TransactionResult
    repeats: bool = False

    @property
    def read_version(self) -> int:
        """The version of its first snapshot."""
        return self.parts[0].read_version

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that it makes."""
        return tuple(part.version for part in self.parts if part.version is not None)


class Move(StrEnum):
    """One step of a script."""

    BEGIN = "begin"
    FINISH = "finish"
    PUT = "put"


class _Turn(IntEnum):
    """The order of moves at one version."""

    BEGIN = 0
    END_WITHOUT_COMMIT = 1
    MAKE_THE_NEXT_VERSION = 2


class ScriptStep(Struct, frozen=True):
    """A move while the table stands at `version`: of part `number` of a command, or a put."""

    move: Move
    version: int
    planned: Planned | None = None
    number: int = 0

    @property
    def name(self) -> str:
        """The command's name; a put has none."""
        return "" if self.planned is None else self.planned.name

    @property
    def is_last(self) -> bool:
        """Whether the command ends with this part."""
        return self.planned is not None and self.number == len(self.planned.parts) - 1

    @property
    def leads_to(self) -> int:
        """The version at which the table stands afterwards."""
        if self.planned is None:
            return self.version + 1
        made = self.planned.parts[self.number].version
        return self.version if made is None or self.move is Move.BEGIN else made


def steps(planned: Sequence[Planned], first: int, last: int) -> list[ScriptStep]:
    """The steps that take a table from version `first` to version `last`, in order.

    Raises InvalidInput: a transaction is decided before it begins or after `last`, begins before
    `first`, or makes a version that is not the next one.
    """
    problems = [problem for each in planned for problem in _problems(each, first, last)]
    problems += _made_twice(planned)
    if problems:
        raise InvalidInput(problems)
    placed = [pair for at, each in enumerate(planned) for pair in _placed(each, at)]
    made = {version for each in planned for version in each.versions}
    placed += [
        ((version, _Turn.MAKE_THE_NEXT_VERSION, 0, 0), ScriptStep(Move.PUT, version))
        for version in range(first, last)
        if version + 1 not in made
    ]
    return [step for _, step in sorted(placed, key=lambda pair: pair[0])]


_Place = tuple[int, _Turn, int, int]


def _placed(each: Planned, at: int) -> Iterator[tuple[_Place, ScriptStep]]:
    """The steps of one command, each with its place in the order."""
    before: CommandPart | None = None
    for number, part in enumerate(each.parts):
        # A part that starts again at the version that refused the one before it begins after it.
        again = before is not None and before.version is None
        turn = _Turn.END_WITHOUT_COMMIT if again else _Turn.BEGIN
        begin = ScriptStep(Move.BEGIN, part.read_version, each, number)
        yield (part.read_version, turn, at, 2 * number), begin
        makes = part.version is not None
        turn = _Turn.MAKE_THE_NEXT_VERSION if makes else _Turn.END_WITHOUT_COMMIT
        finish = ScriptStep(Move.FINISH, part.decided_at, each, number)
        yield (part.decided_at, turn, at, 2 * number + 1), finish
        before = part


def _problems(each: Planned, first: int, last: int) -> Iterator[Problem]:
    earliest = first
    for part in each.parts:
        if part.read_version < earliest:
            yield Problem(each.name, f"reads version {part.read_version}, before {earliest}")
        if part.decided_at < part.read_version:
            text = f"decided at version {part.decided_at}, before its read version"
            yield Problem(each.name, f"{text} {part.read_version}")
        if part.version is not None and part.version != part.decided_at + 1:
            text = f"commits version {part.version} but is decided at {part.decided_at}"
            yield Problem(each.name, text)
        if part.complete_at > last:
            yield Problem(each.name, f"is decided at version {part.complete_at}, after {last}")
        earliest = part.complete_at


def _made_twice(planned: Sequence[Planned]) -> Iterator[Problem]:
    makers: dict[int, str] = {}
    for each in planned:
        for version in each.versions:
            if version in makers:
                yield Problem(each.name, f"commits version {version}, as {makers[version]} does")
            makers[version] = each.name

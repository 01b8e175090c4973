"""A replay as a script: who begins at which version, and in which order outcomes were decided.

A transaction begins when the table stands at its read version, and is decided when the table
stands at the version that its last conflict check saw. At one version first all begin that read
it, then those end that left no commit, then the one ends that makes the next version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.replay.real_commands import RealCommand


class End(StrEnum):
    """How a transaction ended, in the recording or in reality."""

    COMMITTED = RecordedOutcome.COMMITTED.value
    NOTHING_TO_COMMIT = "nothing_to_commit"
    ABORTED = RecordedOutcome.ABORTED.value


@dataclass(frozen=True, slots=True)
class Result:
    """How a transaction ended, with what is compared of it."""

    end: End
    version: int | None = None
    exception: str | None = None
    error_class: str | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """One transaction of a script.

    `decided_at`: the newest version when its outcome was decided; for one that commits, the
    version before its own. `excuse` says why its result cannot be compared, if so.
    """

    name: str
    command: RealCommand
    read_version: int
    decided_at: int
    recorded: Result
    excuse: str | None = None

    @property
    def commits(self) -> bool:
        """Whether it makes a version."""
        return self.recorded.version is not None


class Move(StrEnum):
    """One step of a script."""

    BEGIN = "begin"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Step:
    """Begin or finish one transaction while the table stands at `version`."""

    move: Move
    planned: Planned
    version: int


def steps(planned: Sequence[Planned]) -> list[Step]:
    """The script's steps in order.

    Raises InvalidInput: a transaction is decided before it begins, two make one version, or a
    version is made by nobody.
    """
    _check(planned)
    by_version: list[tuple[tuple[int, int, int], Step]] = []
    for number, each in enumerate(planned):
        begin = Step(Move.BEGIN, each, each.read_version)
        finish = Step(Move.FINISH, each, each.decided_at)
        by_version.append(((each.read_version, 0, number), begin))
        by_version.append(((each.decided_at, 2 if each.commits else 1, number), finish))
    return [step for _, step in sorted(by_version, key=lambda pair: pair[0])]


def first_version(planned: Sequence[Planned]) -> int:
    """The version at which the table must stand when the script starts."""
    return min(each.read_version for each in planned)


def _check(planned: Sequence[Planned]) -> None:
    problems = [*_decided_too_early(planned), *_version_problems(planned)]
    if problems:
        raise InvalidInput(problems)


def _decided_too_early(planned: Sequence[Planned]) -> Iterator[Problem]:
    for each in planned:
        if each.decided_at < each.read_version:
            text = f"decided at version {each.decided_at}, before its read version"
            yield Problem(each.name, f"{text} {each.read_version}")
        if each.commits and each.recorded.version != each.decided_at + 1:
            text = f"commits version {each.recorded.version} but is decided at {each.decided_at}"
            yield Problem(each.name, text)


def _version_problems(planned: Sequence[Planned]) -> Iterator[Problem]:
    makers = sorted(each.recorded.version for each in planned if each.recorded.version is not None)
    start = first_version(planned)
    wanted = list(range(start + 1, start + 1 + len(makers)))
    if makers != wanted:
        yield Problem("versions", f"the script makes {makers}, but should make {wanted}")
    last = wanted[-1] if wanted else start
    for each in planned:
        if each.decided_at > last:
            yield Problem(each.name, f"decided at version {each.decided_at}, which nobody makes")

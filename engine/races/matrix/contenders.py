"""Who races on one table of the family, each statement planned once for all of its races."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.races.interleaving.contender import Contender
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import Exploration, schedules_of
from whitecap.engine.races.interleaving.world import World
from whitecap.engine.races.matrix.catalogue import Command, Target

Before = tuple[str, ...]
"""Statements that run one after the other before a race."""

MOST_SCHEDULES = 20_000
"""A race with more is not played: some ten seconds each, in each situation."""


class Contenders:
    """The statements that race on one table, each planned once for all of its races.

    `dialects` are those of the first and the second contender. Without `shortens` their ways are
    led through whole statements.
    """

    def __init__(
        self,
        world: World,
        exploration: Exploration,
        dialects: Sequence[Dialect],
        shortens: bool = True,
    ) -> None:
        self._dialects = dialects
        self._shortens = shortens
        self._worlds: dict[Before, World] = {(): world.warmed()}
        self._exploration = exploration
        self._contenders: dict[tuple[Before, int, str], Contender] = {}

    def race(self, both: Sequence[tuple[Command, Target]]) -> tuple[Played, ...]:
        """The schedules of two commands about their targets.

        Raises `UnsupportedFeature` for commands that commit so often that they have too many.
        """
        before = before_race([command for command, _ in both])
        racing = [self._of(before, who, *contending) for who, contending in enumerate(both)]
        played = schedules_of(self._world(before), racing, self._exploration)
        first = tuple(islice(played, MOST_SCHEDULES + 1))
        if len(first) > MOST_SCHEDULES:
            names = " and ".join(command.name for command, _ in both)
            raise UnsupportedFeature(f"{names} have more than {MOST_SCHEDULES:,} interleavings")
        return first

    def _of(self, before: Before, who: int, command: Command, target: Target) -> Contender:
        """A command about a target, as the first or second of a race."""
        key = before, who, command.sql(target)
        contender = self._contenders.get(key)
        if contender is None:
            world = self._world(before).by(self._dialects[who])
            contender = Contender(world, who, command.start(target), self._shortens)
            self._contenders[key] = contender
        return contender

    def _world(self, before: Before) -> World:
        """The table after what has to run before a race."""
        if before not in self._worlds:
            world = self._worlds[()]
            for sql in before:
                world = world.after(sql)
            self._worlds[before] = world.warmed()
        return self._worlds[before]


def before_race(commands: Sequence[Command]) -> Before:
    """What has to run on a table before some commands race on it."""
    return tuple(dict.fromkeys(command.before for command in commands if command.before))

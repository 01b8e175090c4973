"""What a configuration is held against: everything that statements leave behind."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import partial

from tests.dialects.races_on_rows import World
from whitecap.engine.dialects import DELTA_OSS_4_4, Dialect
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature
from whitecap.engine.outcomes import Outcome
from whitecap.engine.settings import Settings

ROWS = "(1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0)"
"""Two of each group, of `races_on_rows.COLUMNS`."""
_COMMIT = re.compile(r"_delta_log/[0-9]+\.json\Z")  # checkpoints say the same again

Left = list[str]


def ending_of(play: Callable[[], object]) -> str:
    """How something ends: its outcome, or the refusal."""
    try:
        return _shown(play())
    except DeltaError as error:
        return f"{error.exception} {error.error_class}"
    except InvalidInput as error:
        return f"wrong: {error}"
    except UnsupportedFeature as error:
        return f"not modelled: {error}"


def _shown(outcome: object) -> str:
    verdict = getattr(outcome, "verdict", None)
    return type(outcome).__name__ if verdict is None else f"{verdict.exception} {verdict.rule}"


@dataclasses.dataclass(frozen=True)
class Play:
    """Statements on one table t: those before, then one that winners overtake, then those after.

    `rows` are one file; `before` runs with the settings of a session that has none.
    """

    before: tuple[str, ...] = ()
    current: str = "INSERT INTO t VALUES (9, 9, 9)"
    winners: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    partitioned_by: str = ""
    dialect: Dialect = DELTA_OSS_4_4
    rows: tuple[str, ...] = (ROWS,)
    columns: str = "id BIGINT, g INT, v INT"

    def left(self, conf: Mapping[str, str]) -> Left:
        """How each statement ends under a configuration, and every byte of its commits."""
        world = self._world()
        for text in (*(f"INSERT INTO t VALUES {rows}" for rows in self.rows), *self.before):
            world.run(text)
        world.settings = self.dialect.settings_of(conf)
        endings = [ending_of(lambda: self._raced(world))]
        endings += [ending_of(partial(world.run, text)) for text in self.after]
        commits = [key for key in world.store.keys if _COMMIT.search(key)]
        return [*endings, *(f"{key}\n{world.store.body(key).decode()}" for key in sorted(commits))]

    def _raced(self, world: World) -> Outcome:
        running = world.begin(self.current)
        default, mine = Settings(), world.settings
        for winner in self.winners:
            world.settings = default
            world.run(winner)
        world.settings = mine
        return running.finish()

    def _world(self) -> World:
        world = World(self.dialect)
        layout = f" PARTITIONED BY ({self.partitioned_by})" if self.partitioned_by else ""
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in self.properties.items())
        given = f" TBLPROPERTIES ({pairs})" if pairs else ""
        world.run(f"CREATE TABLE t ({self.columns}){layout}{given}")
        return world

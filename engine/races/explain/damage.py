"""Rows that are doubled or come back although both statements commit.

An engine that does not look who moved a file commits over it (`moves_concern_removers` of its
`CheckRules`): what the other has moved or erased, it adds once more. Nobody is aborted, so that the
rows alone tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.dialects import Dialect
from whitecap.engine.log.actions import RemoveFile
from whitecap.engine.outcomes import Committed
from whitecap.engine.races.explain.orders import in_turn, title_of
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.walk import Ending

_Row = dict[str, Any]


class RowDamage(Struct, frozen=True):
    """An order with rows that are in the table too often.

    `doubled` are left by either serial order as well, only not so often; `returned` by neither.
    """

    order: str
    doubled: tuple[_Row, ...]
    returned: tuple[_Row, ...]

    @property
    def text(self) -> str:
        """The first rows of each kind, in words."""
        kinds = (("doubled", self.doubled), ("back again", self.returned))
        return "; ".join(f"{what}: {_listed(rows)}" for what, rows in kinds if rows)


MOST_ROWS = 3
"""More rows than this are not told one by one."""


def _listed(rows: Sequence[_Row]) -> str:
    more = [f"{len(rows) - MOST_ROWS:,} more"] if len(rows) > MOST_ROWS else []
    return ", ".join([*map(_row_text, rows[:MOST_ROWS]), *more])


def _row_text(row: _Row) -> str:
    values = (f"{name} {'NULL' if value is None else value}" for name, value in row.items())
    return f"({', '.join(values)})"


def damages(schedules: Sequence[Played], dialect: Dialect, target: str) -> Iterator[RowDamage]:
    """Every order in which both remove the same file, and leave rows that no serial order does."""
    if dialect.checks.moves_concern_removers:
        return
    sound = _most_often([in_turn(schedules, second).rows[target] for second in (0, 1)])
    for schedule in schedules:
        rows = schedule.rows[target] if _removes_alike(schedule.endings) else []
        excess = _counted(rows) - sound
        if excess:
            yield _damage(title_of(schedule), rows, sound, excess)


def _damage(
    order: str, rows: Sequence[_Row], sound: Counter[str], excess: Counter[str]
) -> RowDamage:
    by_text = {str(row): row for row in rows}
    doubled = tuple(by_text[text] for text in excess if text in sound)
    return RowDamage(order, doubled, tuple(by_text[text] for text in excess if text not in sound))


def _most_often(tables: Sequence[Sequence[_Row]]) -> Counter[str]:
    first, second = map(_counted, tables)
    return first | second


def _counted(rows: Sequence[_Row]) -> Counter[str]:
    return Counter(str(row) for row in rows)


def _removes_alike(endings: Sequence[Ending]) -> bool:
    first, second = map(_removed, endings)
    return bool(first & second)


def _removed(ending: Ending) -> frozenset[str]:
    """The paths of the files that a statement removed."""
    actions = ending.actions if isinstance(ending, Committed) else ()
    return frozenset(action.path for action in actions if isinstance(action, RemoveFile))

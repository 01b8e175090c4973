"""No commit is lost where a version can be put only once, in any order of steps; else one is.

The worlds are those of Vanlightly's model of Delta Lake ("Understanding Delta Lake's consistency
model", April 2024, delta_lake.tla): rows of a key and a
value, statements that insert, update and delete them, partitioned by key or not. Here the engine's
own transactions run, every order of their steps is played, and what a reader finds at the end is
held against a dictionary to which the committed statements were done one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations_with_replacement

from msgspec import Struct

from whitecap.engine.outcomes import Committed
from whitecap.engine.races.interleaving.branch import Branch
from whitecap.engine.races.interleaving.contender import start_of
from whitecap.engine.races.interleaving.race import Played
from whitecap.engine.races.interleaving.schedules import Exploration, schedules
from whitecap.engine.races.interleaving.story import story
from whitecap.engine.races.interleaving.world import Scene, World
from whitecap.engine.races.row_tables import DataFile, TableOf
from whitecap.engine.storage.requests import PutIfAbsent, PutResult, Request, Response

_Rows = Counter[tuple[str, int]]
"""What a table holds: how often each row."""


def _update(rows: _Rows) -> _Rows:
    changed: _Rows = Counter()
    for (key, value), count in rows.items():
        changed[key, 2 if key == "R" else value] += count
    return changed


STATEMENTS: Mapping[str, Callable[[_Rows], _Rows]] = {
    "INSERT INTO kv VALUES ('R', 1)": lambda rows: rows + Counter([("R", 1)]),
    "INSERT INTO kv VALUES ('G', 2)": lambda rows: rows + Counter([("G", 2)]),
    "UPDATE kv SET v = 2 WHERE k = 'R'": _update,
    "DELETE FROM kv WHERE k = 'R'": lambda rows: Counter(
        {row: count for row, count in rows.items() if row[0] != "R"}
    ),
}
"""What writers do, and what it does to the rows of a table that nobody else writes."""

FIRST = ("R", 0)


class InterleavingSearch(Struct, frozen=True):
    """All orders of the steps of some writers: how many were played, and the shortest bad one."""

    name: str
    must_lose: bool
    orders: int
    lost: tuple[str, ...] = ()

    @property
    def finds_a_lost_commit(self) -> bool:
        """Whether in some order a reader finds other rows than were committed."""
        return bool(self.lost)

    @property
    def is_as_it_must_be(self) -> bool:
        """Whether a commit is lost where no put-if-absent protects it, and nowhere else."""
        return self.finds_a_lost_commit == self.must_lose


def searches(writers: int = 3) -> list[InterleavingSearch]:
    """With put-if-absent, partitioned and not, of so many writers at once; and two without it."""
    return [
        _search("put-if-absent, partitioned by key", World, ["k"], writers),
        _search("put-if-absent, not partitioned", World, [], writers),
        _search("the last put wins, partitioned by key", _Careless, ["k"], 2),
        _search("the last put wins, not partitioned", _Careless, [], 2),
    ]


class _Overwriting(Branch):
    """A store without put-if-absent: whoever puts last wins."""

    def answer(self, request: Request) -> Response:
        if isinstance(request, PutIfAbsent):
            self._clock.now_ms += 1
            self._own.put(request.key, request.body)
            return PutResult.CREATED
        return super().answer(request)

    def copy(self) -> Branch:
        other = _Overwriting(self._base)
        other._clock.now_ms = self._clock.now_ms
        other._own = self._own.copy(other._clock)
        other._written, other._deleted = set(self._written), set(self._deleted)
        return other


class _Careless(World, frozen=True):
    """A world on such a store."""

    def branch(self) -> Scene:
        return Scene(self, _Overwriting(self.store))


def _search(
    name: str, kind: type[World], partition_columns: list[str], writers: int
) -> InterleavingSearch:
    world = kind.of_tables({"kv": _table(partition_columns)})
    orders = 0
    shortest: tuple[str, ...] = ()
    for contest in combinations_with_replacement(STATEMENTS, writers):
        for played in _played(world, contest, kind):
            orders += 1
            if _rows_left(played) != _committed(played, contest):
                steps = _steps(played, contest)
                shortest = min(shortest or steps, steps, key=len)
    return InterleavingSearch(name, kind is _Careless, orders, shortest)


def _table(partition_columns: list[str]) -> TableOf:
    """One row; commits of it are to be serializable in their order."""
    return TableOf(
        schema="k STRING, v INT",
        partition_columns=partition_columns,
        properties={"delta.isolationLevel": "Serializable"},
        files=[DataFile({}, [{"k": FIRST[0], "v": FIRST[1]}])],
        versions=2,
    )


def _played(world: World, contest: tuple[str, ...], kind: type[World]) -> Iterator[Played]:
    exploration = Exploration.DISTINCT if kind is World else Exploration.EVERY
    return schedules(world, [start_of(sql) for sql in contest], exploration)


def _rows_left(played: Played) -> _Rows:
    return Counter((row["k"], row["v"]) for row in played.rows["kv"])


def _committed(played: Played, contest: tuple[str, ...]) -> _Rows:
    """The committed statements one after the other, in the order of their versions."""
    versions = [
        (ending.version, who)
        for who, ending in enumerate(played.endings)
        if isinstance(ending, Committed)
    ]
    rows: _Rows = Counter([FIRST])
    for _, who in sorted(versions):
        rows = STATEMENTS[contest[who]](rows)
    return rows


def _steps(played: Played, contest: tuple[str, ...]) -> tuple[str, ...]:
    names = [f"w{who + 1} ({sql})" for who, sql in enumerate(contest)]
    return tuple(f"{line.who} {line.text}" for line in story(played, names))

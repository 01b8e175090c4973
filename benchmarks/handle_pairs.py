"""Two real clients, both with a handle of one version; one commits, then the other tries to.

Every pair of statements is played on a copy of one table, and oracles judge what is left: it must
be what the statements make one after the other. The first runs on the rows that both have seen.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct

from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.history import History, HistoryTransaction, Promise
from whitecap.sim.oracles.judging import judge_table
from whitecap.sim.replay.delta_rs.operations import columns_of, operation_of
from whitecap.sim.under_fire.clients import RealClient

LEVELS = (IsolationLevel.SERIALIZABLE, IsolationLevel.WRITE_SERIALIZABLE)

DAYS = (1, 2)
FILES_PER_DAY = 2
ROWS_PER_FILE = 10

SCHEMA = "id BIGINT, day BIGINT, v BIGINT"
MATCHED = "WHEN MATCHED THEN UPDATE SET v = s.v"
NOT_MATCHED = "WHEN NOT MATCHED THEN INSERT (id, day, v) VALUES (s.id, s.day, s.v)"

STATEMENTS: Mapping[str, str] = {
    "append": "INSERT INTO t VALUES ({new}, 1, 100)",
    "overwrite": "INSERT OVERWRITE t VALUES ({new}, 1, 100)",
    "delete": "DELETE FROM t WHERE day = 1 AND id = {old}",
    "delete by day": "DELETE FROM t WHERE day = 1",
    "delete all": "DELETE FROM t",
    "update": "UPDATE t SET v = v + 1 WHERE day = 1 AND id = {old}",
    "update all": "UPDATE t SET v = v + 1",
    "merge": "MERGE INTO t USING (SELECT {old} AS id, 1 AS day, 7 AS v) AS s "
    f"ON t.day = s.day AND t.id = s.id {MATCHED} {NOT_MATCHED}",
    "merge of new": "MERGE INTO t USING (SELECT {new} AS id, 1 AS day, 7 AS v) AS s "
    f"ON t.day = s.day AND t.id = s.id {NOT_MATCHED}",
    "compact": "OPTIMIZE t",
    "z-order": "OPTIMIZE t ZORDER BY (id)",
}
"""Of each kind that the package can do one; `new` is a key of its own, `old` one that is there."""


class HandlePair(Struct, frozen=True):
    """How a pair ended: what came of the second, and what oracles say at each level."""

    first: str
    second: str
    outcome: str
    judged: Mapping[IsolationLevel, Judgement]

    @property
    def name(self) -> str:
        """The first, then the second."""
        return f"{self.first} > {self.second}"

    def is_sound_at(self, level: IsolationLevel) -> bool:
        """Whether nothing was found at this level."""
        return not self.judged[level].findings


class StaleHandles:
    """Plays pairs with one table in `folder`, on which two clients hold handles."""

    def __init__(self, folder: Path, first: RealClient, second: RealClient) -> None:
        self._folder = folder
        self._clients = first, second
        self._base = folder / "base"
        self._numbers = count(1)
        self._version = _build(self._base, first)

    def pairs(self, names: Mapping[str, str] = STATEMENTS) -> Iterator[HandlePair]:
        """All of these statements beside all of them."""
        for first in names:
            for second in names:
                yield self.play(first, second)

    def play(self, first: str, second: str) -> HandlePair:
        """One pair, on a table of its own."""
        place = self._folder / f"pair-{next(self._numbers)}"
        shutil.copytree(self._base, place)
        for client in self._clients:
            client.open(str(place))
        texts = (
            STATEMENTS[first].format(new=1001, old=1),
            STATEMENTS[second].format(new=1002, old=2),
        )
        answers, version = [], self._version
        transactions = []
        for client, text, name in zip(self._clients, texts, ("first", "second"), strict=True):
            answer = client.run(operation_of(text, {}))
            versions = tuple(range(version + 1, _newest(place) + 1))
            version = _newest(place)
            transactions.append(self._transaction(name, text, answer, versions))
            answers.append(answer)
        judged = {
            level: judge_table(place, History(tuple(transactions), Promise(level=level)))
            for level in LEVELS
        }
        shutil.rmtree(place)
        return HandlePair(first, second, answers[1].get("exception", answers[1]["outcome"]), judged)

    def _transaction(
        self, name: str, text: str, answer: Mapping[str, Any], versions: tuple[int, ...]
    ) -> HistoryTransaction:
        outcome = RecordedOutcome(answer["outcome"])
        is_told = outcome is RecordedOutcome.COMMITTED
        return HistoryTransaction(
            name=name, writer=name, outcome=outcome, statement=text, read_version=self._version,
            acknowledged=versions if is_told else (), wrote=versions,
        )  # fmt: skip


def _newest(place: Path) -> int:
    """The newest version of the log in a directory."""
    return max(int(path.stem) for path in (place / "_delta_log").glob("*.json"))


def _build(place: Path, client: RealClient) -> int:
    """The table that every pair begins with; its version."""
    keys = count(1)
    files = [
        [{"id": next(keys), "day": day, "v": 0} for _ in range(ROWS_PER_FILE)]
        for day in DAYS
        for _ in range(FILES_PER_DAY)
    ]
    table = {
        "schema": columns_of(SCHEMA),
        "partition_columns": [],
        "properties": {},
        "files": files,
    }
    client.create(str(place), table)
    return _newest(place)

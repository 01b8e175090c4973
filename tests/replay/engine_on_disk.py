"""This project's engine on a table in a directory, for tests that share it with real Delta."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from whitecap.engine.commands import Table, run_statement
from whitecap.engine.outcomes import Outcome
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.disk.directory import DirectoryStore
from whitecap.engine.storage.memory import run
from whitecap.engine.storage.requests import PutIfAbsent, Steps


def statement(sql: str) -> Steps[Outcome]:
    """The steps of a statement on the table `target`, with nothing known from before."""
    return run_statement(parse_statement(sql), {"target": Table("target")})


def execute(sql: str, folder: Path) -> Outcome:
    """Run a statement from beginning to end on the table in `folder`."""
    return run(statement(sql), DirectoryStore(folder))


class Paused:
    """A statement that has done its work and waits before its first attempt to commit."""

    def __init__(self, sql: str, folder: Path) -> None:
        self._store = DirectoryStore(folder)
        self._steps: Generator[Any, Any, Outcome] = statement(sql)
        self._pending = next(self._steps)
        while not isinstance(self._pending, PutIfAbsent):
            self._pending = self._steps.send(self._store.answer(self._pending))

    def finish(self) -> Outcome:
        """Let it commit, or find that it cannot."""
        while True:
            try:
                self._pending = self._steps.send(self._store.answer(self._pending))
            except StopIteration as end:
                outcome: Outcome = end.value
                return outcome


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """The live rows of the table in `folder`, NULL first."""
    store, table = DirectoryStore(folder), Table("target")
    snapshot = run(table.latest(), store)
    read = table.data_files.read(snapshot.all_files(), snapshot.schema)
    live_rows = [row for file in run(read, store) for row in file.live_rows()]
    return sorted(live_rows, key=lambda row: tuple((value is not None, value) for value in row))

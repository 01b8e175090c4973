"""A table in memory to run SQL on."""

from __future__ import annotations

import json
from typing import Any

from whitecap.engine.commands import SharedTable, Table, run_statement
from whitecap.engine.dialects import DELTA_OSS_4_4
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, counting_clock, run
from whitecap.engine.storage.requests import Delete, Request, Response, Row


class Recorder(MemoryStore):
    """A memory store that remembers what it was asked, and whose clock may be put forward."""

    def __init__(self) -> None:
        ticking = counting_clock()
        super().__init__(lambda: ticking() + self.passed_ms)
        self.passed_ms = 0
        self.requests: list[Request] = []

    def answer(self, request: Request) -> Response:
        self.requests.append(request)
        return super().answer(request)


class Database:
    """Tables by name; each statement is run by a client of its own."""

    def __init__(self, index_rows: bool = False) -> None:
        self.store = Recorder()
        self.index_rows = index_rows
        self.shared: dict[str, SharedTable] = {}
        self.settings = Settings()
        self.dialect = DELTA_OSS_4_4

    def client(self) -> dict[str, Table]:
        return {
            name: Table(name, shared, self.settings, self.dialect, root=f"{name}/")
            for name, shared in self.shared.items()
        }

    def create(self, name: str, ddl: str, *partition_by: str, **properties: str) -> None:
        self.shared[name] = SharedTable(self.index_rows)
        text = f"CREATE TABLE {name} ({ddl}) USING delta"
        if partition_by:
            text += f" PARTITIONED BY ({', '.join(partition_by)})"
        if properties:
            pairs = (f"'delta.{key}' = '{value}'" for key, value in properties.items())
            text += f" TBLPROPERTIES ({', '.join(pairs)})"
        self.sql(text)

    def sql(self, text: str, **parameters: Any) -> Outcome:
        statement = parse_statement(text)
        if parameters:
            statement = statement.with_parameters(parameters)
        return run(run_statement(statement, self.client()), self.store)

    def commit(self, text: str, **parameters: Any) -> Committed:
        outcome = self.sql(text, **parameters)
        assert isinstance(outcome, Committed)
        return outcome

    def snapshot(self, name: str) -> Snapshot:
        table = self.client()[name]
        return run(table.at_root(table.log.update()), self.store)

    def forget_statistics(self, name: str) -> None:
        """The table as who collects no statistics would have written it."""
        for key in self.store.keys:
            if key.startswith(f"{name}/_delta_log/") and key.endswith(".json"):
                lines = [json.loads(line) for line in self.store.body(key).splitlines()]
                for line in lines:
                    line.get("add", {}).pop("stats", None)
                self.store.put(key, "\n".join(map(json.dumps, lines)).encode())
            elif key.endswith(".crc"):
                self.store.answer(Delete((key,)))
        self.shared[name] = SharedTable(self.index_rows)

    def rows(self, name: str) -> list[Row]:
        table, snapshot = self.client()[name], self.snapshot(name)
        steps = table.data_files.read(snapshot.all_files(), snapshot.schema)
        files = run(table.at_root(steps), self.store)
        return sorted(row for file in files for _, row in file)


def made(ddl: str = "k INT, v BIGINT", **properties: str) -> Database:
    """A database whose only table is `t`."""
    db = Database()
    db.create("t", ddl, **properties)
    return db


def adds(outcome: Committed) -> list[AddFile]:
    """The files that a commit added."""
    return [action for action in outcome.actions if isinstance(action, AddFile)]


def removes(outcome: Committed) -> list[RemoveFile]:
    """The files that a commit removed."""
    return [action for action in outcome.actions if isinstance(action, RemoveFile)]

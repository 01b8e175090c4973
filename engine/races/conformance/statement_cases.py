"""Runs statement cases on this engine: statements and batches racing on tables of rows.

The tables are built commit by commit as the case says, once for all cases that have the same. The
current statement then runs until it would write a commit file; there it waits while the winners run
to their end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec import Struct

from whitecap.engine.commands import SharedTable, Table, Tables
from whitecap.engine.dialects import Dialect, dialect_named
from whitecap.engine.errors import InvalidInput, UnsupportedFeature
from whitecap.engine.races.conformance.case import CaseResult, StatementCase
from whitecap.engine.races.conformance.compare import failed, judge, skipped
from whitecap.engine.races.conformance.entrants import steps_of
from whitecap.engine.races.conformance.staged import StagedStatement
from whitecap.engine.races.row_tables import TableOf, build, live_rows
from whitecap.engine.settings import Settings
from whitecap.engine.storage.memory import MemoryStore, counting_clock, counting_ids

RACING_AT_MS = 1_795_219_200_000
"""When the tables of a case are made: late in 2026, as the cases were observed then."""
_MADE_WITHIN = 1_000_000
"""How many milliseconds and ids a race begins after its tables were begun: more than they take."""
_MOST_KEPT = 64
"""Tables before a race that are kept: nine of ten cases have those of another one nearby."""
VALUES_TASKS = 2
"""The racing statements run as on a session with several cores, which all write a VALUES list."""

_Stage = Callable[..., StagedStatement]
"""Runs who takes part in a race up to one of its commits."""

_ENDS_WELL = frozenset({"committed", "nothing_to_commit"})


def run_case(case: StatementCase) -> CaseResult:
    """Run one case; skipped if it needs what is not modelled."""
    try:
        return _run(case)
    except (InvalidInput, UnsupportedFeature) as lack:
        return skipped(case, str(lack))


def _run(case: StatementCase) -> CaseResult:
    dialect = dialect_named(case.dialect)
    winning = dialect_named(case.winner_dialect or case.dialect)
    tables = tables_of(case)
    for name, wanted in case.tables.items():
        if tables.versions[name] != wanted.versions:
            return failed(case, "versions", wanted.versions, tables.versions[name])
    stage = tables.stage(dialect, case.settings)
    endings = [_won(stage(entrant)) for entrant in case.before]
    if not _ENDS_WELL.issuperset(endings):
        return failed(case, "before", sorted(_ENDS_WELL), endings)
    stage_winner = tables.stage(winning, winning.settings_known(case.settings))
    observed = _race(case, stage, stage_winner)
    observed["rows"] = tables.rows(dialect)
    return judge(case, observed)


class CaseTables(Struct, frozen=True):
    """The tables of a case in one store, for clients of any dialect and session."""

    store: MemoryStore
    shared: Mapping[str, SharedTable]
    versions: Mapping[str, int]

    def branched(self) -> CaseTables:
        """The same with a history of their own."""
        clock = counting_clock(RACING_AT_MS + _MADE_WITHIN)
        store = self.store.copy(clock, counting_ids(_MADE_WITHIN))
        shared = {
            name: table.branched(table.commits.branched()) for name, table in self.shared.items()
        }
        return CaseTables(store, shared, self.versions)

    def stage(self, dialect: Dialect, conf: Mapping[str, str]) -> _Stage:
        """What stages entrants of a dialect in a session that is configured so."""
        settings = replace(dialect.settings_of(conf), values_tasks=VALUES_TASKS)
        client = partial(_client, self.shared, dialect)
        return lambda entrant, waits_at=1: StagedStatement(
            steps_of(entrant, client, settings), self.store, waits_at
        )

    def rows(self, dialect: Dialect) -> list[dict[str, Any]]:
        """The target's rows as they are now."""
        client = _client(self.shared, dialect, dialect.settings_of({}))
        return list(live_rows(client["target"], self.store))


def tables_of(case: StatementCase) -> CaseTables:
    """Those of a case before its race, with room for a history of its own."""
    return _made(msgspec.json.encode(case.tables), case.dialect).branched()


@lru_cache(_MOST_KEPT)
def _made(tables: bytes, dialect_name: str) -> CaseTables:
    """Tables before any race, made without its settings, once for the cases that have the same."""
    store, dialect = MemoryStore(counting_clock(RACING_AT_MS)), dialect_named(dialect_name)
    wanted = msgspec.json.decode(tables, type=dict[str, TableOf])
    shared = {name: SharedTable() for name in wanted}
    client = _client(shared, dialect, dialect.settings_of({}))
    versions = {name: build(client[name], each, store) for name, each in wanted.items()}
    return CaseTables(store, shared, versions)


def _client(shared: Mapping[str, SharedTable], dialect: Dialect, settings: Settings) -> Tables:
    return {
        name: Table(name, table, settings, dialect, root=f"{name}/")
        for name, table in shared.items()
    }


def _race(case: StatementCase, stage: _Stage, stage_winner: _Stage) -> dict[str, Any]:
    """The statements from their snapshots to their ends."""
    observed: dict[str, Any] = {}
    current = stage(case.current, case.waits_at)
    if current.is_waiting:
        winners = [_won(each) for each in _staged_winners(case, stage_winner)]
        observed["winner"] = winners if isinstance(case.winner, list) else winners[0]
        current.finish()
    observed |= current.described()
    if case.rerun:
        observed["rerun"] = _won(stage(case.current))
    return observed


def _staged_winners(case: StatementCase, stage: _Stage) -> Iterable[StagedStatement]:
    """One after the other has committed, or all before one does."""
    winners = (stage(played) for played in case.winners)
    return list(winners) if case.overlapping else winners


def _won(winner: StagedStatement) -> str:
    """Let a winner go on to its end; how it ended, in one word."""
    winner.finish()
    return str(winner.described()["current"])

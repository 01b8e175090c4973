"""Runs conformance cases on a real deltalake: whoever reads before others commit holds a handle.

Operations of the package cannot be stopped half way, so a statement that lost stages its files when
the winners have committed already. Its transaction begins at the version of its handle all the
same, and what it is checked against is what the case says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whitecap.engine.dialects import MICRO_BATCH, dialect_named
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.races.conformance.case import (
    MIXED,
    Case,
    CaseResult,
    Entrant,
    StatementCase,
)
from whitecap.engine.races.conformance.compare import failed, judge, skipped
from whitecap.engine.races.row_tables import TableOf
from whitecap.engine.settings import APPLICATION, APPLICATION_VERSION
from whitecap.sim.replay.delta_rs.operations import columns_of, operation_of
from whitecap.sim.replay.delta_rs.process import PackageProcess

WORKER = Path(__file__).with_name("worker.py")
NO_READS = "the package takes actions that are given, but no predicates that they have read"


class DeltaRs:
    """A running worker; `dialect` is that of its version."""

    def __init__(self, process: PackageProcess) -> None:
        self.dialect = f"delta-rs-{process.version}"
        self.race = process.ask


@contextmanager
def delta_rs(python: str | None = None) -> Iterator[DeltaRs]:
    """The package of an interpreter, by default of this one. Raises EnvironmentMissing."""
    process = PackageProcess(python, WORKER)
    try:
        yield DeltaRs(process)
    finally:
        process.close()


def run_cases(cases: Iterable[Case], python: str | None = None) -> Iterator[CaseResult]:
    """Run cases one after another; skipped, with the reason, where the package does not reach."""
    with delta_rs(python) as package:
        for case in cases:
            yield _run(case, package)


def _run(case: Case, package: DeltaRs) -> CaseResult:
    if case.dialect != package.dialect:
        return skipped(case, f"dialect {case.dialect}; this is {package.dialect}")
    if not isinstance(case, StatementCase):
        return skipped(case, NO_READS)
    if case.winner_dialect:
        return skipped(case, MIXED)
    try:
        race = race_of(case)
    except UnsupportedFeature as lack:
        return skipped(case, str(lack))
    answer = package.race(race)
    if "error" in answer:
        return failed(case, "engine", "an outcome", answer["error"])
    return judge(case, facts_of(case, answer))


def race_of(case: StatementCase) -> dict[str, Any]:
    """The race as the worker takes it. Raises `UnsupportedFeature` if the package cannot."""
    if case.waits_at > 1:
        raise UnsupportedFeature("its operations cannot be stopped between their commits")
    if case.before:
        raise UnsupportedFeature("its tables have no history but that of their files")
    return {
        "tables": {name: _table(table) for name, table in case.tables.items()},
        "winners": [_operation(played, case) for played in case.winners],
        "current": _operation(case.current, case),
        "overlapping": case.overlapping,
        "rerun": case.rerun,
    }


def _operation(played: Entrant, case: StatementCase) -> dict[str, Any]:
    if isinstance(played, str):
        return operation_of(played, case.settings)
    if played.sql is None:
        dialect_named(case.dialect).require([MICRO_BATCH])
    own = {APPLICATION: played.app_id, APPLICATION_VERSION: str(played.version)}
    return operation_of(str(played.sql), {**case.settings, **own})


def _table(table: TableOf) -> dict[str, Any]:
    return {
        "schema": columns_of(table.schema),
        "partition_columns": table.partition_columns,
        "properties": table.properties,
        "files": [file.rows for file in table.files],
    }


def facts_of(case: StatementCase, answer: dict[str, Any]) -> dict[str, Any]:
    """What happened, by the keys of `expect`."""
    winners = answer["winners"]
    facts = {key: answer[key] for key in ("current", "rerun", "rows")}
    facts["winner"] = winners if isinstance(case.winner, list) else winners[0]
    facts["version"] = answer["version"] if answer["current"] == "committed" else None
    return facts

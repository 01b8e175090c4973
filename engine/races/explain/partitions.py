"""Which partitions a statement touches, found by running it alone."""

from __future__ import annotations

from whitecap.engine.errors import EngineError
from whitecap.engine.log.actions import AddFile, RemoveFile
from whitecap.engine.outcomes import Committed
from whitecap.engine.races.explain.case import RaceCase
from whitecap.engine.races.interleaving.contender import start_of
from whitecap.engine.storage.memory import run


def partitions_touched(case: RaceCase, sql: str) -> list[dict[str, str | None]]:
    """The partition values of every file that the statement adds or removes; none if it fails."""
    scene = case.world().branch()
    try:
        outcome = run(start_of(sql)(scene.client()), scene.store)
    except EngineError:
        return []
    if not isinstance(outcome, Committed):
        return []
    return [
        dict(action.partition_values or {})
        for action in outcome.actions
        if isinstance(action, AddFile | RemoveFile)
    ]

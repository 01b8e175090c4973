"""The check of a log, for tests that want an error with every problem that it has."""

from __future__ import annotations

from collections.abc import Mapping

from whitecap.engine.errors import InvalidLog
from whitecap.engine.log.snapshot import EMPTY_SNAPSHOT, Snapshot
from whitecap.engine.storage.requests import Steps
from whitecap.sim.oracles.log_validation import CheckedLog, checked_commits, checked_log


def validate_commits(bodies: Mapping[int, bytes], base: Snapshot = EMPTY_SNAPSHOT) -> Snapshot:
    """Check commit files; answers the table they lead to. Raises `InvalidLog`."""
    return _without_breach(checked_commits(bodies, base))


def validate_log() -> Steps[Snapshot]:
    """Check everything in a table's log; answers the table. Raises `InvalidLog`."""
    return _without_breach((yield from checked_log()))


def _without_breach(log: CheckedLog) -> Snapshot:
    if log.breaches:
        raise InvalidLog([breach.problem for breach in log.breaches])
    return log.snapshot

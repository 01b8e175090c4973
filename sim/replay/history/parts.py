"""The transactions inside one recorded transaction, from its attempts to commit.

The recording has one row for a statement; some statements open several transactions of Delta, one
after the other (VACUUM, switching row tracking on, the retries of OPTIMIZE), and a lost reply lets
one of them commit without its writer's knowing, which then goes on. Read here are the attempts: a
transaction of Delta begins at the version before its first attempt and ends with a put that made
a version, or with the row's outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from whitecap.engine.storage.requests import PutResult
from whitecap.sim.replay.playing.script import CommandPart

RecordedRow = Mapping[str, Any]


class Attempts(Struct, frozen=True):
    """What the attempts of one recorded transaction say.

    `made`: the parts that made a version, in order. `unaware`: those among the versions of which
    the writer never learned, although it went on. `open_since`: the version that the last part read
    which made none; `None` if all parts made a version.
    """

    made: tuple[CommandPart, ...] = ()
    unaware: tuple[CommandPart, ...] = ()
    open_since: int | None = None


def read_attempts(
    rows: Sequence[RecordedRow], landed: Sequence[int], knows_its_own: bool
) -> Attempts:
    """Read the attempts of one transaction, in order; `landed` are the versions in the log.

    `knows_its_own`: whether a writer that finds its own commit in its way takes it as such.
    """
    made: list[CommandPart] = []
    unaware: list[CommandPart] = []
    open_since: int | None = None
    last_of = {int(row["version"]): row for row in rows}
    for row in rows:
        version = int(row["version"])
        if open_since is None:
            open_since = version - 1
        if version not in landed or row is not last_of[version]:
            continue
        part = CommandPart(open_since, version - 1, version)
        if row["result"] == PutResult.ALREADY_EXISTS.value and not knows_its_own:
            unaware.append(part)
        else:
            made.append(part)
            open_since = None
    return Attempts(tuple(made), tuple(unaware), open_since)

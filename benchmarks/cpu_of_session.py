"""CPU seconds of everything that a session of processes started, a JVM and its workers included.

On a machine with busy neighbours these say more than the clock.
"""

from __future__ import annotations

import os
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SESSION, _TIMES = 3, slice(11, 15)
"""Places in /proc/<pid>/stat after the name (proc(5): session, utime, stime, cutime, cstime)."""


def cpu_seconds() -> float:
    """CPU seconds so far of all processes of this one's session and of those that they outlived."""
    session = os.getsid(0)
    return sum(_ticks(stat, session) for stat in Path("/proc").glob("[0-9]*/stat")) / _TICKS_PER_S


def _ticks(stat: Path, session: int) -> int:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[_TIMES])) if int(fields[_SESSION]) == session else 0

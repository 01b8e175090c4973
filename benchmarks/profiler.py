"""What the time of a run goes into: which part of the product is at work, asked again and again.

Python lets nobody look in between two of its instructions, so that what a library does in one call
is counted for whoever called it, and now and then for who is called next.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import simpy

ROOT = Path(__file__).parents[1]
SIMPY = Path(simpy.__file__).parent

EVERY_S = 0.0005
"""Between two looks: a run of some seconds then has thousands of them, and is hardly slowed."""

ROOMS = {
    "sim/time/kernel.py": "waiting",
    "sim/time": "draws",
    "sim/store/requests/tape.py": "draws",
    "sim/store/requests/latency.py": "draws",
    "sim/quantities": "draws",
    "sim/store": "requests",
    "sim/recording": "recording",
    "engine/sql/expressions/rendering.py": "recording",
    "sim/writers": "writers and their values",
    "sim/table": "writers and their values",
    "engine/log/statistics.py": "files and statistics",
    "engine/writing": "files and statistics",
    "engine/log": "log and snapshots",
    "engine/packed": "log and snapshots",
    "engine/storage": "log and snapshots",
    "engine/row_store": "rows",
    "engine/row_level": "rows",
    "engine/session/row_index.py": "rows",
    "engine/conflicts": "commits and conflicts",
    "engine/transaction": "commits and conflicts",
    "engine": "statements",
    "sim": "writers and their values",
}
"""Where code lies -> what it is at work for; the first of these that it lies under counts."""

PARTS = tuple(dict.fromkeys(ROOMS.values()))


class SamplingProfiler:
    """Counts looks at a run, while it is open, by what was at work. Only in the main thread."""

    def __init__(self) -> None:
        self.looks = Counter[str]()
        self._part_of: dict[CodeType, str | None] = {}
        self._is_looking = False

    def __enter__(self) -> SamplingProfiler:
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, EVERY_S, EVERY_S)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def shares(self) -> dict[str, float]:
        """The share of each part, of what was seen to be at work."""
        total = sum(self.looks.values()) or 1
        return {part: self.looks[part] / total for part in PARTS}

    def _look(self, _: int, frame: FrameType | None) -> None:
        if self._is_looking:  # on a busy machine a look may last until the next one is due
            return
        self._is_looking = True
        part = self._at_work(frame)
        if part is not None:
            self.looks[part] += 1
        self._is_looking = False

    def _at_work(self, frame: FrameType | None) -> str | None:
        while frame is not None:
            part = self._part(frame.f_code)
            if part is not None:
                return part
            frame = frame.f_back
        return None

    def _part(self, code: CodeType) -> str | None:
        if code not in self._part_of:
            self._part_of[code] = part_of(Path(code.co_filename))
        return self._part_of[code]


def part_of(path: Path) -> str | None:
    """What code in a file is at work for; `None` for a library's, other than SimPy's."""
    if path.is_relative_to(SIMPY):
        return "waiting"
    if not path.is_relative_to(ROOT):
        return None
    inside = path.relative_to(ROOT)
    return next((part for place, part in ROOMS.items() if inside.is_relative_to(place)), None)

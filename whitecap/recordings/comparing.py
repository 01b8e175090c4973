"""Two recorded runs or sweeps side by side, from Python.

import whitecap
compared = whitecap.compare("out/before", "out/after")
print(compared)
compared.table
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os import fspath
from pathlib import Path

from whitecap.arguments.kinds import of_its_kinds
from whitecap.arguments.texts import texts_of
from whitecap.checking.recorded import Compared, compare_recorded
from whitecap.engine.errors import each_read, gathered, noted
from whitecap.reports.comparisons.sides import COMPARED
from whitecap.reports.precision.asked import measures_named
from whitecap.sim.recording.dataset.place import is_uri
from whitecap.sweep_engine import sweep_engine
from whitecap.sweep_places import require_recorded
from whitecap.sweeps import Sweep

__all__ = ["Compared", "compare"]


@of_its_kinds
def compare(
    before: Sweep | str | Path,
    after: Sweep | str | Path,
    *,
    measure: str | Sequence[str] = (),
    engine: str | None = None,
    master: str | None = None,
) -> Compared:
    """What differs in `after` from `before`, two sweeps, their places, or runs' directories.

    Cells of the same labels are compared, or the only ones, by writer group; where both have one
    seed, within replications. All intervals together hold with 95 %. `measure`: one or several
    instead of those that one decides by. What lies on this machine is read without Spark, unless
    an `engine` or a `master` is named.

    Raises `InvalidInput`: neither lies there, something is damaged, they have no cell in common.
    """
    return asked(fspath(before), fspath(after), measure, engine, master)()


def asked(
    before: str | Path,
    after: str | Path,
    measure: str | Sequence[str],
    engine: str | None,
    master: str | None,
) -> Callable[[], Compared]:
    """What `compare` is asked, as something to be called once all of it is known to be right.

    Raises `InvalidInput` with every problem that can be told before.
    """
    is_here = engine is None and master is None and not any(map(is_uri, (before, after)))
    with gathered() as problems:
        each_read((before, after), require_recorded, problems)
        with noted(problems):
            measures = measures_named(texts_of(measure), "measure") or COMPARED
        runs_on = sweep_engine("processes" if is_here else engine, master, quiet=True)
    return partial(compare_recorded, str(before), str(after), runs_on, measures)

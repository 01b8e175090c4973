"""`whitecap.from_log`: a scenario drafted from the log of a real table."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.inferring import DEFAULT_COMMITS
from whitecap.sim.inferring.drafting import Draft, draft_of
from whitecap.sim.inferring.observed import observe
from whitecap.sim.inferring.text import Options
from whitecap.sim.loading.profiles import require_shipped
from whitecap.sim.recording.dataset.place import is_uri


def from_log(
    table: str | Path,
    *,
    store: str | None = None,
    anonymise: bool = False,
    commits: int = DEFAULT_COMMITS,
    name: str = "",
    from_files: bool = False,
) -> Draft:
    """Draft a scenario from the newest `commits` of the Delta table at a directory or URI.

    `whitecap.run(draft.text)` runs it; `store` is a profile's name. Its runs begin with a table
    like the real one, or with that one's own files. Raises `InvalidInput`: there is no Delta table,
    its log cannot be read, or it holds no commit of a writer; or other names are asked for than the
    files have.
    """
    if anonymise and from_files:
        raise InvalidInput([Problem("", "a draft that begins with the table's files names it")])
    if store is not None:
        require_shipped(store, "--store")
    observed = observe(str(table), commits)
    place = Path(table).absolute() if from_files and not is_uri(table) else observed.place
    observed = replace(observed, place=str(place))
    said = [*([] if anonymise else [observed.place]), *(["--from-files"] if from_files else [])]
    command = shlex.join(["whitecap", "from-log", *said])
    return draft_of(observed, Options(store, anonymise, name, command, from_files))

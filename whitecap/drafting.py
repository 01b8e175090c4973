"""`whitecap.from_log`: a scenario drafted from the log of a real table."""

from __future__ import annotations

import shlex
from pathlib import Path

from whitecap.sim.inferring import DEFAULT_COMMITS
from whitecap.sim.inferring.drafting import Draft, Options, draft_of
from whitecap.sim.inferring.observed import observe
from whitecap.sim.loading.profiles import require_shipped


def from_log(
    table: str | Path,
    *,
    store: str | None = None,
    anonymise: bool = False,
    commits: int = DEFAULT_COMMITS,
    name: str = "",
) -> Draft:
    """Draft a scenario from the newest `commits` of the Delta table at a directory or URI.

    `whitecap.run(draft.text)` runs it; `store` is a profile's name. Raises `InvalidInput`: there
    is no Delta table, its log cannot be read, or it holds no commit of a writer.
    """
    if store is not None:
        require_shipped(store, "--store")
    observed = observe(str(table), commits)
    command = shlex.join(["whitecap", "from-log", *([] if anonymise else [observed.place])])
    return draft_of(observed, Options(store, anonymise, name, command))

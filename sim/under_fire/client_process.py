"""One real client of a Delta table: the package deltalake, told by lines of JSON what to do.

Runs in any interpreter that has deltalake and pyarrow, and needs nothing else. Its argument is the
program that knows how operations are run (`sim/replay/delta_rs/worker.py`). The first line out
names the package's version. `create` makes a table. `open` takes a handle of the newest version, in
the name of somebody whom the store knows by the access key; `run` carries an operation out through
that handle, however old it is by then.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

import deltalake
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError


def main() -> None:
    """Say which version this is, then do what each line asks; `race` is what the worker of the
    conformance cases knows (`sim/replay/delta_rs/worker.py`)."""
    race = runpy.run_path(sys.argv[1])
    print(json.dumps({"version": deltalake.__version__}), flush=True)
    table: DeltaTable | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["ask"] == "open":
                os.environ.update(asked["environment"])
                table = DeltaTable(asked["url"])
                answer: dict[str, Any] = {"version": table.version()}
            elif asked["ask"] == "create":
                race["build"](asked["url"], asked["table"])
                answer = {}
            else:
                assert table is not None
                answer = run(race, asked["operation"], table)
        except Exception as error:
            answer = {"outcome": "unknown", "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def run(race: dict[str, Any], operation: dict[str, Any], table: DeltaTable) -> dict[str, Any]:
    """How it ended, and the version that its handle shows then."""
    try:
        race["OPERATIONS"][operation["do"]](operation, table, {})
    except CommitFailedError as error:
        return {"outcome": "aborted", "exception": race["conflict"](str(error))}
    return {"outcome": "committed", "version": table.version()}


if __name__ == "__main__":
    main()

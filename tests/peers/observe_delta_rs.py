"""Asks the package deltalake how every pair ends, and writes that down as conformance cases.

    python -m tests.peers.observe_delta_rs [PYTHON]

PYTHON is an interpreter that has the version to ask, by default this one. Of operations that are
alike one is asked, in two layouts; tables have two rows in each file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from tests.peers.races_of_pairs import OPERATIONS, race
from whitecap.engine.races.conformance.case import StatementCase
from whitecap.sim.replay.delta_rs.cases import DeltaRs, delta_rs, facts_of, race_of

CASES = Path(__file__).parents[1] / "conformance" / "cases"
LAYOUTS = ("a", "b")
ALIKE = ("zord", "mrgI", "col")
"""Ends as a compaction, a MERGE by a literal or an ADD CONSTRAINT does, or nearly so."""
KEYS = ("current", "winner", "rows")


def observed(package: DeltaRs) -> Iterator[dict[str, Any]]:
    """The cases, with what they expect."""
    asked = [name for name in OPERATIONS if name not in ALIKE]
    for layout in LAYOUTS:
        for first in asked:
            for second in asked:
                case = race(package.dialect, layout, first, second, rows_per_file=2)
                yield _with_expectations(case, package)


def _with_expectations(case: StatementCase, package: DeltaRs) -> dict[str, Any]:
    found = facts_of(case, package.race(race_of(case)))
    version = package.dialect.removeprefix("delta-rs-")
    case = msgspec.structs.replace(
        case,
        expect={key: found[key] for key in KEYS},
        source=f"observed on deltalake {version}",
    )
    defaults = {"overlapping": False, "waits_at": 1, "rerun": False, "settings": {}, "notes": ""}
    told = msgspec.to_builtins(case)
    return {key: value for key, value in told.items() if defaults.get(key) != value}


def main() -> None:
    """Write the cases of the version that is there."""
    with delta_rs(*sys.argv[1:]) as package:
        lines = [json.dumps(case, ensure_ascii=False) for case in observed(package)]
        name = package.dialect.replace("-", "_").replace(".", "_")
    (CASES / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()

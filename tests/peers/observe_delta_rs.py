"""Asks the package deltalake how its races end, and writes that down as conformance cases.

    python -m tests.peers.observe_delta_rs [PYTHON]

PYTHON is an interpreter that has the version to ask, by default this one. The races are those of
every pair of operations and those of conditions. Of operations that are alike one is asked, in two
layouts; tables have two rows in each file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tests.peers import races_of_conditions
from tests.peers.races_of_pairs import OPERATIONS, race
from whitecap.engine.races.conformance.case import StatementCase
from whitecap.sim.replay.delta_rs.cases import DeltaRs, delta_rs, facts_of, race_of

CASES = Path(__file__).parents[1] / "conformance" / "cases"
LAYOUTS = ("a", "b")
ALIKE = ("zord", "mrgI", "col")
"""Ends as a compaction, a MERGE by a literal or an ADD CONSTRAINT does, or nearly so."""
KEYS = ("current", "winner", "rows")


NOTHING = "nothing_to_commit"


def observed(package: DeltaRs) -> Iterator[dict[str, Any]]:
    """The cases, with what they expect."""
    for case in (*_pairs(package.dialect), *races_of_conditions.races(package.dialect)):
        yield _with_expectations(case, package)


def _pairs(dialect: str) -> Iterator[StatementCase]:
    asked = [name for name in OPERATIONS if name not in ALIKE]
    for layout in LAYOUTS:
        for first in asked:
            for second in asked:
                yield race(dialect, layout, first, second, rows_per_file=2)


def _with_expectations(case: StatementCase, package: DeltaRs) -> dict[str, Any]:
    facts = facts_of(case, package.race(race_of(case)))
    keys = ("current",) if facts["current"] == NOTHING else KEYS  # it met no winner
    version = package.dialect.removeprefix("delta-rs-")
    case = replace(
        case,
        expect={key: facts[key] for key in keys},
        source=f"observed on deltalake {version}",
    )
    defaults = {"overlapping": False, "waits_at": 1, "rerun": False, "settings": {}, "notes": ""}
    written = msgspec.to_builtins(case)
    return {key: value for key, value in written.items() if defaults.get(key) != value}


def main() -> None:
    """Write the cases of the version that is there."""
    with delta_rs(*sys.argv[1:]) as package:
        lines = [json.dumps(case, ensure_ascii=False) for case in observed(package)]
        name = package.dialect.replace("-", "_").replace(".", "_")
    (CASES / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()

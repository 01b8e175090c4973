"""What the oracles find in tables that real deltalake leaves; writes `docs/real-engines.md`.

    python -m benchmarks.stale_handles PYTHON...

Every kind of statement beside every other one, the second through a handle of before the first, by
the deltalake of each interpreter. Ends with 1 if anything else is found than is known of a version.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from benchmarks import killed_jvm
from benchmarks.handle_pairs import STATEMENTS, HandlePair, StaleHandles
from benchmarks.markdown import table
from whitecap.engine.isolation import IsolationLevel
from whitecap.sim.under_fire.clients import real_client

PAGE = Path(__file__).parents[1] / "docs" / "real-engines.md"

REVERSED = frozenset(product(("append", "merge of new"), ("overwrite", "delete all")))
"""delta-rs checks no reads of what has no predicate: right only as if the second had come first."""

CORRUPT = frozenset(
    product(("compact", "z-order"), ("overwrite", "delete all", "compact", "z-order"))
)
"""deltalake 1.6.6 leaves files that are removed with dataChange=false out of its check of deleted
files, so that what a compaction has rewritten is removed once more, and written once more."""

UNSOUND_PAIRS = {"1.6.3": frozenset[tuple[str, str]](), "1.6.6": CORRUPT}
"""Version of the package -> pairs that no order of the two explains. Measured by comparing the
table with both orders, without the oracles; `REVERSED` is the same in both versions."""


def main(pythons: Sequence[str]) -> int:
    played = {}
    for python in pythons:
        version, pairs = play(python)
        played[version] = pairs
        print(f"deltalake {version}: {len(pairs)} pairs, {len(unsound(pairs))} unsound")
    rest = PAGE.read_text(encoding="utf-8").partition(killed_jvm.TITLE)[1:]
    PAGE.write_text("\n".join([*page(played), "", "".join(rest)]), encoding="utf-8")
    return 0 if all(is_as_known(version, pairs) for version, pairs in played.items()) else 1


def play(python: str | None) -> tuple[str, list[HandlePair]]:
    """The version of an interpreter's deltalake, and all pairs."""
    with (
        tempfile.TemporaryDirectory(prefix="whitecap-handles-") as folder,
        real_client(python) as first,
        real_client(python) as second,
    ):
        return first.version, list(StaleHandles(Path(folder), first, second).pairs())


def unsound(
    pairs: Sequence[HandlePair], level: IsolationLevel = IsolationLevel.SERIALIZABLE
) -> frozenset[tuple[str, str]]:
    """The pairs in which oracles find something at a level."""
    return frozenset((p.first, p.second) for p in pairs if not p.is_sound_at(level))


def is_as_known(version: str, pairs: Sequence[HandlePair]) -> bool:
    """Whether exactly those pairs are found out that are known, at each level."""
    expected = UNSOUND_PAIRS[version]
    weak = unsound(pairs, IsolationLevel.WRITE_SERIALIZABLE)
    return unsound(pairs) == expected | REVERSED and weak == expected


def page(played: dict[str, list[HandlePair]]) -> Iterator[str]:
    """In Markdown."""
    today = datetime.now(UTC).date()
    yield "# Real engines before the oracles\n"
    yield f"Made by `make real-engines`, last on {today}. {INTRODUCTION}"
    for version, pairs in played.items():
        said = "as known" if is_as_known(version, pairs) else "NOT as known"
        yield f"\n## deltalake {version}: {said}\n"
        rows = (
            (first, *(cell(pair) for pair in pairs if pair.first == first)) for first in STATEMENTS
        )
        yield from table(("first \\ second", *STATEMENTS), rows)


INTRODUCTION = (
    "Two clients of the real package hold handles of one version of an unpartitioned table; the "
    "first commits, then the second tries to. What is left is judged by the [oracles](oracles.md), "
    "which know nothing of deltalake and read the log, the Parquet files and the two statements."
    "\n\n"
    "`ok`: both committed and nothing is found. `refused`: the second was, and nothing is found. "
    "`reversed`: both committed, and the table is right only as if the second had come first, "
    "which `Serializable`, delta-rs's level, does not allow and `WriteSerializable` does. "
    "**`corrupt`**: no order of the two explains the table, with the anomalies that are named. "
    "What is known of the two versions was measured without the oracles, by comparing each table "
    "with both orders."
)


def cell(pair: HandlePair) -> str:
    """How a pair ended, in a word or two."""
    if not pair.is_sound_at(IsolationLevel.WRITE_SERIALIZABLE):
        findings = pair.judged[IsolationLevel.WRITE_SERIALIZABLE].findings
        names = sorted({finding.anomaly.value for finding in findings})
        return f"**corrupt**: {', '.join(names)}"
    if not pair.is_sound_at(IsolationLevel.SERIALIZABLE):
        return "reversed"
    return "ok" if pair.outcome == "committed" else "refused"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

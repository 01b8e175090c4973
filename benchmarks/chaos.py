"""A campaign over all shipped scenarios, and its result as the last section of docs/chaos.md.

Usage: `python -m benchmarks.chaos MINUTES [SEED]`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "chaos.md"
TITLE = "## The last campaign"
MOST_RUNS = "10000000"

LEFT_OUT = "stale_listing"
"""What follows from it is there in one run of fifteen, always explained, and takes most of the time
to explain."""

WORKLOADS = ("events", "optimize", "row-level", "capacity", "mixed-engines", "two-tables")
"""Scenarios that stand in no folder."""

NO_CAMPAIGN = frozenset({"f02-vacuum-under-a-reader"})
"""Its reader appends the table to itself, once: over and over rows would be without number."""


def main(minutes: str, seed: str = "1") -> None:
    """Run it, and write what came of it."""
    began = time.monotonic()
    result = _campaign(minutes, seed)
    seconds = time.monotonic() - began
    page = PAGE.read_text(encoding="utf-8").partition(TITLE)[0].rstrip()
    section = "\n".join([TITLE, "", *_section(result, seconds)])
    PAGE.write_text(f"{page}\n\n{section}\n", encoding="utf-8")
    print(section)


def _campaign(minutes: str, seed: str) -> dict[str, Any]:
    command = [
        str(Path(sys.executable).with_name("whitecap")),
        "chaos",
        *_scenarios(),
        "--seed",
        seed,
    ]
    options = ["--without", LEFT_OUT, "--runs", MOST_RUNS, "--minutes", minutes]
    options += ["--no-shrink", "--json"]
    made = subprocess.run([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    result: dict[str, Any] = json.loads(made.stdout)
    return result


def _scenarios() -> Iterator[str]:
    """The shipped ones that stand for a workload, in a fixed order."""
    scenarios = ROOT / "scenarios"
    paths = [scenarios / f"{name}.yaml" for name in WORKLOADS]
    for folder in ("regression", "field", "failures"):
        paths += sorted((scenarios / folder).glob("*.yaml"))
    yield from (str(path.relative_to(ROOT)) for path in paths if path.stem not in NO_CAMPAIGN)


def _section(result: Mapping[str, Any], seconds: float) -> Iterator[str]:
    runs, repeated = result["runs"], result["repeated_runs"]
    unexplained = [each for each in result["findings"] if each["cause"] is None]
    date = datetime.now(UTC).date().isoformat()
    alike = "no two the same" if not repeated else f"{repeated} the same as another"
    yield (
        f"{date}, `make chaos`, seed {result['seed']}: {runs:,} runs over "
        f"{len(list(_scenarios()))} scenarios in {seconds / 60:.0f} minutes "
        f"({runs / seconds:.1f} runs a second), {alike}; {result['commits']:,} commits of "
        f"{result['transactions']:,} transactions. {runs - result['short_runs']:,} runs have at "
        "least 20 commits. The graph of dependencies and the content of versions were judged in "
        f"every run, rows compared in DuckDB in {result['rows_compared']:,}. Without the fault "
        f"{LEFT_OUT}."
    )
    yield ""
    yield (
        f"Runs with findings: {len(result['findings'])}, of which {len(unexplained)} unexplained."
    )
    yield from _table(("finding", "because of", "runs"), _causes(result))
    yield ""
    yield f"Never exercised: {', '.join(result['never_exercised']) or 'nothing'}."
    exercised = sorted(result["exercised"].items(), key=lambda item: (-item[1], item[0]))
    yield from _table(("happened", "in so many runs"), exercised)
    yield ""
    yield "Not checked, and why:"
    yield from _table(("what", "runs"), _not_checked(result))


def _causes(result: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    causes = Counter(
        (each["findings"][0]["anomaly"] if each["findings"] else "the run broke",
         each["cause"] or "**unexplained**")
        for each in result["findings"]
    )  # fmt: skip
    yield from ((*cause, count) for cause, count in causes.most_common())


def _not_checked(result: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    yield from Counter(result["not_checked"]).most_common()


def _table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    lines = [_line(row) for row in rows]
    if lines:
        yield from ("", _line(head), "|" + "---|" * len(head), *lines)


def _line(cells: tuple[object, ...]) -> str:
    return (
        "| "
        + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells)
        + " |"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

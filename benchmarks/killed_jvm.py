"""What oracles find in tables that a JVM of real Delta Lake leaves, which is killed in the midst.

    python -m benchmarks.killed_jvm [RUNS]

Writes its section of `docs/real-engines.md`, after which `rows_on_spark.py` writes the last one.
Ends with 1 if a run is not sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.markdown import REAL_ENGINES, ROOT, table, write_last_section

TITLE = "## Real Delta Lake in a JVM that is killed"
SCENARIO = "benchmarks/killed-jvm.yaml"


def main(runs: str = "2") -> int:
    """Make so many runs and write their section. Returns the exit code."""
    began = time.monotonic()
    verdicts = _verdicts(runs)
    write_last_section(REAL_ENGINES, TITLE, section(verdicts, time.monotonic() - began))
    return 0 if all(verdict["is_sound"] for verdict in verdicts) else 1


def _verdicts(runs: str) -> list[dict[str, Any]]:
    command = [str(Path(sys.executable).with_name("whitecap")), "chaos", SCENARIO, "--real"]
    options = ["spark", "--runs", runs, "--out", "out/killed-jvm", "--json"]
    made = subprocess.run([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    verdicts: list[dict[str, Any]] = json.loads(made.stdout)["runs"]
    return verdicts


def section(verdicts: Sequence[Mapping[str, Any]], seconds: float) -> Iterator[str]:
    """In Markdown."""
    today = datetime.now(UTC).date()
    sound = sum(verdict["is_sound"] for verdict in verdicts)
    killed = sum(verdict["killed"] for verdict in verdicts)
    yield (
        f"Last on {today}: {verdicts[0]['engine']}, runs of `{SCENARIO}`: {len(verdicts)}, in "
        f"{seconds / 60:.0f} minutes; the JVM killed: {killed}; sound: {sound}. Six threads "
        "insert, merge, update, delete and compact freely on a local directory; the JVM is killed "
        "in the middle of a run just after a commit, with all that is under way, and another one "
        "goes on. The oracles judge what is left by what each thread was told; the simulator's run "
        "of the same jobs stands beside it."
    )
    yield ""
    rows = (
        (verdict["run"], row["what"], row["simulated"], row["real"])
        for verdict in verdicts
        for row in (*verdict["outcomes"], *verdict["anomalies"])
    )
    yield from table(("run", "tries that ended as", "simulated", "real"), rows)
    yield ""
    findings = [each["sentence"] for verdict in verdicts for each in verdict["findings"]]
    unchecked = [gap for verdict in verdicts for gap in verdict["not_checked"]]
    yield f"Findings: {'; '.join(findings) or 'none'}."
    yield f"Not checked: {'; '.join(unchecked) or 'nothing'}."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

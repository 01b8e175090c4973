"""A sample of a campaign's runs whose statements real Spark runs again; into docs/real-engines.md.

    python -m benchmarks.rows_on_spark [RUNS]

DuckDB judges rows in a campaign; what it, the engine and sqlglot got wrong alike would show here.
Ends with 1 if a run is not sound.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from benchmarks.markdown import REAL_ENGINES, ROOT, write_last_section
from whitecap.sim.chaos.swarm import drawn
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.finding import Judgement
from whitecap.sim.oracles.on_spark.judging import judge_rows_on_spark
from whitecap.sim.oracles.runs.of_run import evidence_of
from whitecap.sim.replay.real.session import delta_session
from whitecap.sim.run import FinishedRun, run_scenario

TITLE = "## Rows of a campaign's runs, by real Spark"
SCENARIOS = ("events", "row-level")
SEED = 1
RUNS = "8"
"""Some six minutes on two cores: Spark takes half a second and more for a statement."""

WITHOUT = frozenset({"stale_listing"})
"""A fault by which sound engines damage tables: here only sound ones are asked for."""


class _Judged(Struct, frozen=True):
    """A run's commands that committed, and what Spark says of their rows."""

    commands: Counter[str]
    judgement: Judgement


def main(runs: str = RUNS) -> int:
    """Run and judge so many; write the section."""
    began = time.monotonic()
    judged = list(_judged(int(runs)))
    write_last_section(REAL_ENGINES, TITLE, _section(judged, time.monotonic() - began))
    return 0 if all(not each.judgement.findings for each in judged) else 1


def _judged(runs: int) -> Iterator[_Judged]:
    spark = delta_session()
    scenarios = [load_scenario(ROOT / f"scenarios/{name}.yaml", cells=False) for name in SCENARIOS]
    for number in range(runs):
        scenario = scenarios[number % len(scenarios)]
        run = run_scenario(drawn(scenario, SEED, number, WITHOUT, length=0.5).scenario)
        judgement = judge_rows_on_spark(spark, evidence_of(run, run.world.tables[0]))
        print(f"run {number}: {len(judgement.findings)} findings", file=sys.stderr)
        yield _Judged(_committed(run), judgement)


def _committed(run: FinishedRun) -> Counter[str]:
    rows = run.recording.transactions.to_pylist()
    return Counter(row["command"] for row in rows if row["committed_version"] is not None)


def _section(judged: list[_Judged], seconds: float) -> Iterator[str]:
    commands = sum((each.commands for each in judged), Counter[str]())
    sound = sum(not each.judgement.findings for each in judged)
    listed = ", ".join(f"{command} {count}" for command, count in commands.most_common())
    yield (
        f"Last on {datetime.now(UTC).date()}: {len(judged)} runs drawn from "
        f"{' and '.join(f'`scenarios/{name}.yaml`' for name in SCENARIOS)} under faults (seed "
        f"{SEED}), in {seconds / 60:.0f} minutes; the statements of their {commands.total():,} "
        f"commits ({listed}) run again by real Spark, in the order that the level promises; "
        f"sound: {sound}."
    )
    yield ""
    gaps = Counter(
        f"{gap.what}: {gap.why}" for each in judged for gap in each.judgement.not_checked
    )
    yield f"Not checked: {'; '.join(gaps) or 'nothing'}."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Campaigns over all shipped scenarios: their results in docs/campaigns.json and docs/chaos.md.

Usage: `python -m benchmarks.chaos MINUTES [SEED [ROWS_EVERY]]`. One of the same seed and code goes
on where it ended.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.markdown import table, write_last_section
from whitecap.sim.chaos.kept import CAMPAIGN
from whitecap.sim.chaos.one_run import MOST_ROWS
from whitecap.sim.machine.code_version import code_version

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "chaos.md"
RESULTS = ROOT / "docs" / "campaigns.json"
TITLE = "## The campaigns so far"
MOST_RUNS = "10000000"

ROWS_EVERY = "100"
"""Statements are run again in one run of so many, unless it is said; other oracles judge each."""

_Result = dict[str, Any]
"""A campaign as `whitecap chaos --json` tells it, its findings counted by what they follow from."""

LEFT_OUT = "stale_listing"
"""What follows from it is there in one run of fifteen, always explained, and takes most of the time
to explain."""

BECAUSE = " because of "
UNEXPLAINED = "**unexplained**"

WORKLOADS = ("events", "optimize", "row-level", "capacity", "mixed-engines", "two-tables")
"""Scenarios that stand in no folder."""

NO_CAMPAIGN = frozenset({"f02-vacuum-under-a-reader"})
"""Its reader appends the table to itself, once: over and over rows would be without number."""


def main(minutes: str, seed: str = "1", rows_every: str = ROWS_EVERY) -> None:
    """Run it, and write what came of it and of those before it."""
    began = time.monotonic()
    campaign = _campaign(minutes, seed, rows_every)
    results = with_result(
        json.loads(RESULTS.read_text(encoding="utf-8")),
        result_of(campaign, code_version(), (time.monotonic() - began) / 60),
    )
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_last_section(PAGE, TITLE, _lines(results))
    print(section(results))


def with_result(results: Sequence[_Result], result: _Result) -> list[_Result]:
    """The other campaigns and this one, in the place of the same one if that has gone on.

    One that was begun anew and is shorter than what there is of it says nothing new.
    """
    before = [each for each in results if _name(each) == _name(result)]
    if any(each["runs"] >= result["runs"] for each in before):
        return list(results)
    minutes = result["minutes"] + sum(each["minutes"] for each in before)
    others = [each for each in results if each not in before]
    return [*others, {**result, "minutes": round(minutes, 1)}]


def _name(result: _Result) -> tuple[Any, Any]:
    return result["seed"], result["code_version"]


def result_of(campaign: Mapping[str, Any], version: str, minutes: float) -> _Result:
    """What is kept of a campaign that this version of the code made in so many minutes."""
    counts = {key: campaign[key] for key in COUNTS}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "seed": campaign["seed"],
        "code_version": version,
        "scenarios": len(list(_scenarios())),
        "minutes": round(minutes, 1),
        **counts,
        "findings": _by_cause(campaign["findings"]),
        "exercised": campaign["exercised"],
        "never_exercised": campaign["never_exercised"],
        "not_checked": campaign["not_checked"],
    }


COUNTS = (
    *("runs", "short_runs", "repeated_runs", "overgrown_runs"),
    *("rows_compared", "commits", "transactions"),
)


def _campaign(minutes: str, seed: str, rows_every: str) -> dict[str, Any]:
    command = [
        str(Path(sys.executable).with_name("whitecap")),
        "chaos",
        *_scenarios(),
        "--seed",
        seed,
    ]
    out = ROOT / "out" / "campaigns" / f"seed-{seed}"
    options = ["--without", LEFT_OUT, "--runs", MOST_RUNS, "--minutes", minutes]
    options += ["--rows-every", rows_every, "--no-shrink", "--json", "--out", str(out)]
    options += ["--resume"] * _is_of_this_code(out / CAMPAIGN)
    made = subprocess.run([*command, *options], cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if not made.stdout:
        sys.exit(made.returncode)  # it has said why
    result: dict[str, Any] = json.loads(made.stdout)
    return result


def _is_of_this_code(kept: Path) -> bool:
    if not kept.exists():
        return False
    campaign = json.loads(kept.read_text(encoding="utf-8"))["campaign"]
    return bool(campaign["code_version"] == code_version())


def _scenarios() -> Iterator[str]:
    """The shipped ones that stand for a workload, in a fixed order."""
    scenarios = ROOT / "scenarios"
    paths = [scenarios / f"{name}.yaml" for name in WORKLOADS]
    for folder in ("regression", "field", "failures"):
        paths += sorted((scenarios / folder).glob("*.yaml"))
    yield from (str(path.relative_to(ROOT)) for path in paths if path.stem not in NO_CAMPAIGN)


def section(results: Sequence[_Result]) -> str:
    """The last part of the page."""
    return "\n".join([TITLE, "", *_lines(results)])


def _lines(results: Sequence[_Result]) -> Iterator[str]:
    """Everything that was found, of all campaigns together."""
    yield _summary(results)
    yield from _campaigns(results)
    yield ""
    yield from _findings(results)
    yield ""
    never = set.intersection(*(set(each["never_exercised"]) for each in results))
    yield f"Never exercised: {', '.join(sorted(never)) or 'nothing'}."
    yield from _table(("happened", "in so many runs"), _summed(results, "exercised").most_common())
    yield ""
    yield "Not checked, and why:"
    yield from _table(("what", "runs"), _summed(results, "not_checked").most_common())


def _summary(results: Sequence[_Result]) -> str:
    runs, short, repeated, overgrown = (_total(results, key) for key in COUNTS[:4])
    return (
        f"`make chaos`: {runs - short - overgrown:,} runs with at least 20 commits each, and "
        f"{short:,} in which so many did not come about; {repeated:,} had the same recording as "
        f"another one, and {overgrown:,} were given up, with {MOST_ROWS:,} rows in a table. "
        f"{_total(results, 'commits'):,} commits of {_total(results, 'transactions'):,} "
        "transactions. The graph of dependencies and the content of versions were judged in every "
        f"run, rows compared in DuckDB in {_total(results, 'rows_compared'):,}. Without the fault "
        f"{LEFT_OUT}. On two cores."
    )


def _campaigns(results: Sequence[_Result]) -> Iterator[str]:
    columns = ("date", "seed", "code_version", "scenarios", "minutes", "runs", "rows_compared")
    head = ("date", "seed", "code", "scenarios", "minutes", "runs", "with rows", "with findings")
    yield from _table(
        head,
        [(*(each[key] for key in columns), sum(each["findings"].values())) for each in results],
    )


def _findings(results: Sequence[_Result]) -> Iterator[str]:
    causes = _summed(results, "findings")
    unexplained = sum(count for cause, count in causes.items() if UNEXPLAINED in cause)
    yield f"Runs with findings: {causes.total():,}, of which {unexplained:,} unexplained."
    yield from _table(
        ("finding", "because of", "runs"),
        [(*cause.split(BECAUSE), count) for cause, count in causes.most_common()],
    )


def _total(results: Sequence[_Result], key: str) -> int:
    return sum(each[key] for each in results)


def _summed(results: Sequence[_Result], key: str) -> Counter[str]:
    counted: Counter[str] = Counter()
    for each in results:
        counted.update(each[key])
    return counted


def _by_cause(findings: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """In how many runs an anomaly, the first of a run, follows from what."""
    causes = Counter(BECAUSE.join((_anomaly(each), _cause(each["cause"]))) for each in findings)
    return dict(causes.most_common())


def _anomaly(finding: Mapping[str, Any]) -> str:
    findings = finding["findings"]
    if finding["misdrawn"]:
        return "no scenario was drawn"
    return str(findings[0]["anomaly"]) if findings else "the run broke"


def _cause(named: str | None) -> str:
    if named is None:
        return UNEXPLAINED
    return "several faults together" if named.startswith("the faults ") else named


def _table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    shown = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in rows]
    if shown:
        yield from ("", *table(head, shown))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""docs/mutants.md: which planted bugs a campaign finds, after how many runs, as what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from benchmarks.mutants.hunting import SCENARIOS, Hunted
from benchmarks.mutants.mutant import Area
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import Results

INTRODUCTION = """\
# Planted bugs

`make mutants` writes this page; it is of {day}, and took {minutes:.0f} minutes.

An oracle that never finds anything may be blind. So bugs are planted, one at a time, and a campaign
of [`whitecap chaos`](chaos.md) has to find each of them: the same campaign for all, of at most
{runs:,} runs over {scenarios}, every run with a dialect, a level, a layout, a store and faults of
its own. A bug is one place of the source written otherwise (`benchmarks/mutants/planted/`), with a
history of a few transactions that shows its harm and can be checked by hand.

- **{caught} of {unsafe} unsafe bugs that were hunted are found**, half of them by run {median} or
  before; {planted} are planted. One that was not found was looked for in as many runs as its row
  says.
- Without any bug, {clean}.
- Of {unfaithful} hunted bugs that harm no data, but refuse or say something else than Delta, the
  conformance cases find {cases}.
"""

HEADER = "| bug | witness | caught after | as |\n|---|---|---|---|"


def page_of(results: Results) -> str:
    """The whole page."""
    hunted = list(results.hunted.values())
    unsafe = [one for one in hunted if MUTANTS[one.name].unsafe]
    others = [one for one in hunted if not MUTANTS[one.name].unsafe]
    tries = sorted(one.tries for one in unsafe if one.is_caught)
    parts = [
        INTRODUCTION.format(
            day=datetime.now(tz=UTC).date().isoformat(),
            minutes=results.minutes,
            runs=results.runs,
            scenarios=", ".join(f"`{path}`" for path in SCENARIOS),
            caught=len(tries),
            unsafe=len(unsafe),
            planted=sum(mutant.unsafe for mutant in MUTANTS.values()),
            median=tries[len(tries) // 2] if tries else "no",
            clean=_clean(results.without),
            cases=sum(one.is_caught for one in others),
            unfaithful=len(others),
        ),
        "\n".join(_score(unsafe)),
        *("\n".join(_area(area, unsafe)) for area in Area),
        "\n".join(_table("Harmless, but not as Delta does it", others)),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _clean(without: Hunted | None) -> str:
    if without is None:
        return "the same campaign was not run"
    if without.is_caught:
        return f"run {without.tries} of the same campaign finds {without.caught_as}"
    return f"{without.tries:,} runs of the same campaign find nothing"


def _score(unsafe: Sequence[Hunted]) -> Iterator[str]:
    """By which anomaly, and what escaped."""
    yield "## As what"
    yield ""
    yield "| anomaly | bugs |"
    yield "|---|---|"
    counts = Counter(one.caught_as for one in unsafe if one.caught_as is not None)
    yield from (f"| {anomaly} | {count} |" for anomaly, count in counts.most_common())
    escaped = sorted(one.name for one in unsafe if not one.is_caught)
    if escaped:
        yield ""
        yield f"Not found in as many runs as the tables say: {'; '.join(escaped)}."
    hunted = {one.name for one in unsafe}
    left = [name for name, mutant in MUTANTS.items() if mutant.unsafe and name not in hunted]
    if left:
        yield ""
        yield f"Not hunted yet: {'; '.join(left)}."


def _area(area: Area, hunted: Sequence[Hunted]) -> Iterator[str]:
    yield from _table(area.value.capitalize(), [h for h in hunted if MUTANTS[h.name].area is area])


def _table(title: str, hunted: Sequence[Hunted]) -> Iterator[str]:
    if not hunted:
        return
    yield f"## {title}"
    yield ""
    yield HEADER
    for one in sorted(hunted, key=lambda one: list(MUTANTS).index(one.name)):
        needs = f", with {one.needs}" if one.needs else ""
        found = "not found" if one.caught_as is None else f"{one.caught_as}{needs}"
        witness = MUTANTS[one.name].witness
        yield f"| {one.name} | {witness} | {one.tries} | {found} |"

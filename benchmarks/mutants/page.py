"""docs/mutants.md: which planted bugs the campaign finds, after how many runs, as what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.markdown import table
from benchmarks.mutants.campaign import SCENARIOS
from benchmarks.mutants.hunting import Hunted
from benchmarks.mutants.mutant import Area, Mutant
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import HuntResults

INTRODUCTION = """\
# Planted bugs

`make mutants` writes this page. An oracle that never finds anything may be blind. So bugs are
planted, one at a time, and a campaign of [`whitecap chaos`](chaos.md) has to find each of them: the
same runs for all, at most 1,000, over {scenarios} scenarios (`benchmarks/mutants/scenarios/`), each
run with a dialect, a level, a layout, a store and faults of its own. A bug is one place of the
source written otherwise (`benchmarks/mutants/planted/`), with a history of a few transactions that
shows its harm and can be checked by hand. It counts as found when something is wrong with a run
that is sound without it.

- **{caught} of {unsafe} unsafe bugs are found**, half of them by run {median} or an earlier one.
  A run that finds a bug is told, not the first that would: the scenarios that were written for an
  area are looked at first.
- {escaped} hunted and not found; {left} not hunted; {equivalent} more change nothing that anybody
  could see: all pairs of a dozen statements, played in every order with and without
  (`benchmarks/mutants/small_world.py`), end alike.
- {clean}
- Of {unfaithful} bugs that harm no data, but refuse or say something else than Delta, {tried} were
  tried, and {cases} are found by the conformance cases, or by the races of the small world where no
  Delta of ours can be asked.
- {days} A result stays until the module or the scenario
  changes; what a run draws may have changed since (`sim/chaos`).
"""


def page_of(results: HuntResults) -> str:
    """The whole page."""
    hunted = [hunt for name, hunt in results.hunted.items() if name in MUTANTS]
    unsafe = [hunt for hunt in hunted if MUTANTS[hunt.name].unsafe]
    others = [hunt for hunt in hunted if not MUTANTS[hunt.name].unsafe]
    parts = [
        _introduction(results, unsafe, others),
        "\n".join(_score(unsafe)),
        "\n".join(_not_found(unsafe)),
        "\n".join(_equivalent(results)),
        *("\n".join(_area(area, unsafe)) for area in Area),
        "\n".join(_table("Harmless, but not as Delta does it", others)),
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _introduction(results: HuntResults, unsafe: Sequence[Hunted], others: Sequence[Hunted]) -> str:
    tries = sorted(hunt.tries for hunt in unsafe if hunt.is_caught)
    to_hunt = [name for name, mutant in MUTANTS.items() if mutant.unsafe and not mutant.equivalent]
    return INTRODUCTION.format(
        scenarios=len(SCENARIOS),
        caught=len(tries),
        unsafe=len(to_hunt),
        median=tries[len(tries) // 2] if tries else "no",
        escaped=sum(not hunt.is_caught for hunt in unsafe),
        left=len(to_hunt) - len(unsafe),
        equivalent=sum(bool(mutant.equivalent) for mutant in MUTANTS.values()),
        clean=_clean(results),
        tried=len(others),
        cases=sum(hunt.is_caught for hunt in others),
        unfaithful=sum(not mutant.unsafe for mutant in MUTANTS.values()),
        days=_days([*unsafe, *others]),
    )


def _clean(results: HuntResults) -> str:
    if not results.clean:
        return "The same campaign was not run without any bug."
    begin = f"Without any bug, {results.clean:,} runs of the same campaign ({results.clean_day})"
    if not results.wrong:
        return f"{begin} find nothing."
    causes = Counter(f"{run.anomaly} because of {run.cause}" for run in results.wrong)
    listed = ", ".join(f"{count} x {cause}" for cause, count in causes.most_common())
    return f"{begin} are sound but {len(results.wrong)}, which are left out: {listed}."


def _days(hunted: Sequence[Hunted]) -> str:
    """Results may be of several days: one stays for as long as its place in the source does."""
    counts = Counter(hunt.day for hunt in hunted)
    listed = "; ".join(f"{count} of {day}" for day, count in sorted(counts.items()))
    return f"Results by the day of their hunt: {listed or 'none'}."


def _score(unsafe: Sequence[Hunted]) -> Iterator[str]:
    """By which anomaly."""
    yield "## As what"
    yield ""
    counts = Counter(hunt.caught_as for hunt in unsafe if hunt.caught_as is not None)
    yield from table(("anomaly", "bugs"), counts.most_common())


def _not_found(unsafe: Sequence[Hunted]) -> Iterator[str]:
    escaped = sorted((hunt for hunt in unsafe if not hunt.is_caught), key=lambda hunt: hunt.name)
    if escaped:
        listed = "; ".join(f"{hunt.name} (nothing in {hunt.tries:,} runs)" for hunt in escaped)
        yield f"Not found: {listed}."
    hunted = {hunt.name for hunt in unsafe}
    left = [name for name, mutant in MUTANTS.items() if _is_to_hunt(mutant) and name not in hunted]
    if left:
        yield ""
        yield f"Not hunted yet: {'; '.join(left)}."


def _is_to_hunt(mutant: Mutant) -> bool:
    return mutant.unsafe and not mutant.equivalent


def _equivalent(results: HuntResults) -> Iterator[str]:
    alike = [mutant for mutant in MUTANTS.values() if mutant.equivalent]
    if not alike:
        return
    yield "## Without any effect"
    yield ""
    head = ("bug", "why nobody can see it", "in the small world")
    yield from table(head, ((each.name, each.equivalent, _seen(results, each)) for each in alike))


def _seen(results: HuntResults, mutant: Mutant) -> str:
    """What it changes where every order is played."""
    changed = results.alike.get(mutant.name)
    return "not played" if changed is None else changed.replace("|", "and") or "alike"


def _area(area: Area, hunted: Sequence[Hunted]) -> Iterator[str]:
    yield from _table(area.value.capitalize(), [h for h in hunted if MUTANTS[h.name].area is area])


def _table(title: str, hunted: Sequence[Hunted]) -> Iterator[str]:
    if not hunted:
        return
    yield f"## {title}"
    yield ""
    in_order = sorted(hunted, key=lambda hunt: list(MUTANTS).index(hunt.name))
    rows = (
        (hunt.name, MUTANTS[hunt.name].witness, hunt.tries, hunt.caught_as or "not found")
        for hunt in in_order
    )
    yield from table(("bug", "witness", "run", "as"), rows)

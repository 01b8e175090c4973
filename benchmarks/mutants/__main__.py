"""`make mutants`: hunt every planted bug, print the score, write docs/mutants.md.

Each bug has a process of its own, begun before anything of Whitecap is imported there. Few runs
find most bugs, so that all bugs meet the first ones before any meets many.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import click

from benchmarks.mutants.campaign import HuntingCampaign
from benchmarks.mutants.hunting import Hunt, Hunted
from benchmarks.mutants.mutant import ROOT
from benchmarks.mutants.page import page_of
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import HuntResults
from benchmarks.mutants.small_world import SmallWorld, difference
from whitecap.engine.errors import Problem, nearest

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

PAGE = ROOT / "docs/mutants.md"

RUNS = 1_000
"""No bug is hunted by more."""

ROUNDS = (16, 64, 240, RUNS)
"""After so many runs each: who escaped meets the next ones."""

AT_A_TIME = 2

OF_OTHERS = ["duckdb", "immutables", "numpy", "pyarrow", "pyarrow.parquet", "pydantic", "sqlglot"]
"""What each process needs besides Whitecap, imported once for all."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--runs", default=RUNS, show_default=True, help="Runs per bug at most.")
@click.option("--resume", is_flag=True, help="Keep results of the same bugs in the same source.")
@click.option("--first", type=int, multiple=True, help="A run, from one, to look at before all.")
def main(names: Sequence[str], runs: int, resume: bool, first: Sequence[int]) -> None:
    """Hunt the bugs called NAMES, or all of them, and the code without any; write the page.

    `--runs 0` looks at the runs of `--first` alone: those that found bugs before, for instance.
    """
    _require_bugs(names)
    results = HuntResults.read(MUTANTS) if resume else HuntResults()
    campaign = HuntingCampaign.of_this_source()
    wanted = list(names) or [name for name, mutant in MUTANTS.items() if not mutant.equivalent]
    if not all(MUTANTS[name].unsafe for name in wanted):
        play_races(campaign)
    looked = look(campaign, results, wanted, [number - 1 for number in first])
    keep(results, (hunted for hunted in looked if hunted.is_caught))
    for numbers in rounds(runs):
        keep(results, look(campaign, results, wanted, numbers))
        count_clean(campaign, range(numbers.stop), results)
    if not names:
        results.alike = dict(played_alike(campaign))
        results.keep()
    if resume or not names:
        PAGE.write_text(page_of(results), encoding="utf-8")
    escaped = [hunted.name for hunted in results.hunted.values() if not hunted.is_caught]
    seen = [name for name, what in results.alike.items() if what]
    click.echo(f"{len(results.hunted) - len(escaped)} of {len(results.hunted)} caught")
    sys.exit(1 if escaped or seen else 0)


def _require_bugs(names: Sequence[str]) -> None:
    unknown = [
        Problem("", f"docs/mutants.md has no bug {name!r}", nearest(name, MUTANTS))
        for name in names
        if name not in MUTANTS
    ]
    if unknown:
        raise click.UsageError("\n".join(map(str, unknown)))


def rounds(runs: int) -> Iterator[range]:
    """So many runs in parts: all bugs meet those of one before any meets the next one's."""
    ends = (0, *(end for end in ROUNDS if end < runs), runs)
    return (range(low, high) for low, high in itertools.pairwise(ends) if low < high)


def look(
    campaign: HuntingCampaign, results: HuntResults, names: Sequence[str], numbers: Sequence[int]
) -> Iterator[Hunted]:
    """What these runs show of the bugs that nothing has found and that have not met them all."""
    last = max(numbers, default=-1) + 1
    left = [name for name in names if _is_left(results.hunted.get(name), last)]
    if numbers and left:
        prepare(campaign, numbers)
        yield from hunted_apart([Hunt(MUTANTS[name], campaign, numbers) for name in left])


def keep(results: HuntResults, hunts: Iterable[Hunted]) -> None:
    """Write each down as it comes."""
    for hunted in hunts:
        results.hunted[hunted.name] = hunted
        results.keep()
        click.echo(_line(hunted))


def _is_left(hunted: Hunted | None, runs: int) -> bool:
    """Whether a bug is to meet runs up to this many: nothing found it in as many until now."""
    if hunted is None:
        return True
    return MUTANTS[hunted.name].unsafe and not hunted.is_caught and hunted.tries < runs


def prepare(campaign: HuntingCampaign, numbers: Sequence[int]) -> None:
    """Draw the runs and make them without any bug; say of which something is wrong all the same."""
    for clean in in_processes(campaign.prepare, campaign.missing(numbers), per_process=50):
        if not clean.shows_bugs:
            click.echo(f"run {clean.number} without any bug: {clean.anomaly}, {clean.cause}")


def count_clean(campaign: HuntingCampaign, numbers: Sequence[int], results: HuntResults) -> None:
    """Write down what came of these runs without any bug, if all of them were made.

    What more of them came to on another day stays.
    """
    runs = [run for number in numbers if (run := campaign.clean(number)) is not None]
    if len(runs) == len(numbers) >= results.clean:
        results.clean, results.clean_day = len(runs), datetime.now(tz=UTC).date().isoformat()
        results.wrong = [run for run in runs if not run.shows_bugs]
        results.keep()


def play_races(campaign: HuntingCampaign) -> None:
    """Play the small world without any bug, once."""
    if campaign.races is None:
        for races in in_processes(SmallWorld().shown, [None], per_process=1):
            campaign.keep_races(races)


def played_alike(campaign: HuntingCampaign) -> Iterator[tuple[str, str]]:
    """Each bug that is said to change nothing, with what it changes in the small world."""
    alike = [mutant for mutant in MUTANTS.values() if mutant.equivalent]
    without = campaign.races or {}
    for mutant in alike:
        (with_bug,) = in_processes(SmallWorld().shown, [mutant], per_process=1)
        changed = difference(with_bug, without) or ""
        click.echo(f"{mutant.name}: {changed or f'alike in {len(without)} races'}")
        yield mutant.name, changed


def hunted_apart(hunts: Sequence[Hunt]) -> Iterator[Hunted]:
    """What comes of each, in the order in which they end."""
    return in_processes(Hunt.__call__, hunts, per_process=1)


def in_processes(
    work: Callable[[_Item], _Result], items: Sequence[_Item], per_process: int
) -> Iterator[_Result]:
    """Do it with each, in processes that do so many each and begin without Whitecap."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(OF_OTHERS)
    with context.Pool(AT_A_TIME, maxtasksperchild=per_process) as pool:
        yield from pool.imap_unordered(work, items)


def _line(hunted: Hunted) -> str:
    if not hunted.is_caught:
        return f"{hunted.name}: nothing in {hunted.tries}"
    return f"{hunted.name}: {hunted.caught_as} by run {hunted.tries}: {hunted.sentence[:200]}"


if __name__ == "__main__":
    main()

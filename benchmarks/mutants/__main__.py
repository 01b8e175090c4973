"""`make mutants`: hunt every planted bug, print the score, write docs/mutants.md.

Each bug has a process of its own, begun before anything of Whitecap is imported there.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial

import click

from benchmarks.mutants.hunting import RUNS, Hunted, hunt
from benchmarks.mutants.mutant import ROOT, Mutant
from benchmarks.mutants.page import page_of
from benchmarks.mutants.planted import MUTANTS
from benchmarks.mutants.results import Results

PAGE = ROOT / "docs/mutants.md"

AT_A_TIME = 2

OF_OTHERS = ["duckdb", "immutables", "numpy", "pyarrow", "pyarrow.parquet", "pydantic", "sqlglot"]
"""What each process needs besides Whitecap, imported once for all."""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--runs", default=RUNS, show_default=True, help="Runs per bug at most.")
@click.option("--clean", default=RUNS, show_default=True, help="Runs without any bug.")
@click.option("--resume", is_flag=True, help="Hunt what was not hunted the last time.")
def main(names: Sequence[str], runs: int, clean: int, resume: bool) -> None:
    """Hunt the bugs called NAMES, or all of them, and the code without any; write the page."""
    results = Results.read(runs, clean) if resume else Results(runs, clean)
    wanted = [MUTANTS[name] for name in names] or list(MUTANTS.values())
    began = time.monotonic()
    for one in hunted_apart([m for m in wanted if m.name not in results.hunted], runs):
        results.keep(one, (time.monotonic() - began) / 60)
        click.echo(_line(one))
    if results.without is None and clean:
        (results.without,) = hunted_apart([None], clean)
        click.echo(_line(results.without))
    results.keep(None, (time.monotonic() - began) / 60)
    caught = sum(one.is_caught for one in results.hunted.values())
    click.echo(f"{caught} of {len(results.hunted)} caught")
    if not names:
        PAGE.write_text(page_of(results), encoding="utf-8")
    sys.exit(0 if caught == len(results.hunted) else 1)


def hunted_apart(mutants: Sequence[Mutant | None], runs: int) -> Iterator[Hunted]:
    """What comes of each, in the order in which they end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(OF_OTHERS)
    with context.Pool(AT_A_TIME, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(partial(hunt, runs=runs), mutants)


def _line(hunted: Hunted) -> str:
    if not hunted.is_caught:
        return f"{hunted.name}: nothing in {hunted.tries}"
    needs = f" (needs {hunted.needs})" if hunted.needs else ""
    return f"{hunted.name}: {hunted.caught_as} after {hunted.tries}{needs}: {hunted.sentence[:200]}"


if __name__ == "__main__":
    main()

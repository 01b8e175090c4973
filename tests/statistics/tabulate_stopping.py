"""Print the stopping rule's table of `docs/statistics.md`, from the root of the checkout:
`python -m tests.statistics.tabulate_stopping`."""

from __future__ import annotations

from tests.statistics.stopped_early import simulate, situations

SETS = 2000


def table() -> None:
    """How many replications, how often it was met, and the coverage with and without the rule."""
    print("| what is wanted | replications | reached | coverage | as many, fixed |")
    print("|---|---|---|---|---|")
    for each in situations():
        stopped = simulate(each, SETS, seed=2)
        numbers = f"{stopped.replications:.1f} | {stopped.met:.3f} | {stopped.coverage:.3f}"
        print(f"| {each.name} | {numbers} | {stopped.fixed:.3f} |", flush=True)


if __name__ == "__main__":
    table()

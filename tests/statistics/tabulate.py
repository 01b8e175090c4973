"""Print the tables of `docs/statistics.md`: `python tests/statistics/tabulate.py`."""

from __future__ import annotations

from tests.statistics.simulation import EQUAL, UNEQUAL, Cell, simulate

EFFECTS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
SETS = 4000

SITUATIONS = (
    (0.5, 5, 60), (0.5, 5, 1000), (0.05, 5, 60), (0.05, 5, 200), (0.05, 5, 1000), (0.01, 5, 200),
    (0.01, 5, 1000), (0.001, 5, 1000), (0.001, 5, 5000), (0.5, 10, 60), (0.05, 10, 60),
    (0.05, 10, 200), (0.01, 10, 200), (0.01, 10, 1000), (0.001, 10, 5000), (0.5, 30, 60),
    (0.05, 30, 60), (0.01, 30, 60), (0.01, 30, 200), (0.001, 30, 1000),
)  # fmt: skip
"""Share, replications, units per replication."""


def table(sizes: tuple[float, ...]) -> None:
    """Coverage by design effect, and the width where there is none."""
    print("| p | R | n | events |", *(f"{effect:g} |" for effect in EFFECTS), "width |")
    print("|---" * (5 + len(EFFECTS)) + "|")
    for share, replications, size in SITUATIONS:
        seen = [
            simulate(Cell(share, replications, size, effect, sizes), SETS, seed=2)
            if Cell(share, replications, size, effect, sizes).alike < 0.9
            else None
            for effect in EFFECTS
        ]
        covered = (f"{each.coverage:.3f} |" if each else " |" for each in seen)
        first = seen[0]
        width = f"{first.width:.2f}" if first else ""
        events = f"{Cell(share, replications, size).events:g}"
        print(f"| {share:g} | {replications} | {size} | {events} |", *covered, width, "|")


if __name__ == "__main__":
    print("Replications of equal size\n")
    table(EQUAL)
    print("\nSizes from a third to five thirds of n\n")
    table(UNEQUAL)

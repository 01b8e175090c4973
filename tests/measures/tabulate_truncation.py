"""Print the warm-up's table of `docs/statistics.md`, from the root of the checkout:
`python -m tests.measures.tabulate_truncation`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.measures.test_truncation import (
    Series,
    autoregressive,
    decaying,
    found_in,
    times_in_system,
)

SETS = 300
RUNS = (1, 5, 20)

Draw = Callable[[np.random.Generator, int], Series]

SITUATIONS: dict[str, Draw] = {
    "no transient, independent": lambda random, runs: autoregressive(random, 0.0, runs),
    "no transient, neighbours 0.9 alike": lambda random, runs: autoregressive(random, 0.9, runs),
    "bias of 2 deviations, independent": (
        lambda random, runs: autoregressive(random, 0.0, runs) + decaying(2.0, 100.0)
    ),
    "bias of 3, neighbours 0.9 alike": (
        lambda random, runs: autoregressive(random, 0.9, runs) + decaying(3.0, 100.0)
    ),
    "bias of 1, neighbours 0.9 alike": (
        lambda random, runs: autoregressive(random, 0.9, runs) + decaying(1.0, 100.0)
    ),
    "empty M/M/1 queue, load 0.8": (lambda random, runs: times_in_system(random, 0.8, runs, 2_000)),
    "upward without end": (
        lambda random, runs: autoregressive(random, 0.5, runs) + np.arange(2_000) / 500
    ),
}
"""Runs of 2,000 values; biases fall to a third in every 100 values."""


def table() -> None:
    """How often a warm-up was found, and its median; how often that no half is enough."""
    print("| series of 2,000 values |", *(f"{runs} run{'s' * (runs > 1)} |" for runs in RUNS))
    print("|---" * (1 + len(RUNS)) + "|")
    for name, draw in SITUATIONS.items():
        columns = []
        for runs in RUNS:
            settled_at = found_in(lambda random, runs=runs, draw=draw: draw(random, runs), SETS)  # type: ignore[misc]
            cut = settled_at[(settled_at > 0) & np.isfinite(settled_at)]
            median = f" (at {np.median(cut):.0f})" if len(cut) > SETS / 20 else ""
            never = np.mean(np.isinf(settled_at))
            unsettled = f", unsettled {100 * never:.1f} %" if never else ""
            columns.append(f"{100 * len(cut) / SETS:.1f} %{median}{unsettled} |")
        print(f"| {name} |", *columns, flush=True)


if __name__ == "__main__":
    table()

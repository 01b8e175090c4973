"""merger-2 comes before merger-10, wherever writers are listed."""

from __future__ import annotations

import random

import matplotlib.pyplot as plt

import whitecap
from tests.sim.sim_worlds import INSERT, document
from whitecap.reports.natural_order import natural

NAMES = ["all", "loader-1", "loader-2", "loader-2b", "loader-10", "loader-10-3", "merger"]


def test_numbers_within_names_count_as_numbers() -> None:
    shuffled = random.Random(5).sample(NAMES, len(NAMES))
    assert sorted(shuffled, key=natural) == NAMES


def test_the_timeline_has_its_writers_from_1_to_12() -> None:
    run = whitecap.run(document(writers={"loader": {**INSERT, "count": 12}}))
    figure = whitecap.figures.timeline(run, int(run.transactions.transaction_id.iloc[20]))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    plt.close(figure)
    assert labels == sorted(labels, key=natural)
    assert labels != sorted(labels)

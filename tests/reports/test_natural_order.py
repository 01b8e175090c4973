"""merger-2 comes before merger-10, wherever writers are listed."""

from __future__ import annotations

import random

import matplotlib.pyplot as plt

import whitecap
from tests.sim.sim_worlds import INSERT, document
from whitecap.reports.natural_order import natural
from whitecap.reports.tables import build_tables

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


def test_the_page_lists_groups_from_1_to_12() -> None:
    import pandas as pd

    from whitecap.reports.measures import MEASURES

    groups = [f"region-{number}" for number in range(1, 13)]
    values = dict.fromkeys(MEASURES, 0.5)
    per_run = pd.DataFrame([{"cell": "c", "replication": 0, **values}])
    per_group = pd.DataFrame(
        [
            {"cell": "c", "replication": 0, "writer_group": group, "command": "INSERT", **values}
            for group in sorted(groups)
        ]
    )
    nothing = pd.DataFrame(columns=["cell", "replication", "exception", "aborted", "rate"])
    tables = build_tables(per_run, per_group, nothing, {"c": {"axis": "label"}})
    assert list(dict.fromkeys(tables.groups["writer_group"])) == groups

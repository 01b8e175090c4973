"""Writer groups and their commands: what numbers are told apart by within a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from whitecap.engine.recorded import BRINGING_DATA
from whitecap.reports.arrays import IntArray
from whitecap.reports.measures.columns import coded
from whitecap.reports.natural_order import natural

TABLE_COLUMN = "table_name"
"""Recorded where there are several tables: versions are a table's own."""


class WriterCommand(NamedTuple):
    """A writer group, and a command that it runs; among several tables with the table's name."""

    writer_group: str
    command: str

    def __str__(self) -> str:
        return " · ".join(part for part in self if part)

    def runs(self, command: str | None) -> bool:
        """Whether it runs a command, on whatever table if none is named; `None`: any."""
        return command in (None, self.command, self.command.rpartition(" ")[0])

    @property
    def brings_data(self) -> bool:
        """Whether its jobs come from outside, and are no maintenance."""
        return any(map(self.runs, BRINGING_DATA))


def with_tables(rows: pa.Table) -> pa.Table:
    """Rows whose command is told with its table, where there are several."""
    if TABLE_COLUMN not in rows.column_names:
        return rows
    command = pc.binary_join_element_wise(rows["command"], rows[TABLE_COLUMN], " ")
    return rows.set_column(rows.column_names.index("command"), "command", command)


def coded_groups(
    transactions: pa.Table, planned: Iterable[WriterCommand]
) -> tuple[IntArray, list[WriterCommand]]:
    """Of each transaction the position of its group in the list, in which people count on from
    `merger-2` to `merger-10`; the `planned` ones are in it too."""
    transactions = with_tables(transactions)
    writers, writer_names = coded(transactions["writer_group"])
    commands, command_names = coded(transactions["command"])
    pairs, codes = np.unique(writers * len(command_names) + commands, return_inverse=True)
    present = [
        WriterCommand(
            writer_names[pair // len(command_names)], command_names[pair % len(command_names)]
        )
        for pair in pairs.tolist()
    ]
    groups = sorted({*planned, *present}, key=lambda group: tuple(map(natural, group)))
    positions = np.array([groups.index(group) for group in present], dtype=np.int64)
    return positions[codes], groups

"""Writer groups and their commands: what numbers are told apart by within a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from whitecap.reports.measures.sample import Codes, coded
from whitecap.reports.natural_order import natural


class Group(NamedTuple):
    """A writer group, and the one command that it runs."""

    writer_group: str
    command: str

    def __str__(self) -> str:
        return " · ".join(part for part in self if part)


def coded_groups(transactions: pa.Table, known: Iterable[Group]) -> tuple[Codes, list[Group]]:
    """Of each transaction the position of its group in the list, in which people count on from
    `merger-2` to `merger-10`; the `known` ones are in it too."""
    writers, writer_names = coded(transactions["writer_group"])
    commands, command_names = coded(transactions["command"])
    pairs, codes = np.unique(writers * len(command_names) + commands, return_inverse=True)
    present = [
        Group(writer_names[pair // len(command_names)], command_names[pair % len(command_names)])
        for pair in pairs.tolist()
    ]
    groups = sorted({*known, *present}, key=lambda group: tuple(map(natural, group)))
    positions = np.array([groups.index(group) for group in present], dtype=np.int64)
    return positions[codes], groups

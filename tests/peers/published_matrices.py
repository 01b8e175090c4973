"""What was measured of deltalake 1.6.3 and 1.6.6, pair by pair: rows commit first, columns second.

In 2,880 races for each version. `!!`: both commit, and no order of the two gives that table;
`ok<`: only the reverse order does. Rows and columns that were alike stand together.
"""

from __future__ import annotations

COLUMNS = [
    "app",
    "txn",
    "ovw",
    "repl",
    "del",
    "delP",
    "upd",
    "updA",
    "mrgE",
    "mrgI",
    "mrgN",
    "cmp",
    "zord",
    "prop",
    "cnst",
]

SAME_FILE = """
app            | ok ok ok< CA ok CA ok CA CA CA CA ok ok ok ok
txn            | ok CT ok< CA ok CA ok CA CA CA CA ok ok ok ok
ovw            | DR DR DR CA DR CA DR CA CA CA CA DR DR DR DR
repl           | DR DR DR CA DR CA DR CA CA CA CA DR DR DR DR
del upd        | DR DR DR CA CA CA CA CA CA CA CA DR DR DR DR
delP           | DR DR DR DR DR DR DR DR DR DR DR DR DR DR DR
updA mrgE mrgI | DR DR DR CA CA CA CA CA CA CA CA DR DR DR DR
mrgN           | ok ok ok< CA ok CA ok CA CA CA CA ok ok ok ok
cmp zord       | ok ok !! CA CA CA CA CA CA CA CA !! !! ok ok
prop           | MC MC MC MC MC MC MC MC MC MC MC MC MC MC MC
cnst           | PC PC PC PC PC PC PC PC PC PC PC PC PC PC PC
"""
"""1.6.6: both about one file, whether the table is partitioned or not."""

OTHER_PARTITION = """
app                     | ok ok ok< ok ok ok ok CA ok CA CA ok ok ok ok
txn                     | ok CT ok< ok ok ok ok CA ok CA CA ok ok ok ok
ovw                     | DR DR DR DR DR DR DR CA DR CA CA DR DR DR DR
repl del upd mrgE mrgI  | DR DR DR ok ok ok ok CA ok CA CA DR DR DR DR
delP                    | DR DR DR ok ok ok ok DR ok DR DR DR DR DR DR
updA                    | DR DR DR CA CA CA CA CA CA CA CA DR DR DR DR
mrgN                    | ok ok ok< ok ok ok ok CA ok CA CA ok ok ok ok
cmp zord                | ok ok !! ok ok ok ok CA ok CA CA ok ok ok ok
prop                    | MC MC MC MC MC MC MC MC MC MC MC MC MC MC MC
cnst                    | PC PC PC PC PC PC PC PC PC PC PC PC PC PC PC
"""
"""1.6.6: about different partitions, which a compaction names."""

Matrix = dict[tuple[str, str], str]


def matrix(text: str) -> Matrix:
    """Cells by first and second operation."""
    cells = {}
    for line in text.strip().splitlines():
        names, _, outcomes = line.partition("|")
        for first in names.split():
            for second, outcome in zip(COLUMNS, outcomes.split(), strict=True):
                cells[first, second] = outcome
    return cells


def of_1_6_3(cells: Matrix) -> Matrix:
    """The same of 1.6.3: it sees what both removed, and a constraint as a change of metadata.

    Unless both add one: each then writes a protocol, which is a change of it for both versions.
    """
    differing = {"!!": "DD", "PC": "MC"}
    older = {pair: differing.get(outcome, outcome) for pair, outcome in cells.items()}
    return older | {("cnst", "cnst"): "PC"}


EXCEPTIONS = {
    "ConcurrentAppendException": "CA",
    "ConcurrentDeleteReadException": "DR",
    "ConcurrentDeleteDeleteException": "DD",
    "MetadataChangedException": "MC",
    "ProtocolChangedException": "PC",
    "ConcurrentTransactionException": "CT",
    "committed": "ok",
}


def outcome_of(ending: str) -> str:
    """How an ending is written in a cell; that both committed is `ok` whatever came of it."""
    return EXCEPTIONS.get(ending, ending)


def plain(outcome: str) -> str:
    """A cell without what it says of the table that is left."""
    return "ok" if outcome in ("ok", "ok<", "!!") else outcome

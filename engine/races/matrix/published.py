"""The tables that the vendors publish, cell by cell, and how an unclear cell is read here.

A cell says of two groups of commands whether they can conflict, whichever of them loses.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.dialects import Dialect, Vendor
from whitecap.engine.races.matrix.catalogue import DELETE, INSERT, MERGE, OPTIMIZE, UPDATE, ZORDER
from whitecap.engine.races.matrix.cells import CAN, CANNOT
from whitecap.engine.rules import ROWS_PAGE


class Group(Struct, frozen=True):
    """Commands that a published table puts into one row."""

    title: str
    commands: tuple[str, ...]


class PublishedCell(Struct, frozen=True):
    """What the vendor says of two groups; `reading` how that is understood, where it leaves room.

    `row` and `column` are titles of groups. `here`: what is left of the text on a dialect to which
    a part of it cannot apply.
    """

    row: str
    column: str
    text: str
    reading: str = ""
    here: str = ""

    @property
    def expected(self) -> str:
        """The words that the races should give."""
        return self.here or self.text


class PublishedTable(Struct, frozen=True):
    """One table of a vendor's documentation.

    It speaks of tables with row-level concurrency or of those without; `needs_target_predicate`:
    only of commands whose condition names the rows by more than the join with a source.
    """

    name: str
    title: str
    source: str
    groups: tuple[Group, ...]
    cells: tuple[PublishedCell, ...]
    rows_reconciled: bool = False
    needs_target_predicate: bool = False
    notes: tuple[str, ...] = ()


_INSERTS = Group("INSERT", (INSERT,))
_CHANGES = Group("UPDATE, DELETE, MERGE INTO", (UPDATE, DELETE, MERGE))
_COMPACTION = Group("COMPACTION", (OPTIMIZE, ZORDER))
_OPTIMIZE = Group("OPTIMIZE", (OPTIMIZE, ZORDER))

_APPENDS = (
    "INSERT stands for appends that read nothing of the table; one that reads it is a row of its"
    " own in the table of all commands."
)
_ONLY_CHANGES_LOSE = "Only the UPDATE, DELETE or MERGE is ever aborted, never the INSERT."
_GIVES_UP = (
    "Two compactions of the same files cannot both commit. Read as: the one that comes second gives"
    " up what the first has done already, without an exception."
)
_NEVER_FOR_ZORDER = "Can conflict when ZORDER BY is used. Cannot conflict otherwise."
_VECTORS_OR_ZORDER = (
    "Cannot conflict in tables with deletion vectors enabled, unless ZORDER BY is used."
    " Can conflict otherwise."
)

DELTA_OSS = PublishedTable(
    "delta-oss",
    "Open-source Delta Lake",
    "https://docs.delta.io/3.3.1/concurrency-control.html",
    (_INSERTS, _CHANGES, _COMPACTION),
    (
        PublishedCell("INSERT", "INSERT", CANNOT),
        PublishedCell(
            _CHANGES.title,
            "INSERT",
            CAN,
            f"{_ONLY_CHANGES_LOSE} On a table without partitions any file that is added conflicts,"
            " whatever the condition says.",
        ),
        PublishedCell(_CHANGES.title, _CHANGES.title, CAN),
        PublishedCell("COMPACTION", "INSERT", CANNOT),
        PublishedCell("COMPACTION", _CHANGES.title, CAN),
        PublishedCell("COMPACTION", "COMPACTION", CAN),
    ),
    notes=(
        _APPENDS,
        "COMPACTION is read as OPTIMIZE, with or without ZORDER BY: both commit with dataChange"
        " false.",
        "The page speaks of one level: open-source Delta lets users set Serializable alone.",
        "Liquid clustering keeps no writers apart here: row-level concurrency on clustered tables"
        " is Databricks' own.",
    ),
)

DATABRICKS_ROWS = PublishedTable(
    "databricks-with-row-level-concurrency",
    "Databricks, tables with row-level concurrency",
    ROWS_PAGE,
    (_INSERTS, _CHANGES, _OPTIMIZE),
    (
        PublishedCell("INSERT", "INSERT", CANNOT),
        PublishedCell(
            _CHANGES.title,
            "INSERT",
            "Cannot conflict in WriteSerializable. Can conflict in Serializable when modifying the"
            " same row.",
            "An INSERT modifies no row that exists. Read as: it appends a row that the other"
            f" command's condition matches. {_ONLY_CHANGES_LOSE}",
        ),
        PublishedCell(_CHANGES.title, _CHANGES.title, "Can conflict when modifying the same row."),
        PublishedCell("OPTIMIZE", "INSERT", CANNOT),
        PublishedCell("OPTIMIZE", _CHANGES.title, _NEVER_FOR_ZORDER),
        PublishedCell(
            "OPTIMIZE",
            "OPTIMIZE",
            _NEVER_FOR_ZORDER,
            _GIVES_UP,
        ),
    ),
    rows_reconciled=True,
    notes=(
        _APPENDS,
        "The page asks for Databricks Runtime 14.3; earlier editions of it named 14.2, where MERGE"
        " needs a predicate on the target. Here that is what databricks-14.2 does.",
        "The page speaks of tables without partitions: here those with and without liquid"
        " clustering, both with deletion vectors. Clustered ones refuse ZORDER BY.",
    ),
)

_NO_ZORDER = (
    "On this runtime only clustered tables have row-level concurrency, and those refuse ZORDER BY:"
    " what remains is that OPTIMIZE cannot conflict."
)

_CLUSTERED_ROWS = replace(
    DATABRICKS_ROWS,
    cells=tuple(
        replace(
            cell, here=CANNOT, reading=" ".join(part for part in (cell.reading, _NO_ZORDER) if part)
        )
        if cell.text == _NEVER_FOR_ZORDER
        else cell
        for cell in DATABRICKS_ROWS.cells
    ),
    notes=(
        _APPENDS,
        "The page asks for Databricks Runtime 14.3. Runtime 13.3 has row-level concurrency on"
        " liquid-clustered tables alone"
        " (https://learn.microsoft.com/en-ca/azure/databricks/delta/clustering); that is what was"
        " raced here. The page's section on legacy behavior could not be read.",
    ),
)

_OLDER_ROWS = replace(
    DATABRICKS_ROWS,
    needs_target_predicate=True,
    notes=(
        *DATABRICKS_ROWS.notes,
        "On 14.2 a MERGE without such a predicate follows the other table; so only situations in"
        " which the conditions name the day are counted here.",
    ),
)

DATABRICKS_FILES = PublishedTable(
    "databricks-without-row-level-concurrency",
    "Databricks, tables without row-level concurrency",
    ROWS_PAGE,
    (_INSERTS, _CHANGES, _OPTIMIZE),
    (
        PublishedCell("INSERT", "INSERT", CANNOT),
        PublishedCell(
            _CHANGES.title,
            "INSERT",
            "Cannot conflict in WriteSerializable. Can conflict in Serializable.",
            _ONLY_CHANGES_LOSE,
        ),
        PublishedCell(
            _CHANGES.title,
            _CHANGES.title,
            "Can conflict in Serializable and WriteSerializable.",
        ),
        PublishedCell("OPTIMIZE", "INSERT", CANNOT),
        PublishedCell(
            "OPTIMIZE",
            _CHANGES.title,
            _VECTORS_OR_ZORDER,
            "Open-source Delta conflicts here also with deletion vectors: that deletions are moved"
            " onto the compacted file is Databricks' own.",
        ),
        PublishedCell("OPTIMIZE", "OPTIMIZE", _VECTORS_OR_ZORDER, _GIVES_UP),
    ),
    notes=(
        _APPENDS,
        "Raced with row-level concurrency switched off, so that unpartitioned tables with deletion"
        " vectors are among them, as on runtimes that lack it.",
        "An article of Databricks' support reports conflicts with OPTIMIZE on tables with deletion"
        " vectors; it speaks of ZORDER BY, so that the cells stand.",
        "Some error texts hint that detection is also tried on partitioned tables; the page denies"
        " it, and so does this engine.",
    ),
)


def tables_of(dialect: Dialect) -> tuple[PublishedTable, ...]:
    """The published tables that speak of a dialect; the makers of delta-rs publish none."""
    if dialect.vendor is Vendor.DELTA_RS:
        return ()
    if dialect.vendor is Vendor.DELTA:
        return (DELTA_OSS,)
    if dialect.row_level is not None and dialect.row_level.only_clustered_tables:
        return (_CLUSTERED_ROWS, DATABRICKS_FILES)
    if dialect.row_level is not None and dialect.row_level.merge_needs_target_predicate:
        return (_OLDER_ROWS, DATABRICKS_FILES)
    return (DATABRICKS_ROWS, DATABRICKS_FILES)

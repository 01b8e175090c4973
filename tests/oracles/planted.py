"""One broken table for each anomaly, small enough to be followed by hand."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles.hand_made import ABORTED, HandMade, add, metadata, remove
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.actions import Protocol, SetTransaction
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.oracles.finding import Anomaly
from whitecap.sim.oracles.history import Promise

ANY_ORDER = Promise(level=IsolationLevel.WRITE_SERIALIZABLE)
SET_11 = "UPDATE t SET v = 11 WHERE id = 1"
ADD_1 = "UPDATE t SET v = v + 1 WHERE id = 1"
ROW_3 = "INSERT INTO t VALUES (3, 30)"


def overwritten_in_both_orders() -> HandMade:
    """An UPDATE whose reply is lost commits twice; another one falls in between."""
    table = HandMade()
    table.rewrites("a", "b", [(1, 11), (2, 20)])
    table.rewrites("b", "c", [(1, 12), (2, 20)])
    table.rewrites("c", "d", [(1, 13), (2, 20)])
    table.did("twice", ADD_1, 0, 1, 3)
    table.did("once", ADD_1, 1, 2)
    return table


def refused_but_there() -> HandMade:
    """The writer is told that its INSERT failed."""
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.did("refused", ROW_3, 0, 1, outcome=ABORTED, acknowledged=())
    return table


def taken_back_again() -> HandMade:
    """A writer inserts a row and takes it away in its second commit; another reads in between."""
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.rewrites("a", "c", [(1, 11), (2, 20)])
    table.commit(remove("b"))
    table.did("hasty", ROW_3, 0, 1, 3)
    table.did("reader", SET_11, 1, 2)
    return table


def each_reads_the_other() -> HandMade:
    """Two commits, of which the first one has read what the second one wrote."""
    table = HandMade()
    table.appends("b", [(8, 80)])
    table.appends("c", [(7, 70)])
    table.did("first", _insert_if_there(8, 80, 7), 2, 1)
    table.did("second", _insert_if_there(7, 70, 8), 1, 2)
    return table


def _insert_if_there(key: int, value: int, seen: int) -> str:
    return (
        f"MERGE INTO t USING (SELECT {key} AS id, {value} AS v) AS s ON t.id = {seen} "
        "WHEN NOT MATCHED THEN INSERT *"
    )


def missed_insert() -> HandMade:
    """An UPDATE of all rows does not see a row that was inserted before it in the log."""
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.rewrites("a", "c", [(1, 0), (2, 0)])
    table.did("loader", ROW_3, 0, 1)
    table.did("corrector", "UPDATE t SET v = 0", 0, 2)
    return table


def write_skew() -> HandMade:
    """Each inserts its row unless the other's is there; both rows are there."""
    table = HandMade(ANY_ORDER)
    table.appends("b", [(8, 80)])
    table.appends("c", [(7, 70)])
    table.did("eight", _insert_if_there(8, 80, 7), 0, 1)
    table.did("seven", _insert_if_there(7, 70, 8), 0, 2)
    return table


def lost_update() -> HandMade:
    """Two UPDATEs of one row, both of version 0: the second removes a file that is gone."""
    table = HandMade()
    table.rewrites("a", "b", [(1, 11), (2, 20)])
    table.rewrites("a", "c", [(1, 11), (2, 20)])
    table.did("first", ADD_1, 0, 1)
    table.did("second", ADD_1, 0, 2)
    return table


def lost_commit() -> HandMade:
    """Two INSERTs are told that they committed version 1; the second one's rows are there."""
    table = HandMade()
    table.appends("b", [(4, 40)])
    table.did("lost", ROW_3, 0, acknowledged=(1,))
    table.did("winner", "INSERT INTO t VALUES (4, 40)", 0, 1)
    return table


def committed_twice() -> HandMade:
    """One transaction id is in two versions: the same file is added again."""
    table = HandMade()
    table.appends("b", [(3, 30)], txn_id="x")
    table.commit(add("b"), txn_id="x")
    table.did("loader", ROW_3, 0, 1, 2)
    return table


def wrong_rows() -> HandMade:
    """An UPDATE that writes 12 where it says 11."""
    table = HandMade()
    table.rewrites("a", "b", [(1, 12), (2, 20)])
    table.did("corrector", SET_11, 0, 1)
    return table


def file_is_gone() -> HandMade:
    """The data file of a row that is in the table was deleted."""
    table = HandMade(more={"existing": frozenset({"a"})})
    table.appends("b", [(3, 30)])
    table.did("loader", ROW_3, 0, 1)
    return table


def stale_read() -> HandMade:
    """The second INSERT began after the first was acknowledged, and read the version before it."""
    table = HandMade()
    table.appends("b", [(3, 30)])
    table.appends("c", [(4, 40)])
    table.did("first", ROW_3, 0, 1, began=0.0, ended=10.0)
    table.did("second", "INSERT INTO t VALUES (4, 40)", 0, 2, began=20.0, ended=30.0)
    return table


def never_ends() -> HandMade:
    """A transaction is under way ten minutes after the last fault; one minute is enough."""
    promise = Promise(faults_stop=60_000.0, bound=60_000.0, ends=660_000.0)
    table = HandMade(promise)
    under_way = RecordedOutcome.IN_FLIGHT
    table.did("endless", ROW_3, 0, began=0.0, outcome=under_way, acknowledged=())
    return table


def takes_no_commit() -> HandMade:
    """After the last fault somebody is refused by the store, though nobody else commits."""
    table = HandMade(Promise(faults_stop=60_000.0))
    refused = {"outcome": ABORTED, "exception": "StoreRefused", "acknowledged": ()}
    table.did("late", ROW_3, 0, began=61_000.0, ended=62_000.0, **refused)
    return table


def columns_changed() -> HandMade:
    """A file is written for two columns into a table that got a third one meanwhile."""
    table = HandMade()
    table.commit(metadata("id BIGINT, v BIGINT, w BIGINT"))
    table.appends("b", [(3, 30)])
    table.did("ddl", "ALTER TABLE t ADD COLUMN w BIGINT", 0, 1)
    table.did("loader", "INSERT INTO t (id, v) VALUES (3, 30)", 0, 2)
    return table


def gap() -> HandMade:
    """Version 1 is missing."""
    table = HandMade()
    table.rows("b", [(3, 30)])
    table.commit(add("b"), version=2)
    table.did("loader", ROW_3, 1, 2)
    return table


def written_over() -> HandMade:
    """The store says that version 1 replaced another commit."""
    table = HandMade(more={"overwritten": (1,)})
    table.appends("b", [(3, 30)])
    table.did("loader", ROW_3, 0, 1)
    return table


def dead_file() -> HandMade:
    """A DELETE removes a file that was never in the table."""
    table = HandMade()
    table.commit(remove("z"))
    table.did("eraser", "DELETE FROM t WHERE id = 9", 0, 1)
    return table


def file_twice() -> HandMade:
    """One commit adds and removes one file."""
    table = HandMade()
    table.rows("b", [(3, 30)])
    table.commit(add("b"), remove("b"))
    table.did("loader", ROW_3, 0, 1)
    return table


def row_ids_twice() -> HandMade:
    """A new file comes with row ids above the table's watermark."""
    table = HandMade()
    table.rows("b", [(3, 30)])
    table.commit(add("b", base_row_id=7))
    table.did("loader", ROW_3, 0, 1)
    return table


def progress_goes_back() -> HandMade:
    """A stream records batch 4 after batch 5."""
    table = HandMade()
    for batch, path, row in ((5, "b", (3, 30)), (4, "c", (4, 40))):
        table.rows(path, [row])
        table.commit(add(path), SetTransaction("stream", batch))
    table.did("five", ROW_3, 0, 1)
    table.did("four", "INSERT INTO t VALUES (4, 40)", 1, 2)
    return table


def timestamps_fall() -> HandMade:
    """In-commit timestamps are on, and that of version 2 is before that of version 1."""
    table = HandMade(properties={"enableInCommitTimestamps": "true"})
    table.appends("b", [(3, 30)], in_commit_timestamp=20)
    table.appends("c", [(4, 40)], in_commit_timestamp=10)
    table.did("first", ROW_3, 0, 1)
    table.did("second", "INSERT INTO t VALUES (4, 40)", 1, 2)
    return table


def published_otherwise() -> HandMade:
    """What the catalog holds for version 1 is not what is in the log."""
    table = HandMade(more={"decided": {1: [b"{}"]}})
    table.appends("b", [(3, 30)])
    table.did("loader", ROW_3, 0, 1)
    return table


def second_protocol() -> HandMade:
    """One commit has two protocols."""
    table = HandMade()
    table.commit(Protocol(1, 2), Protocol(1, 2))
    table.did("ddl", "ALTER TABLE t SET TBLPROPERTIES ('delta.minWriterVersion' = '2')", 0, 1)
    return table


PLANTED: dict[Anomaly, Callable[[], HandMade]] = {
    Anomaly.G0: overwritten_in_both_orders,
    Anomaly.G1A: refused_but_there,
    Anomaly.G1B: taken_back_again,
    Anomaly.G1C: each_reads_the_other,
    Anomaly.G_SINGLE: missed_insert,
    Anomaly.G2: write_skew,
    Anomaly.LOST_UPDATE: lost_update,
    Anomaly.LOST_COMMIT: lost_commit,
    Anomaly.DUPLICATE: committed_twice,
    Anomaly.WRONG_ROWS: wrong_rows,
    Anomaly.DURABILITY: file_is_gone,
    Anomaly.STALE_READ: stale_read,
    Anomaly.UNRESOLVED: never_ends,
    Anomaly.UNWRITABLE: takes_no_commit,
    Anomaly.SCHEMA_CHANGE: columns_changed,
    Anomaly.CONTIGUITY: gap,
    Anomaly.CONTENT_CHANGED: written_over,
    Anomaly.DEAD_FILE: dead_file,
    Anomaly.FILE_TWICE: file_twice,
    Anomaly.ROW_ID_TWICE: row_ids_twice,
    Anomaly.PROGRESS: progress_goes_back,
    Anomaly.TIMESTAMPS: timestamps_fall,
    Anomaly.PUBLICATION: published_otherwise,
    Anomaly.LOG_FORM: second_protocol,
}
"""Anomaly -> a table that has it."""

"""When the transactions of a thread take their snapshot and come to an end, by Delta's own word.

Delta tells the observer of a thread what its transactions do (TransactionExecutionObserver.scala);
phase locks hold them by it, this clock only writes down the instants. It is Java: a call into
Python would leave the thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whitecap.sim.replay.real.jvm import JavaObject, Jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAVA = """
package whitecap;

import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;

public class TransactionClock implements TransactionExecutionObserver {
  private StringBuilder marks = new StringBuilder();
  private scala.Option next = scala.Option.empty();

  private void mark(String name, String value) {
    marks.append(name).append(' ').append(value).append('\\n');
  }
  private void mark(String name) { mark(name, Long.toString(System.currentTimeMillis())); }

  public String taken() {
    String all = marks.toString();
    marks = new StringBuilder();
    return all;
  }
  public TransactionExecutionObserver createChild() { return this; }
  public OptimisticTransaction startingTransaction(scala.Function0 begin) {
    OptimisticTransaction transaction = (OptimisticTransaction) begin.apply();
    mark("snapshot");
    mark("id", transaction.txnId());
    return transaction;
  }
  public Object preparingCommit(scala.Function0 prepare) { return prepare.apply(); }
  public void beginDoCommit() { mark("attempt"); }
  public void beginBackfill() { mark("written"); }
  public void beginPostCommit() { }
  public void transactionCommitted() { }
  public void transactionAborted() { mark("aborted"); }
  public scala.Option nextObserver() { return next; }
  public void nextObserver_$eq(scala.Option observer) { next = observer; }
}
"""


class TransactionInstants(Struct, frozen=True):
    """What the transactions of one statement did, milliseconds of the wall clock (UTC).

    `snapshot_ms` is when the first of them had its snapshot: by then nothing is missing in it that
    had been committed (held to commitInfo's `readVersion`). `transaction_id` is that of the last.
    Instants that did not come are `None`.
    """

    snapshot_ms: int | None
    written_ms: int | None
    aborted_ms: int | None
    transaction_id: str | None


class TransactionClocks:
    """Makes clocks for the threads of a session."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = Jvm(spark)
        self._class = self._jvm.compiled("whitecap.TransactionClock", _JAVA)

    def of_this_thread(self) -> TransactionClock:
        """A clock for all transactions that this thread begins from now on."""
        clock = self._class.newInstance()
        self._jvm.delta.TransactionExecutionObserver.setObserver(clock)
        return TransactionClock(clock)


class TransactionClock:
    """The clock of one thread."""

    def __init__(self, clock: JavaObject) -> None:
        self._clock = clock

    def taken(self) -> TransactionInstants:
        """What happened since it was asked before."""
        return instants_of(self._clock.taken())


def instants_of(marks: str) -> TransactionInstants:
    """From lines of a name and a value: of a snapshot the first counts, of all else the last."""
    lines = [line.split(" ", 1) for line in marks.splitlines()]
    last = dict(lines)
    first = dict(reversed(lines))

    def instant(of: dict[str, str], name: str) -> int | None:
        return int(of[name]) if name in of else None

    return TransactionInstants(
        snapshot_ms=instant(first, "snapshot"),
        written_ms=instant(last, "written"),
        aborted_ms=instant(last, "aborted"),
        transaction_id=last.get("id"),
    )

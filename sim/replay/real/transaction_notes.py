"""What the transactions of a thread are, noted in a file before they write anything.

Who is killed tells nobody what it was about to commit. So each transaction's id and the version of
its snapshot are in a file of the operating system's before anything else of it is: a file that was
written survives the death of the process. A thread can be told to stand still once, between the
files of its next commit and the commit. Delta tells the observer of a thread what its transactions
do (TransactionExecutionObserver.scala); this one is Java, compiled by `Jvm.compiled`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from whitecap.sim.replay.real.jvm import JavaObject, Jvm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAVA = """
package whitecap;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;

public class TransactionNotes implements TransactionExecutionObserver {
  private FileOutputStream file;
  private String label = "";
  private long holdMs = 0;
  private scala.Option next = scala.Option.empty();

  public void open(String path) throws IOException { file = new FileOutputStream(path, true); }
  public void begin(String label, long holdMs) {
    this.label = label;
    this.holdMs = holdMs;
  }
  private void note(OptimisticTransaction transaction) {
    String line = label + ' ' + transaction.txnId() + ' ' + transaction.readVersion() + '\\n';
    try {
      file.write(line.getBytes(StandardCharsets.UTF_8));
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }
  private void hold() {
    long ms = holdMs;
    holdMs = 0;
    try {
      Thread.sleep(ms);
    } catch (InterruptedException error) {
      throw new RuntimeException(error);
    }
  }

  public TransactionExecutionObserver createChild() { return this; }
  public OptimisticTransaction startingTransaction(scala.Function0 begin) {
    OptimisticTransaction transaction = (OptimisticTransaction) begin.apply();
    note(transaction);
    return transaction;
  }
  public Object preparingCommit(scala.Function0 prepare) {
    hold();
    return prepare.apply();
  }
  public void beginDoCommit() { }
  public void beginBackfill() { }
  public void beginPostCommit() { }
  public void transactionCommitted() { }
  public void transactionAborted() { }
  public scala.Option nextObserver() { return next; }
  public void nextObserver_$eq(scala.Option observer) { next = observer; }
}
"""


class Noted(Struct, frozen=True):
    """A transaction that was begun under a label; the version of its snapshot, -1 without one."""

    label: str
    transaction_id: str
    read_version: int


class TransactionNotes:
    """Makes the notes of a session's threads."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm = Jvm(spark)
        self._class = self._jvm.compiled("whitecap.TransactionNotes", _JAVA)

    def of_this_thread(self, file: Path) -> ThreadNotes:
        """Note all transactions that this thread begins from now on, at the end of a file."""
        notes = self._class.newInstance()
        notes.open(str(file))
        self._jvm.delta.TransactionExecutionObserver.setObserver(notes)
        return ThreadNotes(notes)


class ThreadNotes:
    """The notes of one thread."""

    def __init__(self, notes: JavaObject) -> None:
        self._notes = notes

    def begin(self, label: str, hold_ms: float) -> None:
        """What follows is noted under a label; the next commit stands still for so long."""
        self._notes.begin(label, round(hold_ms))


def read_notes(file: Path) -> Iterator[Noted]:
    """All that was noted in a file, in its order."""
    for line in file.read_text().splitlines():
        label, transaction_id, read_version = line.rsplit(" ", 2)
        yield Noted(label, transaction_id, int(read_version))

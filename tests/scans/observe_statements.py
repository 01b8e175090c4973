"""Asks real Delta Lake what UPDATE, DELETE and MERGE read, and writes it down (`make answers`).

An observer of Delta's keeps the transactions that a statement begins and lets none come to its
commit, so that every statement meets the same table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tests.scans.drawn_statements import StatementDrawing
from tests.scans.real_tables import RealTarget, real_tables
from tests.scans.scanned import STATEMENTS, Scanned, days_of, read_by_statement, written
from whitecap.sim.replay.real.jvm import DELTA, JavaObject, Jvm
from whitecap.sim.replay.real.phase_locks import no_observer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRAWS, SEED = 200, 1

_NO_COMMIT = "no commit is wanted"

_JAVA = f"""
package whitecap;

import java.util.ArrayList;
import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;

public class BegunTransactions implements TransactionExecutionObserver {{
  private final ArrayList begun = new ArrayList();

  public ArrayList begun() {{ return begun; }}
  public OptimisticTransaction startingTransaction(scala.Function0 begin) {{
    OptimisticTransaction transaction = (OptimisticTransaction) begin.apply();
    begun.add(transaction);
    return transaction;
  }}
  public Object preparingCommit(scala.Function0 prepare) {{
    throw new IllegalStateException("{_NO_COMMIT}");
  }}
  public TransactionExecutionObserver createChild() {{ return this; }}
  public void beginDoCommit() {{ }}
  public void beginBackfill() {{ }}
  public void beginPostCommit() {{ }}
  public void transactionCommitted() {{ }}
  public void transactionAborted() {{ }}
  public scala.Option nextObserver() {{ return scala.Option.empty(); }}
  public void nextObserver_$eq(scala.Option observer) {{ }}
}}
"""


def drawn() -> list[str]:
    """The statements that are asked about, each once."""
    drawing = StatementDrawing(SEED)
    return list(dict.fromkeys(drawing.statement() for _ in range(DRAWS)))


def observed(spark: SparkSession, statements: Iterable[str]) -> dict[str, Scanned]:
    """What each statement reads, as its transaction would tell the check of conflicts."""
    with real_tables(spark) as target:
        observing = _Observing(spark, target)
        return {statement: observing.read_by(statement) for statement in statements}


class _Observing:
    def __init__(self, spark: SparkSession, target: RealTarget) -> None:
        self._spark = spark
        self._ids = target.ids
        self._jvm = Jvm(spark)
        self._class = self._jvm.compiled("whitecap.BegunTransactions", _JAVA)
        snapshot = self._jvm.delta_log(target.place).unsafeVolatileSnapshot()
        self._files = snapshot.allFiles().toDF()
        self._partitions = snapshot.metadata().partitionSchema()
        self._logs = self._jvm.singleton(f"{DELTA}.DeltaLog$")

    def read_by(self, statement: str) -> Scanned:
        """What a statement reads of the target."""
        (transaction,) = self._begun_by(statement)
        assert not transaction.readTheWholeTable()
        files = {self._ids[file.path()] for file in transaction.readFiles().toArray()}
        days = (self._days_of(each) for each in transaction.readPredicates().toArray())
        return Scanned.of(files, set().union(*days))

    def _begun_by(self, statement: str) -> list[JavaObject]:
        """The transactions that it begins on the target, whether they would change anything."""
        observer = self._class.newInstance()
        observers = self._jvm.delta.TransactionExecutionObserver
        observers.setObserver(observer)
        try:
            self._spark.sql(statement).collect()
        except Exception as refused:
            if _NO_COMMIT not in str(refused):
                raise
        finally:
            observers.setObserver(no_observer(self._jvm))
        return [each for each in observer.begun() if _name_of(each) == "target"]

    def _days_of(self, predicate: JavaObject) -> set[str | None]:
        """By how many files are left, as Delta leaves those that a winner added."""
        conditions, rewritten = predicate.partitionPredicates(), predicate.shouldRewriteFilter()
        no_column = self._jvm.seq([])
        left = self._logs.filterFileList(
            self._partitions, self._files, conditions, no_column, rewritten
        )
        return days_of(left.count())


def _name_of(transaction: JavaObject) -> str:
    return str(transaction.deltaLog().dataPath().getName())


def main() -> None:
    """Ask for all of them."""
    from whitecap.sim.replay.real.session import delta_session
    from whitecap.sim.replay.real.session_settings import INTERPRETED, session_settings

    session = delta_session()
    with session_settings(session, INTERPRETED):
        reads = observed(session, drawn())
    STATEMENTS.write_bytes(written(reads, read_by_statement))
    print(json.dumps({"statements": len(reads)}))


if __name__ == "__main__":
    main()

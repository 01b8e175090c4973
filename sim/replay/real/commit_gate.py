"""A gate before every commit of a thread, for statements some of whose transactions commit nothing.

A phase lock serves one transaction and gives way to the next lock when that has committed. DROP
FEATURE begins transactions that never come to a commit (a REORG that finds nothing to rewrite),
and such a lock is then met by the transaction after it. A gate counts commits and nothing else.
"""

from __future__ import annotations

import re

from whitecap.sim.replay.real.jvm import JavaObject, Jvm
from whitecap.sim.replay.real.phase_locks import Phase

WITH_IDLE_TRANSACTIONS = re.compile(r"\s*ALTER\s+TABLE\b.*\bDROP\s+FEATURE\b", re.I | re.S)
"""Statements that begin transactions which may not come to a commit."""

_JAVA = """
package whitecap;

import org.apache.spark.sql.delta.OptimisticTransaction;
import org.apache.spark.sql.delta.TransactionExecutionObserver;

public class CommitGate implements TransactionExecutionObserver {
  private int arrived = 0;
  private int open = 0;

  public synchronized void beginDoCommit() {
    arrived++;
    while (arrived > open) {
      try { wait(); } catch (InterruptedException ended) { return; }
    }
  }
  public synchronized void open(int commits) {
    open = Math.max(open, commits);
    notifyAll();
  }
  public synchronized int arrived() { return arrived; }
  public TransactionExecutionObserver createChild() { return this; }
  public OptimisticTransaction startingTransaction(scala.Function0 begin) {
    return (OptimisticTransaction) begin.apply();
  }
  public Object preparingCommit(scala.Function0 prepare) { return prepare.apply(); }
  public void beginBackfill() { }
  public void beginPostCommit() { }
  public void transactionCommitted() { }
  public void transactionAborted() { }
  public scala.Option nextObserver() { return scala.Option.empty(); }
  public void nextObserver_$eq(scala.Option observer) { }
}
"""
_ANY_NUMBER = 2**31 - 1
"""More commits than a statement makes."""


def gated(jvm: Jvm, _name: str, commits: int) -> list[GatedCommit]:
    """The first so many commits of a command, all held by one gate."""
    gate = _gate_class(jvm).newInstance()
    return [GatedCommit(gate, number, commits) for number in range(commits)]


def _gate_class(jvm: Jvm) -> JavaObject:
    """One class for all gates of a JVM: Py4J knows methods by the name of their class."""
    if jvm.root not in _CLASSES:
        _CLASSES[jvm.root] = jvm.compiled("whitecap.CommitGate", _JAVA)
    return _CLASSES[jvm.root]


_CLASSES: dict[JavaObject, JavaObject] = {}


class GatedCommit:
    """One commit of a command at its gate, with the surface of a phase lock."""

    def __init__(self, gate: JavaObject, number: int, commits: int) -> None:
        self.observer = gate
        self._number = number
        self._opens_for = number + 1 if number + 1 < commits else _ANY_NUMBER

    def open(self, *phases: Phase) -> None:
        """Let the commit pass, if its phase is among `phases`; the last opens the gate."""
        if Phase.COMMIT in phases:
            self.observer.open(self._opens_for)

    def has_reached(self, _phase: Phase) -> bool:
        """Whether the commit has come to the gate: what it went through before is not told."""
        return int(self.observer.arrived()) > self._number

    def position(self) -> str:
        """Where the commit is, for messages."""
        reached = self.has_reached(Phase.COMMIT)
        return f"at the gate of commit {self._number + 1}" if reached else "before its commit"

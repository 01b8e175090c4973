"""An append of rows by the shortest way: from the first listing to the checksum in one function.

What it does, and when, is what `engine/plans/inserts.py` asks for and `sim/store/client.py` answers
request by request. Where nothing can befall a request, nobody wants one noted, and a transaction
waits only where others could see it, the questions and answers are left out: this asks the log and
the kernel alone. What is not as simple goes on as a transaction like any other.
"""

from __future__ import annotations

from whitecap.engine.commands.statement_frame import as_statement
from whitecap.engine.conflicts.checker import check
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.commit_file import encode_commit, log_key
from whitecap.engine.outcomes import Aborted, Committed, Outcome, Verdict
from whitecap.engine.plans.appends import Append
from whitecap.engine.plans.inserts import READS_NOTHING
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import PutIfAbsent, PutResult
from whitecap.engine.transaction.commit_loop import give_up
from whitecap.sim.store.client import Client
from whitecap.sim.store.log_view import LogView
from whitecap.sim.store.passing import Passing
from whitecap.sim.time.kernel import Waiting, drive
from whitecap.sim.writers.jobs import InsertJob


def append(job: InsertJob, client: Client, passing: Passing) -> Waiting[Outcome]:
    """One transaction of a job that appends rows. Raises `DeltaError` as the statement does."""
    log, plans, table, rows = client.log, job.plans, job.table, job.rows
    yield from log.take_snapshot(starts=False)
    source = plans.source(table, rows)
    version = yield from log.take_snapshot(starts=True)
    snapshot = client.cluster.history.snapshot(version)
    txn_id = client.new_id()
    insertion = plans.insertion(table, snapshot, source)
    if insertion is None:
        table = job.clients.client(LogView(client.cluster))
        steps = plans.in_general(table, snapshot, txn_id, source, rows)
        return (yield from drive(as_statement(table, steps), client))
    writer, plan = insertion.writer, insertion.plan
    writer.begins(client.new_id(), client.wall_ms())
    adds = writer.write_at_once(insertion.tasks, client.write_file)
    yield from client.compute(insertion.job())
    appended = Append(table, snapshot, txn_id, READS_NOTHING, adds, insertion.operation())
    current = plan.frozen(appended, client.wall_ms())
    outcome = yield from _committed(table, current, client, passing, plan.reads_back)
    if isinstance(outcome, Committed):
        client.cluster.delta_log.file_counts.note(outcome.actions, table.settings)
        yield from client.after_commit(outcome.version)
    return outcome


def _committed(
    table: Table,
    current: CurrentTransaction,
    client: Client,
    passing: Passing,
    reads_back: bool,
) -> Waiting[Outcome]:
    """Version after version until it is committed or refused: `commit_loop` of the engine."""
    log, settings = client.log, table.settings
    first_version = version = current.snapshot.version + 1
    lines = current.lines
    body = encode_commit(lines)
    for sent in range(1, settings.max_commit_attempts + 2):
        put = PutIfAbsent(log_key(version), body, lines if reads_back else None)
        result = yield from log.attempt(put, version)
        if result is PutResult.CREATED:
            return Committed(version, current.commit_info, lines, sent)
        if sent > settings.max_commit_attempts:
            break
        newest = yield from log.list_winners()
        for winning_version in range(version, newest + 1):
            log.pass_commit(passing, winning_version)
            winner = client.cluster.history.commit(winning_version)
            if current.passes_by(winner):
                continue
            answer = check(current, WinningCommit(winner), settings)
            if isinstance(answer, Verdict):
                return Aborted(answer, sent)
            if answer is not current:
                current, lines = answer, answer.lines
                body = encode_commit(lines)
        version = max(version, newest + 1)  # a stale listing shows no winner at all
    return (yield from drive(give_up(current, settings, first_version, version), client))

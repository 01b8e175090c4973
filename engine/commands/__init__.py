"""Commands: what each SQL statement reads, rewrites and commits.

How a client runs one:

    shared = SharedTable()                      # one per table, for all its clients in a process
    table = Table("events", shared, settings)   # one per client (it knows how far it has read)
    statement = parse_statement("DELETE FROM events WHERE date = :date AND event_id IN (:keys)")
    bound = statement.with_parameters({"date": day, "keys": [7, 8]})
    outcome = run(run_statement(bound, {"events": table}), store)
    bound.sql()                                 # the whole statement as Spark SQL

`run_statement` and the others are generators of storage requests, `Steps[Outcome]`. A
statement is parsed once and planned once for each schema; `with_parameters` only binds values:
`:name` for one value, `IN (:name)` for several, `VALUES :name` for rows in schema order (a
sequence of tuples).

Some commands open several transactions, one after another: VACUUM, DROP FEATURE, enabling row
tracking, a commit that makes auto compaction due. The outcome is the last one's; `table.outcomes`
has them all.

Beyond SQL there are micro-batches of streaming queries (`run_batch`).

Requests of one statement, in order: those of the log (list, get), `NewId`, at most one `ReadRows`
for data files that no client of the `SharedTable` has seen, `WriteRows` for each new data file,
`Put` of a deletion vector file, one `Compute` that stands for the Spark job (what it read and
wrote is in the request; the files read are those that hold rows concerned), then the commit's
`PutIfAbsent`.
"""

from whitecap.engine.commands.rows.streaming import Batch
from whitecap.engine.commands.run import run_batch, run_beyond_sql, run_statement
from whitecap.engine.session.table import SharedTable, Table, Tables

__all__ = [
    "Batch",
    "SharedTable",
    "Table",
    "Tables",
    "run_batch",
    "run_beyond_sql",
    "run_statement",
]

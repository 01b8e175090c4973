"""From the transactions of all runs to measures per run, computed by Spark.

Spark reduces millions of recorded transactions to one number per run and measure; the intervals
over replications are then a matter of a few hundred rows (`tables.py`). The definitions of the
measures stand in `measures.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from whitecap.engine.recorded import RecordedOutcome
from whitecap.reports.measures import CONFLICTS, MEASURES
from whitecap.reports.runs import NEEDED_COLUMNS, RunSet
from whitecap.reports.tables import Tables, build_tables

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession

RUN = ("cell", "replication")
"""What identifies a run within a sweep."""

GROUP = ("writer_group", "command")
"""What identifies a kind of writer within a run."""

_WHOLE_RUN = ""

_PERCENTILES = {"latency_p50_ms": 0.5, "latency_p95_ms": 0.95, "latency_p99_ms": 0.99}
_MS_PER_MINUTE = 60_000.0


ALL_WRITERS = "all writers"


def aggregate(session: SparkSession, runs: RunSet) -> Tables:
    """All tables of a sweep; of one run, with its writer groups in the place of cells."""
    transactions = transactions_of(session, runs)
    if runs.is_sweep:
        labels = runs.cells
    else:
        transactions = _writers_as_cells(transactions).cache()
        found = sorted(row[0] for row in transactions.select("cell").distinct().collect())
        names = sorted(found, key=lambda name: name != ALL_WRITERS)
        labels = {name: {"writer": name} for name in names}
    measured = measures_per_run(transactions)
    complete = _with_idle_runs(measured.runs, labels, runs)
    return build_tables(complete, measured.groups, exceptions_per_run(transactions), labels)


def _with_idle_runs(measured: pd.DataFrame, cells: Iterable[str], runs: RunSet) -> pd.DataFrame:
    """The measures with a row for runs that have no transaction: their goodput is zero."""
    replications = {run.replication for run in runs.runs}
    recorded = {(run.cell, run.replication) for run in runs.runs}
    keys = [
        (cell, replication)
        for cell in cells
        for replication in sorted(replications)
        if not runs.is_sweep or (cell, replication) in recorded
    ]
    complete = pd.DataFrame(keys, columns=list(RUN)).merge(measured, "left", list(RUN))
    counts = ["transactions", "attempts", "jobs", "goodput_per_minute"]
    return complete.fillna(dict.fromkeys(counts, 0.0))


def _writers_as_cells(transactions: DataFrame) -> DataFrame:
    """Every transaction twice: under all writers, and under its own group and command."""
    from pyspark.sql import functions as f

    own = f.concat_ws(" · ", *GROUP)
    return transactions.withColumn("cell", f.explode(f.array(f.lit(ALL_WRITERS), own)))


def transactions_of(session: SparkSession, runs: RunSet) -> DataFrame:
    """All recorded transactions with their run's cell, replication, warm-up and duration."""
    from pyspark.sql import functions as f

    table = session.read.parquet(*(_literal(run.transactions) for run in runs.runs)).select(
        *NEEDED_COLUMNS, f.col("_metadata.file_path").alias("file_path")
    )
    table = table.withColumn("run", _run_key(runs))
    return table.join(f.broadcast(_run_table(session, runs)), "run").drop("run", "file_path")


def _literal(path: Path) -> str:
    """The path for Spark, which would take brackets, braces and stars for a pattern."""
    return "file://" + re.sub(r"([][{}*?\\\\])", r"\\\1", str(path.resolve()))


def _run_key(runs: RunSet) -> Column:
    """`<cell>/<replication>`, taken from the end of the file's path."""
    from pyspark.sql import functions as f

    if not runs.is_sweep:
        return f.lit(_key(runs.runs[0].cell, runs.runs[0].replication))
    return f.regexp_extract("file_path", r"([^/]+/[^/]+)/transactions\.parquet$", 1)


def _key(cell: str, replication: int) -> str:
    return f"{cell}/{replication}"


def _run_table(session: SparkSession, runs: RunSet) -> DataFrame:
    rows = [
        (_key(r.cell, r.replication), r.cell, r.replication, r.warm_up_ms, r.duration_ms)
        for r in runs.runs
    ]
    schema = (
        "run string, cell string, replication int, run_warm_up_ms double, run_duration_ms double"
    )
    return session.createDataFrame(rows, schema)


@dataclass(frozen=True, slots=True)
class Measured:
    """One row per run with a column per measure, for all writers and per `GROUP`."""

    runs: pd.DataFrame
    groups: pd.DataFrame


def measures_per_run(transactions: DataFrame) -> Measured:
    """Every measure of every run, whole and by writer group and command."""
    counted = _transaction_measures(transactions).toPandas()
    measured = counted.merge(_job_measures(transactions).toPandas(), "outer", [*RUN, *GROUP])
    table = measured[[*RUN, *GROUP, "transactions", "attempts", "jobs", *MEASURES]]
    is_whole = table[GROUP[0]] == _WHOLE_RUN
    whole = table[is_whole].drop(columns=list(GROUP))
    return Measured(_sorted(whole, RUN), _sorted(table[~is_whole], [*RUN, *GROUP]))


def exceptions_per_run(transactions: DataFrame) -> pd.DataFrame:
    """Aborted transactions per run and exception, as a count and as a share of those that ended."""
    from pyspark.sql import functions as f

    name = f.when(
        f.col("outcome") == RecordedOutcome.ABORTED.value,
        f.coalesce("exception", f.lit("(none recorded)")),
    )
    kept = _after_warm_up(transactions).where(f.col("outcome") != RecordedOutcome.IN_FLIGHT.value)
    counts = kept.groupBy(*RUN, name.alias("exception")).count().toPandas()
    ended = counts.groupby(list(RUN))["count"].transform("sum")
    counts = counts.assign(ended=ended, rate=counts["count"] / ended)
    aborted = counts[counts["exception"].notna()].rename(columns={"count": "aborted"})
    return _sorted(aborted, [*RUN, "exception"])


def _after_warm_up(transactions: DataFrame) -> DataFrame:
    return transactions.where("submitted_at_ms >= run_warm_up_ms")


def _by_run_and_by_group(rows: DataFrame) -> GroupedData:
    """Groups of a whole run, marked by `_WHOLE_RUN`, beside those of its kinds of writers."""
    return rows.groupingSets([[*RUN], [*RUN, *GROUP]], *RUN, *GROUP)


def _keys() -> list[Column]:
    """The columns that name a group of `_by_run_and_by_group`."""
    from pyspark.sql import functions as f

    whole = f.lit(_WHOLE_RUN)
    return [f.col(name) for name in RUN] + [f.coalesce(name, whole).alias(name) for name in GROUP]


def _transaction_measures(transactions: DataFrame) -> DataFrame:
    """The measures whose unit of counting is the transaction or the attempt."""
    from pyspark.sql import functions as f

    is_aborted = f.col("outcome") == RecordedOutcome.ABORTED.value
    has_ended = f.col("outcome") != RecordedOutcome.IN_FLIGHT.value
    sums: Mapping[str, Column] = {
        "ended": has_ended.cast("long"),
        "aborted": is_aborted.cast("long"),
        "refused": (is_aborted & f.col("exception").isin(*CONFLICTS)).cast("long"),
        "attempts": f.col("attempts").cast("long"),
        "retries": f.greatest(f.col("attempts") - 1, f.lit(0)).cast("long"),
        "reruns": (f.col("rerun_number") > 0).cast("long"),
        "compute": f.when(has_ended, f.col("compute_ms")),
        "wasted": f.when(is_aborted, f.col("compute_ms")),
    }
    counts = _by_run_and_by_group(_after_warm_up(transactions)).agg(
        f.count("*").alias("transactions"),
        *(f.coalesce(f.sum(column), f.lit(0)).alias(name) for name, column in sums.items()),
    )
    return counts.select(
        *_keys(),
        "transactions",
        "attempts",
        _share("refused", "attempts").alias("conflict_rate"),
        _share("retries", "attempts").alias("retry_rate"),
        _share("aborted", "ended").alias("abort_rate"),
        _share("reruns", "transactions").alias("rerun_rate"),
        _share("wasted", "compute").alias("wasted_compute_share"),
    )


def _job_measures(transactions: DataFrame) -> DataFrame:
    """The measures whose unit of counting is the job: a transaction with all its reruns."""
    from pyspark.sql import functions as f

    jobs = _jobs(transactions)
    is_counted = f.col("last.submitted_at_ms") >= f.col("run_warm_up_ms")
    succeeded = f.col("last.outcome") == RecordedOutcome.COMMITTED.value
    ended = succeeded | f.col("last.given_up")
    is_good = (
        succeeded
        & f.col("last.committed_version").isNotNull()
        & f.col("last.ended_at_ms").between(f.col("run_warm_up_ms"), f.col("run_duration_ms"))
    )
    minutes = (f.first("run_duration_ms") - f.first("run_warm_up_ms")) / _MS_PER_MINUTE
    latency = f.when(
        is_counted & succeeded, f.col("last.ended_at_ms") - f.col("first_submitted_at_ms")
    )
    counts = _by_run_and_by_group(jobs).agg(
        f.count(f.when(is_counted, 1)).alias("jobs"),
        f.count(f.when(is_counted & succeeded, 1)).alias("succeeded"),
        f.count(f.when(is_counted & ended, 1)).alias("jobs_ended"),
        (f.count(f.when(is_good, 1)) / minutes).alias("goodput_per_minute"),
        f.percentile(latency, f.lit([*_PERCENTILES.values()])).alias("latency"),
    )
    return counts.select(
        *_keys(),
        "jobs",
        "goodput_per_minute",
        _share("succeeded", "jobs_ended").alias("job_success_rate"),
        *(f.col("latency")[i].alias(name) for i, name in enumerate(_PERCENTILES)),
    )


def _jobs(transactions: DataFrame) -> DataFrame:
    """One row per job with its first submission and its last transaction."""
    from pyspark.sql import functions as f

    last = f.struct("outcome", "submitted_at_ms", "ended_at_ms", "committed_version", "given_up")
    grouped = transactions.groupBy(*RUN, *GROUP, "job_id")
    return grouped.agg(
        f.min("submitted_at_ms").alias("first_submitted_at_ms"),
        f.max_by(last, f.col("rerun_number")).alias("last"),
        f.first("run_warm_up_ms").alias("run_warm_up_ms"),
        f.first("run_duration_ms").alias("run_duration_ms"),
    )


def _share(part: str, whole: str) -> Column:
    """`part / whole`, NULL where there is nothing to divide by."""
    from pyspark.sql import functions as f

    return f.try_divide(f.col(part).cast("double"), f.col(whole).cast("double"))


def _sorted(frame: Any, keys: Sequence[str]) -> pd.DataFrame:
    table: pd.DataFrame = frame.sort_values(list(keys)).reset_index(drop=True)
    return table

"""OPTIMIZE: compaction, ZORDER BY, and clustering of clustered tables.

Source: OptimizeTableCommand.scala (run, validateZorderByColumns), OptimizeTableStrategy.scala.
"""

from __future__ import annotations

from sqlglot import exp

from whitecap.engine.commands.maintenance.bins import (
    files_by_partition,
    is_small_or_deleted,
    packed,
)
from whitecap.engine.commands.maintenance.cubes import into_cubes
from whitecap.engine.commands.maintenance.curves import Curve
from whitecap.engine.commands.maintenance.rewriting import Rewrite, RowOrder, run_rewrite
from whitecap.engine.commands.schema.clustering import logged_columns, supports_clustering
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.indexed_columns import without_statistics
from whitecap.engine.outcomes import Outcome
from whitecap.engine.refusals import maintenance_errors, write_errors
from whitecap.engine.session.table import Table
from whitecap.engine.sql.expressions.terms import Parameters
from whitecap.engine.sql.parsing.statements import Optimize
from whitecap.engine.sql.predicates.predicate import Predicate, logged, session_of
from whitecap.engine.storage.requests import NewId, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin


def optimize(table: Table, statement: Optimize) -> Steps[Outcome]:
    """Run an OPTIMIZE. Raises `DeltaError` for a condition on data columns."""
    txn = yield from begin(table)
    yield from txn.read_state()
    if supports_clustering(txn.snapshot):
        _check_clustered(statement)
    predicates = partition_predicates(statement.condition, statement.parameters, txn)
    _check_zorder(statement, txn)
    if statement.full and not clustering_columns(txn.snapshot):
        raise maintenance_errors.full_without_clustering()
    if clustering_columns(txn.snapshot):
        rewrite = clustering(txn, statement.command, (yield NewId()), full=statement.full)
    elif statement.zorder_by:
        rewrite = _zorder(statement, txn, predicates)
    else:
        rewrite = _compaction(statement, txn, predicates)
    return (yield from run_rewrite(table, txn, rewrite))


def partition_predicates(
    condition: Predicate | None, parameters: Parameters, txn: Transaction
) -> tuple[Predicate, ...]:
    """The conjuncts of a condition. Raises `DeltaError` for one on data columns."""
    if condition is None:
        return ()
    if condition.node.find(exp.Query) is not None:
        raise write_errors.subquery_over_partitions()
    as_written = condition.with_parameters(parameters).as_written(txn.snapshot.schema)
    conjuncts = as_written.conjuncts()
    columns = txn.metadata.partition_columns
    partition_columns = {name.lower() for name in columns}
    for predicate in conjuncts:
        wrong = sorted(predicate.columns - partition_columns)
        if wrong:
            raise maintenance_errors.not_a_partition_column(wrong[0], columns)
        predicate.bind(txn.snapshot.schema, session_of(txn.settings))  # names what is wrong in it
    return conjuncts


def _check_clustered(statement: Optimize) -> None:
    if statement.condition is not None:
        raise maintenance_errors.clustering_with_predicates(statement.condition.sql)
    if statement.zorder_by:
        raise maintenance_errors.clustering_with_zorder(statement.zorder_by)


def _check_zorder(statement: Optimize, txn: Transaction) -> None:
    """Each column is there, and no partition; then all that have no statistics are told at once."""
    partitions = {name.lower() for name in txn.metadata.partition_columns}
    for name in statement.zorder_by:
        if name.lower() in partitions:
            raise maintenance_errors.zorder_on_partition_column(name)
        if txn.snapshot.schema.get(name) is None:
            raise maintenance_errors.zorder_on_unknown_column(name)
    unindexed = without_statistics(statement.zorder_by, txn.metadata)
    if unindexed and txn.settings.zorder_needs_statistics:
        raise maintenance_errors.zorder_without_statistics(unindexed)


def _compaction(
    statement: Optimize, txn: Transaction, predicates: tuple[Predicate, ...]
) -> Rewrite:
    settings = txn.settings

    def chosen(file: AddFile) -> bool:
        ratio = settings.optimize_max_deleted_rows_ratio
        return is_small_or_deleted(file, settings.optimize_min_file_size, ratio)

    groups = files_by_partition(txn.snapshot, predicates, settings, chosen)
    bins = packed(groups.values(), settings.optimize_max_file_size)
    return Rewrite(statement.command, predicates, bins, optimize_operation(predicates))


def _zorder(statement: Optimize, txn: Transaction, predicates: tuple[Predicate, ...]) -> Rewrite:
    """All files of a partition into one, or along a curve into several."""
    groups = files_by_partition(txn.snapshot, predicates, txn.settings, lambda _: True)
    operation = optimize_operation(predicates, zorder_by=statement.zorder_by)
    bins = list(groups.values())
    order = RowOrder(statement.zorder_by, Curve.Z, txn.settings.optimize_max_file_size)
    return Rewrite(statement.command, predicates, bins, operation, order)


def clustering(
    txn: Transaction, job: str, unique: str, *, auto: bool = False, full: bool = False
) -> Rewrite:
    """All that a clustered table has not in large cubes yet, into cubes."""
    columns = clustering_columns(txn.snapshot)
    operation = optimize_operation((), cluster_by=columns, auto=auto, full=full)
    rewrite = into_cubes(txn, job, txn.snapshot.all_files(), operation, unique, full)
    return rewrite.in_files_of(txn.settings.auto_compact_max_file_size) if auto else rewrite


def optimize_operation(
    predicates: tuple[Predicate, ...],
    zorder_by: tuple[str, ...] = (),
    cluster_by: tuple[str, ...] = (),
    auto: bool = False,
    full: bool | None = None,
) -> Operation:
    """`full` says of clustering whether all files are. Source: DeltaOperations.Optimize."""
    parameters = {
        "predicate": logged(predicates),
        "auto": auto,
        "clusterBy": logged_columns(cluster_by),
        "zOrderBy": list(zorder_by),
    }
    if full is not None:
        parameters["isFull"] = full
    return Operation("OPTIMIZE", parameters)

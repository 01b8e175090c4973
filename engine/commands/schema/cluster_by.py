"""ALTER TABLE CLUSTER BY.

Source: alterDeltaTableCommands.scala (AlterTableClusterByDeltaCommand), DeltaCatalog.scala.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.commands.schema.clustering import (
    check_cluster_list,
    check_clustering,
    clustering_domain,
    supports_clustering,
    with_clustering,
)
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.outcomes import NothingToCommit, Outcome
from whitecap.engine.refusals import table_errors
from whitecap.engine.refusals.property_errors import column_not_in_schema
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import ClusterBy
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin


def cluster_by(table: Table, statement: ClusterBy) -> Steps[Outcome]:
    """Set the clustering columns; the first time, the table gets the feature."""
    txn = yield from begin(table)
    for name in statement.columns:
        if txn.snapshot.schema.get(name) is None:
            raise column_not_in_schema(name)
    check_cluster_list(statement.columns)
    if txn.metadata.partition_columns:
        raise table_errors.cluster_partitioned_table()
    clustered = supports_clustering(txn.snapshot)
    if not statement.columns and not clustered:
        return NothingToCommit(txn.read_version)
    old = clustering_columns(txn.snapshot)
    if not clustered:
        configuration = with_clustering(txn.metadata.configuration, txn.dialect)
        txn.update_metadata(replace(txn.metadata, configuration=configuration))
    check_clustering(statement.columns, txn.metadata)
    domain = clustering_domain(statement.columns, txn.metadata)
    operation_parameters = {
        "oldClusteringColumns": ",".join(old),
        "newClusteringColumns": ",".join(statement.columns),
    }
    return (yield from txn.commit([domain], Operation("CLUSTER BY", operation_parameters)))

"""Taking column mapping away: every file is written again under the columns' own names.

Source: RemoveColumnMappingCommand.scala (one commit; what goes does not count as changed data).
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import preserved_row_tracking
from whitecap.engine.log.columns.mapping import without_mapping
from whitecap.engine.log.properties import COLUMN_MAPPING_MODE, MAX_COLUMN_ID
from whitecap.engine.log.schema import schema_string
from whitecap.engine.outcomes import Outcome
from whitecap.engine.query.scan_tasks import by_task, scan_tasks
from whitecap.engine.refusals import property_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps
from whitecap.engine.transaction.metadata_checks import unfit_names
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.files import FileWriter, removals
from whitecap.engine.writing.spark_job import job


def remove_column_mapping(table: Table, txn: Transaction, keep_property: bool) -> Steps[Outcome]:
    """Rewrite the table without mapping; its mode becomes none, or unset."""
    unfit = unfit_names(txn.snapshot.schema.names)
    if unfit:
        raise property_errors.names_that_need_mapping(unfit)
    yield from txn.read_state()
    files = list(txn.filter_all_files())
    old = yield from table.data_files.read(files, txn.snapshot.schema)
    configuration = dict(txn.metadata.configuration)
    configuration.pop(MAX_COLUMN_ID, None)
    configuration.pop(COLUMN_MAPPING_MODE.key, None)
    if keep_property:
        configuration[COLUMN_MAPPING_MODE.key] = "none"
    schema = schema_string(without_mapping(txn.snapshot.schema))
    txn.update_metadata(replace(txn.metadata, schema_string=schema, configuration=configuration))
    writer = FileWriter(table, txn.metadata, data_change=False)
    rows = {file_rows.file.path: list(file_rows.live_rows()) for file_rows in old}
    adds = yield from writer.write(by_task(scan_tasks(files), rows))
    yield from job("REMOVE COLUMN MAPPING", old, writer)
    removes = yield from removals(files, data_change=False)
    tags = preserved_row_tracking(txn.metadata)
    return (yield from txn.commit([*removes, *adds], Operation("REMOVE COLUMN MAPPING"), tags))

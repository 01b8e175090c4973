"""Enabling row tracking on a table that has files, and taking it back.

Source: RowTrackingBackfillCommand.scala, BackfillExecutor.scala, RowTrackingBackfillBatch.scala,
and their counterparts for un-backfill. The protocol comes first, so that files added from then on
have row ids; then the files that have none are added again with ids; the property comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.conflicts.row_ids import without_row_ids
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile, AnyAction, Metadata
from whitecap.engine.log.effects import BACKFILL, UNBACKFILL
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import supports, with_features
from whitecap.engine.outcomes import Committed, Outcome
from whitecap.engine.refusals import property_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin
from whitecap.engine.writing.spark_job import job


def is_enabling(metadata: Metadata, new: Mapping[str, str]) -> bool:
    """Whether these properties switch row tracking on."""
    before = properties.ROW_TRACKING.of(metadata.configuration)
    return not before and properties.ROW_TRACKING.of({**metadata.configuration, **new})


def backfill(table: Table) -> Steps[Outcome | None]:
    """The commits that come before the property is set; the outcome that stopped them, if any."""
    if not table.settings.row_tracking_backfill:
        raise property_errors.no_row_ids_on_existing_table()
    txn = yield from begin(table)
    protocol = txn.snapshot.protocol
    assert protocol is not None
    if not supports(protocol, feature_keys.ROW_TRACKING):
        upgraded = with_features(protocol, [feature_keys.ROW_TRACKING])
        parameters = {"newProtocol": msgspec.to_builtins(upgraded)}
        outcome = yield from txn.commit([upgraded], Operation("UPGRADE PROTOCOL", parameters))
        if not isinstance(outcome, Committed):
            return outcome
    ended = yield from _again(table, BACKFILL, lambda file: file.base_row_id is None)
    return None if isinstance(ended, Committed) else ended


def unbackfill(table: Table) -> Steps[Outcome | None]:
    """Take the row ids off all files; how the last batch ended, `None` without any."""
    return (yield from _again(table, UNBACKFILL, lambda file: file.base_row_id is not None))


def _again(table: Table, name: str, concerns: Callable[[AddFile], bool]) -> Steps[Outcome | None]:
    """Add the files concerned again, batch after batch, until there are none."""
    batch = 0
    outcome: Outcome | None = None
    while True:
        txn = yield from begin(table)
        yield from txn.read_state()
        files = [file for file in txn.snapshot.all_files() if concerns(file)]
        if not files:
            return outcome
        files = files[: table.settings.backfill_max_files]
        txn.track_files_read(files)
        yield from job(name)
        actions = [_unchanged(file, name) for file in files]
        outcome = yield from txn.commit(actions, Operation(name, {"batchId": batch}))
        if not isinstance(outcome, Committed):
            return outcome
        batch += 1


def _unchanged(file: AddFile, name: str) -> AnyAction:
    again = replace(file, data_change=False)
    return again if name == BACKFILL else without_row_ids(again)

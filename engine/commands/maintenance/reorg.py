"""REORG TABLE: APPLY (PURGE) and APPLY (UPGRADE UNIFORM).

Source: DeltaReorgTableCommand.scala, ReorgTableForUpgradeUniformHelper.scala.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from whitecap.engine.commands.maintenance.bins import files_by_partition, packed
from whitecap.engine.commands.maintenance.cubes import into_cubes
from whitecap.engine.commands.maintenance.optimize import partition_predicates
from whitecap.engine.commands.maintenance.rewriting import FileMark, Rewrite, run_rewrite
from whitecap.engine.commands.schema.properties import change_properties
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.commit_file import Commit
from whitecap.engine.log.schema import Schema, schema_of_metadata
from whitecap.engine.outcomes import Committed, NothingToCommit, Outcome
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.table_statements import Reorg
from whitecap.engine.sql.predicates.predicate import Predicate, logged
from whitecap.engine.storage.requests import NewId, Steps
from whitecap.engine.transaction.transaction import Transaction
from whitecap.engine.writing.beginning import begin

_COMPAT_TAG = "ICEBERG_COMPAT_VERSION"


def reorg(table: Table, statement: Reorg) -> Steps[Outcome]:
    """Run a REORG."""
    version = statement.iceberg_compat_version
    if version is not None:
        return (yield from _upgrade_uniform(table, version))
    txn = yield from begin(table)
    predicates = partition_predicates(statement.condition, statement.parameters, txn)
    return (yield from purge(table, txn, predicates))


def purge(table: Table, txn: Transaction, predicates: tuple[Predicate, ...] = ()) -> Steps[Outcome]:
    """Rewrite files that hide rows, or that hold columns which the table has dropped."""
    yield from txn.read_state()
    files = txn.snapshot.all_files()
    yield from table.data_files.fetch(files, txn.snapshot.schema)
    schema = txn.snapshot.schema

    def chosen(file: AddFile) -> bool:
        columns = table.data_files.columns_of(file.path)
        return file.deletion_vector is not None or _has_dropped(columns, schema)

    return (yield from _rewritten(table, txn, predicates, chosen))


def _has_dropped(columns: tuple[str, ...], schema: Schema) -> bool:
    return not set(columns) <= set(schema.physical_names)


def rewrite_narrower(table: Table, txn: Transaction) -> Steps[Outcome]:
    """Rewrite files that have narrower types than the table.

    Source: DeltaReorgTableCommand.scala (DeltaRewriteTypeWideningOperation).
    """
    yield from txn.read_state()
    wide = _types(txn.snapshot.schema)
    written = _types_when_written((yield from table.commits()))

    def chosen(file: AddFile) -> bool:
        types = written.get(file.path, wide)
        return any(wide.get(name, kind) != kind for name, kind in types.items())

    return (yield from _rewritten(table, txn, (), chosen))


def _types(schema: Schema) -> dict[str, str]:
    return dict(zip(schema.physical_names, schema.types, strict=True))


def _types_when_written(commits: Iterable[Commit]) -> dict[str, dict[str, str]]:
    """By path, the types that the table's columns had when the file first came into it."""
    types: dict[str, str] = {}
    written: dict[str, dict[str, str]] = {}
    for commit in commits:
        if commit.metadata is not None:
            types = _types(schema_of_metadata(commit.metadata))
        for add in commit.adds:
            written.setdefault(add.path, types)
    return written


def _rewritten(
    table: Table,
    txn: Transaction,
    predicates: tuple[Predicate, ...],
    chosen: Callable[[AddFile], bool],
    marks: tuple[FileMark, ...] = (),
) -> Steps[Outcome]:
    operation = Operation("REORG", {"predicate": logged(predicates), "applyPurge": True})
    if clustering_columns(txn.snapshot):
        rewrite = _into_cubes(txn, chosen, operation, (yield NewId()))
    else:
        groups = files_by_partition(txn.snapshot, predicates, txn.settings, chosen)
        bins = packed(groups.values(), txn.settings.optimize_max_file_size, smallest_bin=1)
        rewrite = Rewrite("REORG", predicates, bins, operation)
    rewrite = replace(rewrite, marks=(*rewrite.marks, *marks))
    return (yield from run_rewrite(table, txn, rewrite))


def _into_cubes(
    txn: Transaction, chosen: Callable[[AddFile], bool], operation: Operation, unique: str
) -> Rewrite:
    """A clustered table's files go into cubes here too: those of a single small one stay.

    They keep their deletion vectors, and columns that the table has dropped. Source:
    OptimizeTableCommand.scala: OptimizeExecutor, whose strategy is that of the table.
    """
    files = [file for file in txn.snapshot.all_files() if chosen(file)]
    return into_cubes(txn, "REORG", files, operation, unique, full=False)


def _upgrade_uniform(table: Table, version: int) -> Steps[Outcome]:
    """Iceberg compatibility, then files that have it, then the format itself."""
    if version not in (1, 2):
        raise UnsupportedFeature(f"Iceberg compatibility version {version}: only 1 and 2")
    txn = yield from begin(table)
    outcome: Outcome = NothingToCommit(txn.read_version)
    key = f"{properties.ICEBERG_COMPAT}V{version}"
    if txn.metadata.configuration.get(key) != "true":
        outcome = yield from _enable_compat(txn, version)
        if not isinstance(outcome, Committed):
            return outcome
    if version >= 2:
        txn = yield from begin(table)
        outcome = yield from _make_compatible(table, txn, version)
    txn = yield from begin(table)
    if txn.metadata.configuration.get(properties.UNIVERSAL_FORMATS) == "iceberg":
        return outcome
    return (yield from change_properties(txn, {properties.UNIVERSAL_FORMATS: "iceberg"}))


def _enable_compat(txn: Transaction, version: int) -> Steps[Outcome]:
    enabling = {
        f"{properties.ICEBERG_COMPAT}V{version}": "true",
        properties.COLUMN_MAPPING_MODE.key: "name",
        properties.DELETION_VECTORS.key: "false",
    }
    other = f"{properties.ICEBERG_COMPAT}V{3 - version}"
    if txn.metadata.configuration.get(other) == "true":
        enabling[other] = "false"
    operation = Operation("REORG TABLE UPGRADE UNIFORM", {"properties": enabling})
    configuration = {**txn.metadata.configuration, **enabling}
    txn.update_metadata(replace(txn.metadata, configuration=configuration))
    return (yield from txn.commit([], operation))


def _make_compatible(table: Table, txn: Transaction, version: int) -> Steps[Outcome]:
    wanted = str(version)

    def chosen(file: AddFile) -> bool:
        return (file.tags or {}).get(_COMPAT_TAG) != wanted

    def mark(add: AddFile, _number: int) -> AddFile:
        return replace(add, tags={**(add.tags or {}), _COMPAT_TAG: wanted})

    return (yield from _rewritten(table, txn, (), chosen, (mark,)))

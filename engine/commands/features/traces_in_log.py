"""Traces of table features in the log alone: properties, constraints, domains.

Source: PreDowngradeTableFeatureCommand.scala; `RemovableFeature` in TableFeature.scala
(validateDropInvariants and the like).
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.commands.features.cleaning import (
    CLEAN,
    Cleaned,
    all_done,
    empty_commit,
    stop,
)
from whitecap.engine.commands.schema.constraints import constraint_names
from whitecap.engine.commands.schema.properties import change_properties, drop_properties
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AnyAction, DomainMetadata
from whitecap.engine.log.snapshot import ROW_TRACKING_DOMAIN, Snapshot
from whitecap.engine.refusals import feature_errors
from whitecap.engine.session.table import Table
from whitecap.engine.storage.requests import Steps
from whitecap.engine.writing.beginning import begin


def clean_checkpoint_policy(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """Checkpoints are made in the classic form again."""
    if not asks_for_v2_checkpoints(seen):
        return CLEAN
    txn = yield from begin(table)
    changed = change_properties(txn, {properties.CHECKPOINT_POLICY.key: "classic"})
    return (yield from all_done([changed]))


def asks_for_v2_checkpoints(snapshot: Snapshot) -> bool:
    """Whether the table asks for checkpoints of the second version."""
    return properties.makes_v2_checkpoints(snapshot.configuration)


_ENABLEMENT = (properties.ICT_ENABLEMENT_TIMESTAMP, properties.ICT_ENABLEMENT_VERSION)


def is_stamped(snapshot: Snapshot) -> bool:
    """Whether commits carry their instants, or the table says since when."""
    on = properties.IN_COMMIT_TIMESTAMPS.of(snapshot.configuration)
    return on or any(key in snapshot.configuration for key in _ENABLEMENT)


def clean_timestamps(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """In-commit timestamps off; where they began is forgotten."""
    if not is_stamped(seen):
        return CLEAN
    txn = yield from begin(table)
    configuration = dict(txn.metadata.configuration)
    removed = [key for key in _ENABLEMENT if configuration.pop(key, None) is not None]
    if properties.IN_COMMIT_TIMESTAMPS.of(configuration):
        configuration[properties.IN_COMMIT_TIMESTAMPS.key] = "false"
        removed.append(properties.IN_COMMIT_TIMESTAMPS.key)
    operation = Operation("UNSET TBLPROPERTIES", {"properties": removed, "ifExists": True})
    metadata = replace(txn.metadata, configuration=configuration)
    return (yield from all_done([txn.commit([metadata], operation)]))


def check_constraints(_table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """Nothing is taken away: constraints are the user's. Raises `DeltaError` if there are some."""
    yield from ()
    if is_constrained(seen):
        assert seen.metadata is not None
        raise feature_errors.kept_by_constraints(constraint_names(seen.metadata))
    return CLEAN


def is_constrained(snapshot: Snapshot) -> bool:
    """Whether the table has CHECK constraints."""
    return snapshot.metadata is not None and bool(constraint_names(snapshot.metadata))


def watermark_removed(snapshot: Snapshot) -> list[AnyAction]:
    """What removes the domain of row tracking, where there is one."""
    domain = snapshot.domains.get(ROW_TRACKING_DOMAIN)
    return [] if domain is None else [_removed(domain)]


def _removed(domain: DomainMetadata) -> DomainMetadata:
    return replace(domain, removed=True)


def has_domains(snapshot: Snapshot) -> bool:
    """Whether any domain has metadata."""
    return bool(snapshot.domains)


def clean_domains(table: Table, _seen: Snapshot) -> Steps[Cleaned]:
    """All domains go, in one commit."""
    txn = yield from begin(table)
    yield from txn.read_state()
    if not has_domains(txn.snapshot):
        return CLEAN
    gone = [_removed(domain) for domain in txn.snapshot.domains.values()]
    return (yield from all_done([txn.commit(gone, Operation("DOMAIN METADATA CLEANUP"))]))


def is_protected(snapshot: Snapshot) -> bool:
    """Whether the table forbids to clean up checkpoints before some version."""
    return properties.PROTECTED_VERSION in snapshot.configuration


def unprotect(table: Table, seen: Snapshot) -> Steps[Cleaned]:
    """The history that is protected would have to be cut off first, which takes its time."""
    if int(seen.configuration.get(properties.PROTECTED_VERSION, "0")) > 0:
        stopped = stop((yield from empty_commit(table)))
        if stopped is not None:
            return Cleaned(stopped)
        _, truncated = properties.history_retentions(seen.configuration)
        raise feature_errors.protected_for_now(truncated)
    txn = yield from begin(table)
    dropped = drop_properties(txn, [properties.PROTECTED_VERSION])
    return (yield from all_done([dropped], made_changes=False))

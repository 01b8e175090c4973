"""Check 1: protocol changes of winner and current transaction.

Source: `ConflictChecker.scala: checkProtocolCompatibility`.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.conflicts.backfill import strip_winner_row_ids
from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import commit_verdict, conflicting_commit
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.conflicts.writable import check_writable
from whitecap.engine.log import properties
from whitecap.engine.log.actions import Protocol
from whitecap.engine.log.features import feature_keys
from whitecap.engine.log.features.protocols import feature_names, required_features
from whitecap.engine.log.features.table_features import FEATURES
from whitecap.engine.outcomes import Verdict
from whitecap.engine.refusals import protocol_errors
from whitecap.engine.rules import Rule
from whitecap.engine.settings import Settings


def check_protocol(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    """A winner may add features that nobody needs to heed; dropping one aborts everybody.

    Raises `DeltaError` where the winner's protocol is beyond this client, or where dropping a
    feature is no longer valid.
    """
    if current.checks.compares_versions:
        return _by_versions(current, winner)
    if winner.protocol is not None:
        check_writable(winner.protocol, current.table_name)
        evidence = _objection(current, winner.protocol, settings)
        if evidence is not None:
            return commit_verdict(Rule.PROTOCOL, current, winner, evidence)
        current = replace(current, protocol=winner.protocol)
    dropped = feature_names(current.snapshot.protocol) - feature_names(current.protocol)
    return _still_dropping(current, winner, dropped) if dropped else current


def _by_versions(
    current: CurrentTransaction, winner: WinningCommit
) -> CurrentTransaction | Verdict:
    """The same where the numbers decide, and features do not.

    Source: `conflict_checker.rs: check_protocol_compatibility` of delta-rs.
    """
    read, won = current.snapshot.protocol, winner.protocol
    if read is None or won is None:
        return current
    raised = (
        read.min_reader_version < won.min_reader_version
        or won.min_writer_version < read.min_writer_version
        or (
            current.checks.heeds_raised_writer_version
            and read.min_writer_version < won.min_writer_version
        )
    )
    if not raised and not any(isinstance(action, Protocol) for action in current.actions):
        return current
    versions = f"{won.min_reader_version}/{won.min_writer_version}"
    return commit_verdict(Rule.PROTOCOL, current, winner, versions)


def _objection(current: CurrentTransaction, new: Protocol, settings: Settings) -> str | None:
    """What speaks against the winner's protocol, `None` if nothing does."""
    if any(isinstance(action, Protocol) for action in current.actions):
        return "both commits change the protocol"
    read, won = feature_names(current.snapshot.protocol), feature_names(new)
    if not read <= won:
        return f"dropped: {', '.join(sorted(read - won))}"
    added = [name for name in sorted(won - read) if _fails_concurrent(name)]
    if added and settings.enforce_concurrent_feature_enablement:
        return f"added: {', '.join(added)}"
    return None


def _fails_concurrent(name: str) -> bool:
    """Source: `TableFeature.failConcurrentTransactionsAtUpgrade`, true unless a feature says no."""
    return name not in FEATURES or FEATURES[name].fails_concurrent


def _still_dropping(
    current: CurrentTransaction, winner: WinningCommit, dropped: frozenset[str]
) -> CurrentTransaction:
    """This transaction drops features, and the winner left the protocol alone.

    Row tracking is dropped by taking the winner's row ids off; of the others no trace may have
    come back.
    """
    if feature_keys.ROW_TRACKING in dropped:
        current = strip_winner_row_ids(current, winner)
    elif _brings_back(winner, dropped):
        raise protocol_errors.feature_drop_revalidation(conflicting_commit(winner).lstrip("\n"))
    if feature_keys.CHECKPOINT_PROTECTION in current.features:
        return _with_protected_version(current, winner.version + 1)
    return current


_ALWAYS_DROPPED = frozenset({feature_keys.MATERIALIZED_PARTITIONS})
"""What has no traces, and so no way back, as far as Delta looks (validateDropInvariants)."""


def _brings_back(winner: WinningCommit, dropped: frozenset[str]) -> bool:
    dropped -= _ALWAYS_DROPPED
    if winner.metadata is not None and required_features(winner.metadata, frozenset()) & dropped:
        return True
    uses_deletion_vectors = any(add.deletion_vector is not None for add in winner.adds)
    return feature_keys.DELETION_VECTORS in dropped and uses_deletion_vectors


def _with_protected_version(current: CurrentTransaction, version: int) -> CurrentTransaction:
    configuration = {**current.metadata.configuration, properties.PROTECTED_VERSION: str(version)}
    return current.with_metadata(replace(current.metadata, configuration=configuration))

"""Checks 3 and 4: metadata domains, and applications whose progress was read.

Source: `ConflictChecker.scala: checkIfDomainMetadataConflict`,
`checkForUpdatedApplicationTransactionIdsThatCurrentTxnDependsOn`.
"""

from __future__ import annotations

from msgspec.structs import replace

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.messages import commit_verdict, domain_verdict
from whitecap.engine.conflicts.row_ids import is_watermark
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.log.actions import AnyAction, DomainMetadata
from whitecap.engine.log.clustering import CLUSTERING_DOMAIN
from whitecap.engine.log.features import feature_keys
from whitecap.engine.outcomes import Verdict
from whitecap.engine.rules import Rule
from whitecap.engine.settings import Settings

REMOVED_BY_REPLACE = frozenset({CLUSTERING_DOMAIN})
"""Domains that REPLACE TABLE clears unless it sets them itself."""


def check_domains(
    current: CurrentTransaction, winner: WinningCommit, settings: Settings
) -> CurrentTransaction | Verdict:
    """Two commits may not write one domain, unless it is row tracking, which is resolved later."""
    if feature_keys.DOMAIN_METADATA not in current.features or not winner.commit.domains:
        return current
    won = winner.domains
    for action in current.actions:
        if isinstance(action, DomainMetadata) and action.domain in won and not is_watermark(action):
            return domain_verdict(winner, action.domain)
    if settings.replace_table_removes_new_domains and current.operation.replaces_table:
        return _clearing(current, won)
    return current


def _clearing(current: CurrentTransaction, won: dict[str, DomainMetadata]) -> CurrentTransaction:
    """A replaced table does not keep the clustering that a winner gave the old one.

    Source: `DomainMetadataUtils.handleDomainMetadataForReplaceTable`.
    """
    own = [action for action in current.actions if isinstance(action, DomainMetadata)]
    others: list[AnyAction] = [a for a in current.actions if not isinstance(a, DomainMetadata)]
    set_here = {domain.domain for domain in own}
    cleared = [
        replace(domain, removed=True)
        for name, domain in won.items()
        if name in REMOVED_BY_REPLACE and name not in set_here and not domain.removed
    ]
    return current.with_actions([*others, *own, *cleared]) if cleared else current


def check_applications(
    current: CurrentTransaction, winner: WinningCommit, _settings: Settings
) -> CurrentTransaction | Verdict:
    """A winner may not have moved an application whose version this transaction read.

    The versions do not matter, and writing one does not conflict: the last writer wins.
    """
    for app_id in winner.app_ids:
        if app_id in current.read_set.app_ids:
            return commit_verdict(Rule.APPLICATION_TRANSACTIONS, current, winner, app_id)
    return current

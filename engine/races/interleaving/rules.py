"""What each rule of the conflict check says, and where Delta has it."""

from __future__ import annotations

from dataclasses import dataclass

from whitecap.engine.outcomes import Verdict


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in a sentence, with its source."""

    text: str
    source: str


def _checker(function: str) -> str:
    return f"ConflictChecker.scala: {function}"


_ROWS_PAGE = (
    "https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/"
    "row-level-concurrency"
)

RULES = {
    "protocol": Rule(
        "The winner changed the table's protocol in a way that this commit cannot follow.",
        _checker("checkProtocolCompatibility"),
    ),
    "metadata": Rule(
        "The winner changed the table's metadata: its schema, its properties or its layout.",
        _checker("checkNoMetadataUpdates"),
    ),
    "domain_metadata": Rule(
        "Both write the same metadata domain, such as the clustering of the table.",
        _checker("checkIfDomainMetadataConflict"),
    ),
    "application_transactions": Rule(
        "The winner recorded progress of the application whose progress this commit depends on.",
        _checker("checkForUpdatedApplicationTransactionIdsThatCurrentTxnDependsOn"),
    ),
    "added_files": Rule(
        "The winner added a file that this statement should have read: on an unpartitioned table"
        " any file, else one in a partition that the condition does not rule out.",
        _checker("checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn"),
    ),
    "removed_vs_read": Rule(
        "The winner removed a file that this statement read.",
        _checker("checkForDeletedFilesAgainstCurrentTxnReadFiles"),
    ),
    "removed_vs_removed": Rule(
        "The winner removed a file that this statement removes too.",
        _checker("checkForDeletedFilesAgainstCurrentTxnDeletedFiles"),
    ),
    "commit_large": Rule(
        "This command commits at the very next version or not at all; another commit took that.",
        "OptimisticTransaction.scala: commitLarge",
    ),
    "identity_columns": Rule(
        "Tables with identity columns support no concurrent transactions.", _ROWS_PAGE
    ),
    "added_rows": Rule(
        "The winner added or changed rows that this statement's condition matches.", _ROWS_PAGE
    ),
    "deleted_vs_read_rows": Rule("The winner deleted rows that this statement read.", _ROWS_PAGE),
    "deleted_rows": Rule(
        "The winner changed or deleted rows that this statement changes too.", _ROWS_PAGE
    ),
}


def rule_of(verdict: Verdict) -> Rule:
    """The rule that decided a verdict; one without an entry goes by its name."""
    return RULES.get(verdict.rule, Rule(verdict.rule, "ConflictChecker.scala"))

"""The rules of the conflict check: what each says, where Delta has it, and what decides it."""

from __future__ import annotations

from enum import Enum, StrEnum, auto

_ROWS_PAGE = (
    "https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/"
    "row-level-concurrency"
)


class Decider(Enum):
    """What of the winning commit a rule looks at."""

    COMMIT = auto()
    FILE = auto()
    ROW = auto()


class Rule(StrEnum):
    """One rule: its name in recordings, a sentence, its source in Delta, what decides it."""

    sentence: str
    source: str
    decider: Decider

    def __new__(
        cls, name: str, sentence: str, source: str, decider: Decider = Decider.COMMIT
    ) -> Rule:
        rule = str.__new__(cls, name)
        rule._value_ = name
        rule.sentence = sentence
        rule.source = source
        rule.decider = decider
        return rule

    PROTOCOL = (
        "protocol",
        "The winner changed the table's protocol in a way that this commit cannot follow.",
        "ConflictChecker.scala: checkProtocolCompatibility",
    )
    METADATA = (
        "metadata",
        "The winner changed the table's metadata: its schema, its properties or its layout.",
        "ConflictChecker.scala: checkNoMetadataUpdates",
    )
    DOMAIN_METADATA = (
        "domain_metadata",
        "Both write the same metadata domain, such as the clustering of the table.",
        "ConflictChecker.scala: checkIfDomainMetadataConflict",
    )
    APPLICATION_TRANSACTIONS = (
        "application_transactions",
        "The winner recorded progress of the application whose progress this commit depends on.",
        "ConflictChecker.scala: checkForUpdatedApplicationTransactionIdsThatCurrentTxnDependsOn",
    )
    ADDED_FILES = (
        "added_files",
        "The winner added a file that this statement should have read: on an unpartitioned table"
        " any file, else one in a partition that the condition does not rule out.",
        "ConflictChecker.scala: checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn",
        Decider.FILE,
    )
    REMOVED_VS_READ = (
        "removed_vs_read",
        "The winner removed a file that this statement read.",
        "ConflictChecker.scala: checkForDeletedFilesAgainstCurrentTxnReadFiles",
        Decider.FILE,
    )
    REMOVED_VS_REMOVED = (
        "removed_vs_removed",
        "The winner removed a file that this statement removes too.",
        "ConflictChecker.scala: checkForDeletedFilesAgainstCurrentTxnDeletedFiles",
        Decider.FILE,
    )
    COMMIT_LARGE = (
        "commit_large",
        "This command commits at the very next version or not at all; another commit took that.",
        "OptimisticTransaction.scala: commitLarge",
    )
    IDENTITY_COLUMNS = (
        "identity_columns",
        "Tables with identity columns support no concurrent transactions.",
        _ROWS_PAGE,
    )
    ADDED_ROWS = (
        "added_rows",
        "The winner added or changed rows that this statement's condition matches.",
        _ROWS_PAGE,
        Decider.ROW,
    )
    DELETED_VS_READ_ROWS = (
        "deleted_vs_read_rows",
        "The winner deleted rows that this statement read.",
        _ROWS_PAGE,
        Decider.ROW,
    )
    DELETED_ROWS = (
        "deleted_rows",
        "The winner changed or deleted rows that this statement changes too.",
        _ROWS_PAGE,
        Decider.ROW,
    )

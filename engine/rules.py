"""The rules of the conflict check: what each says, where Delta has it, and what decides it.

Names of exceptions are Delta's own (DeltaErrors.scala). Each rule refuses with one of them.
"""

from __future__ import annotations

from enum import Enum, StrEnum, auto

ROWS_PAGE = (
    "https://learn.microsoft.com/en-za/azure/databricks/optimizations/isolation/"
    "row-level-concurrency"
)
"""What Databricks says of conflicts by rows."""


class Decider(Enum):
    """What of the winning commit a rule looks at."""

    COMMIT = auto()
    FILE = auto()
    ROW = auto()


class ConflictException(StrEnum):
    """Delta's seven conflict exception classes (all SQLSTATE 2D521)."""

    CONCURRENT_APPEND = "ConcurrentAppendException"
    CONCURRENT_DELETE_READ = "ConcurrentDeleteReadException"
    CONCURRENT_DELETE_DELETE = "ConcurrentDeleteDeleteException"
    CONCURRENT_TRANSACTION = "ConcurrentTransactionException"
    METADATA_CHANGED = "MetadataChangedException"
    PROTOCOL_CHANGED = "ProtocolChangedException"
    CONCURRENT_WRITE = "ConcurrentWriteException"


class Rule(StrEnum):
    """One rule: its name in recordings, what it refuses with, a sentence, its source in Delta, and
    what decides it."""

    exception: ConflictException
    sentence: str
    source: str
    decider: Decider

    def __new__(
        cls,
        name: str,
        exception: ConflictException,
        sentence: str,
        source: str,
        decider: Decider = Decider.COMMIT,
    ) -> Rule:
        rule = str.__new__(cls, name)
        rule._value_ = name
        rule.exception = exception
        rule.sentence = sentence
        rule.source = source
        rule.decider = decider
        return rule

    PROTOCOL = (
        "protocol",
        ConflictException.PROTOCOL_CHANGED,
        "The winner changed the table's protocol in a way that this commit cannot follow.",
        "ConflictChecker.scala: checkProtocolCompatibility",
    )
    METADATA = (
        "metadata",
        ConflictException.METADATA_CHANGED,
        "The winner changed the table's metadata: its schema, its properties or its layout.",
        "ConflictChecker.scala: checkNoMetadataUpdates",
    )
    DOMAIN_METADATA = (
        "domain_metadata",
        ConflictException.CONCURRENT_TRANSACTION,
        "Both write the same metadata domain, such as the clustering of the table.",
        "ConflictChecker.scala: checkIfDomainMetadataConflict",
    )
    APPLICATION_TRANSACTIONS = (
        "application_transactions",
        ConflictException.CONCURRENT_TRANSACTION,
        "The winner recorded progress of the application whose progress this commit depends on.",
        "ConflictChecker.scala: checkForUpdatedApplicationTransactionIdsThatCurrentTxnDependsOn",
    )
    ADDED_FILES = (
        "added_files",
        ConflictException.CONCURRENT_APPEND,
        "The winner added a file that this statement should have read: on an unpartitioned table"
        " any file, else one in a partition that the condition does not rule out.",
        "ConflictChecker.scala: checkForAddedFilesThatShouldHaveBeenReadByCurrentTxn",
        Decider.FILE,
    )
    REMOVED_VS_READ = (
        "removed_vs_read",
        ConflictException.CONCURRENT_DELETE_READ,
        "The winner removed a file that this statement read.",
        "ConflictChecker.scala: checkForDeletedFilesAgainstCurrentTxnReadFiles",
        Decider.FILE,
    )
    REMOVED_VS_REMOVED = (
        "removed_vs_removed",
        ConflictException.CONCURRENT_DELETE_DELETE,
        "The winner removed a file that this statement removes too.",
        "ConflictChecker.scala: checkForDeletedFilesAgainstCurrentTxnDeletedFiles",
        Decider.FILE,
    )
    COMMIT_LARGE = (
        "commit_large",
        ConflictException.CONCURRENT_WRITE,
        "This command commits at the very next version or not at all; another commit took that.",
        "OptimisticTransaction.scala: commitLarge",
    )
    IDENTITY_COLUMNS = (
        "identity_columns",
        ConflictException.METADATA_CHANGED,
        "Tables with identity columns support no concurrent transactions.",
        ROWS_PAGE,
    )
    ADDED_ROWS = (
        "added_rows",
        ConflictException.CONCURRENT_APPEND,
        "The winner added or changed rows that this statement's condition matches.",
        ROWS_PAGE,
        Decider.ROW,
    )
    DELETED_VS_READ_ROWS = (
        "deleted_vs_read_rows",
        ConflictException.CONCURRENT_DELETE_READ,
        "The winner deleted rows that this statement read.",
        ROWS_PAGE,
        Decider.ROW,
    )
    DELETED_ROWS = (
        "deleted_rows",
        ConflictException.CONCURRENT_DELETE_DELETE,
        "The winner changed or deleted rows that this statement changes too.",
        ROWS_PAGE,
        Decider.ROW,
    )

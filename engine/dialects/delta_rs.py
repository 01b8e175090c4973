"""delta-rs, the engine of the Python package deltalake.

Source, where no other is named: `crates/core/src/kernel/transaction/conflict_checker.rs` and
`mod.rs` of the version in question, and what the packages of these versions did in races of every
pair of their operations (docs/mixed-engines.md).
"""

from __future__ import annotations

import sys

from whitecap.engine.dialects.delta import NO_DATABRICKS_OPTIONS, OLDER_RETENTION_DEFAULTS
from whitecap.engine.dialects.dialect import (
    ENABLEMENT,
    MICRO_BATCH,
    RETAIN_IGNORED,
    TRAVEL_BOUND,
    CheckRules,
    Dialect,
    Difference,
    Vendor,
)
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.indexed_columns import UNORDERED

_CHECKER = "conflict_checker.rs"
_SEEN = "seen on deltalake 1.6.3 and 1.6.6"

MAX_COMMIT_RETRIES = 15
"""How often a commit is tried again. Source: `DEFAULT_RETRIES` of `transaction/mod.rs`."""

LONGEST_LOOKUP = 3
"""The partitions that a condition may name for 1.6.3 to look one up among them: seen there."""
ANY_LENGTH = sys.maxsize

_WRITABLE = frozenset(
    {
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "columnMapping",
        "deletionVectors",
        "generatedColumns",
        "invariants",
        "timestampNtz",
        "v2Checkpoint",
        "variantType",
        "variantType-preview",
    }
)
"""Source: an append and a delete on one table for each feature of Delta, with both packages."""

_LEVELS = {
    "serializable": IsolationLevel.SERIALIZABLE,
    "writeSerializable": IsolationLevel.WRITE_SERIALIZABLE,
    "snapshotIsolation": IsolationLevel.SNAPSHOT,
}
"""The spellings that are understood; any other counts as Serializable, Delta's own included."""

_NO_OPERATION = "the package has no such operation"
_NOT_IN_DELTA_RS = {
    **{name: f"delta-rs has none, {reason}" for name, reason in NO_DATABRICKS_OPTIONS.items()},
    ENABLEMENT: f"any change of metadata fails concurrent writes, see {_CHECKER}",
    TRAVEL_BOUND: "load_as_version looks at no retention",
    RETAIN_IGNORED: "vacuum heeds its retention_hours, see operations/vacuum.rs",
    "spark.sql.sources.partitionOverwriteMode": _NO_OPERATION,
    MICRO_BATCH: "the package has no streaming queries",
    **dict.fromkeys(
        (
            "CHANGE COLUMN",
            "CLONE TABLE",
            "CLUSTER BY",
            "DROP COLUMNS",
            "DROP FEATURE",
            "RENAME COLUMN",
            "REORG",
            "REPLACE COLUMNS",
            "REPLACE ON",
            "REPLACE TABLE",
            "REPLACE USING",
            "SYNC IDENTITY",
            "UNSET PROPERTIES",
        ),
        _NO_OPERATION,
    ),
}

_OF_DELTA_RS = (
    Difference(
        "A transaction knows of one read: the condition of its DELETE, UPDATE, MERGE or REPLACE"
        " WHERE. Files that a winner adds are held against it by partition and by statistics; an"
        " append, an overwrite or an OPTIMIZE has none, and no added file conflicts with it.",
        f"{_CHECKER}: check_for_added_files_that_should_have_been_read_by_current_txn",
    ),
    Difference(
        "What a condition has read is judged by bounds, those of partitions included, as DataFusion"
        " does it: a function of a partition column, LIKE '%a' and an IN list of more than 20"
        " values read every file, so that any commit that adds one is a conflict.",
        f"{_CHECKER}: AddContainer::predicate_matches; DataFusion's pruning_predicate.rs; {_SEEN}",
    ),
    Difference(
        "Statistics have bounds of BOOLEAN columns too: files of nothing but FALSE are none that"
        " WHERE b has read.",
        f"the statistics in its log; {_SEEN}",
    ),
    Difference(
        "Of files that a winner removes the number of rows is not known, and that of NULLs in"
        " BIGINT columns alone: one of nothing but NULLs counts as read, whatever is compared.",
        f"kernel/snapshot/log_data.rs: row_counts, null_counts; {_SEEN}",
    ),
    Difference(
        "A constant is cast to the type of what it is compared with: q = 1.5 of an INT changes the"
        " rows of q = 1, and a DELETE WHERE q = NULL removes every file. Such conditions are"
        " refused here.",
        f"delta_datafusion/utils.rs: coerce_predicate_literals; {_SEEN}",
    ),
    Difference(
        "Which rows of the target a MERGE reads is said by its ON alone, not by its clauses: by"
        " what names the target alone, on both sides of an OR too, but not by LIKE, IS NOT NULL or"
        " IS TRUE.",
        f"operations/merge/filter.rs: try_construct_early_filter; {_SEEN}",
    ),
    Difference(
        "A MERGE leaves a file as it is of which no clause changes a row, though rows of it match.",
        f"operations/merge/barrier.rs; {_SEEN}",
    ),
    Difference(
        "Who names no condition has read every file: an append, an ALTER TABLE and an OPTIMIZE of"
        " another partition lose to whoever removes data anywhere.",
        f"{_CHECKER}: TransactionInfo::read_files",
    ),
    Difference(
        "An overwrite and a DELETE of everything commit over a concurrent append, which they erase"
        " unseen.",
        f"{_CHECKER}: read_whole_table; {_SEEN}",
    ),
    Difference(
        "The table's level is Serializable whatever it says, unless it is spelled"
        " writeSerializable or snapshotIsolation: Delta's own spelling has no effect.",
        f"table/config.rs: IsolationLevel::from_str; {_SEEN}",
    ),
    Difference(
        "A commit does not say that it is a blind append, so that WriteSerializable engines treat"
        " its appends as if they had read the table.",
        f"protocol of the commits: commitInfo without isBlindAppend; {_SEEN}",
    ),
    Difference(
        "Any change of metadata aborts every concurrent commit, and a change of the protocol does"
        " so by its version numbers alone: a feature added to a table of features goes unnoticed.",
        f"{_CHECKER}: check_no_metadata_updates, check_protocol_compatibility;"
        " https://github.com/delta-io/delta-rs/issues/3665",
    ),
    Difference(
        "A change of metadata writes the protocol again where that lists features, and so does ADD"
        " CONSTRAINT everywhere: two such commits conflict in the protocol.",
        f"the log after ALTER TABLE; {_SEEN}",
    ),
    Difference(
        "It never writes deletion vectors: rows are deleted and updated by writing files again.",
        _SEEN,
    ),
    Difference(
        "An OPTIMIZE that lost does not start again, and nothing is compacted after a commit.",
        "operations/optimize.rs",
    ),
    Difference(
        "ZORDER BY takes columns without statistics too.",
        f"operations/optimize.rs; {_SEEN}",
    ),
    Difference(
        f"A commit is tried {MAX_COMMIT_RETRIES} times again at most.",
        "transaction/mod.rs: PreparedCommit",
    ),
    Difference(
        "Tables with row tracking, identity columns, in-commit timestamps, clustering, default"
        " values or metadata domains are not written.",
        f"transaction/protocol.rs: ProtocolChecker; {_SEEN}",
    ),
)


def _delta_rs(version: str, checks: CheckRules, difference: Difference) -> Dialect:
    return Dialect(
        name=f"delta-rs-{version}",
        engine_info=f"delta-rs:py-{version}",
        vendor=Vendor.DELTA_RS,
        settable_levels=frozenset({IsolationLevel.SERIALIZABLE, IsolationLevel.WRITE_SERIALIZABLE}),
        resolves_feature_enablement=False,
        describes_commits=False,
        compaction_starts_again=False,
        merge_leaves_unchanged_files=True,
        merge_loses_char_columns=False,
        narrows_constants=True,
        restates_protocol=True,
        unordered_types=UNORDERED - {"boolean"},
        finite_bounds_only=True,
        writable_features=_WRITABLE,
        level_spellings=_LEVELS,
        own_defaults={
            **OLDER_RETENTION_DEFAULTS,
            "max_commit_attempts": MAX_COMMIT_RETRIES,
            "delete_with_deletion_vectors": False,
            "update_with_deletion_vectors": False,
            "merge_with_deletion_vectors": False,
            "auto_compact": False,
            "zorder_needs_statistics": False,
        },
        checks=checks,
        lacks=_NOT_IN_DELTA_RS,
        differences=(*_OF_DELTA_RS, difference),
    )


DELTA_RS_1_6_3 = _delta_rs(
    "1.6.3",
    CheckRules(
        compares_versions=True,
        heeds_raised_writer_version=False,
        any_metadata_conflicts=True,
        reads_by_statement=True,
        longest_lookup=LONGEST_LOOKUP,
        moves_concern_readers=False,
    ),
    Difference(
        "A winner that raised the writer version alone is a change of metadata, if it is one.",
        f"{_CHECKER}: check_protocol_compatibility of 1.6.3",
    ),
)
DELTA_RS_1_6_6 = _delta_rs(
    "1.6.6",
    CheckRules(
        compares_versions=True,
        any_metadata_conflicts=True,
        reads_by_statement=True,
        longest_lookup=ANY_LENGTH,
        moves_concern_readers=False,
        moves_concern_removers=False,
    ),
    Difference(
        "A file that a compaction removed counts for nobody: compactions, overwrites and a DELETE"
        " of everything commit over it, and rows are doubled or come back.",
        f"{_CHECKER}: check_for_deleted_files_against_current_txn_deleted_files of 1.6.6;"
        " removes without a change of data are left out",
    ),
)

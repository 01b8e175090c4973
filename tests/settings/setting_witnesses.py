"""For each setting a value, and a play that ends otherwise with it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from tests.races import DELETE, WRITE, Table, add, metadata, remove, where
from tests.settings.playing import Left, Play, ending_of
from whitecap.engine.conflicts.operation import Operation
from whitecap.engine.dialects import DATABRICKS_13_3, DATABRICKS_14_3
from whitecap.engine.log.actions import (
    AnyAction,
    CommitInfo,
    DeletionVector,
    DomainMetadata,
    Protocol,
)
from whitecap.engine.log.schema import parse_ddl, schema_string
from whitecap.engine.settings import Settings

DELTA = "spark.databricks.delta."
VECTORS = {"delta.enableDeletionVectors": "true"}
PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
FEATURES = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=["deletionVectors"],
    writer_features=["appendOnly", "clustering", "deletionVectors", "domainMetadata", "invariants"],
)
VECTOR = DeletionVector(storage_type="u", path_or_inline_dv="ab^-aqEH.-t@S}K{vb[*k^", offset=1)
REQUIRED = structs.replace(
    metadata(), schema_string=schema_string(parse_ddl("x INT NOT NULL, v BIGINT"))
)
BY_GROUP = "g"
WITH_VECTORS = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
WITH_TRACKING = "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"
TWO_FILES = ("(1, 0, 0), (2, 0, 0)", "(3, 1, 0), (4, 1, 0)")


@dataclass(frozen=True)
class Witness:
    """A value of a setting that changes what is left of a play; `base` is set in any case."""

    value: str
    play: Callable[[Mapping[str, str]], Any]
    base: Mapping[str, str] = field(default_factory=dict)


def _committing(
    *actions: AnyAction, on: tuple[AnyAction, ...], operation: Operation = WRITE
) -> Callable[[Mapping[str, str]], str]:
    """What becomes of one commit on a table that begins with some actions."""

    def play(conf: Mapping[str, str]) -> str:
        table = Table(*on, settings=Settings.from_conf(conf))
        return ending_of(lambda: table.end(table.start(), actions, operation))

    return play


def _racing(
    actions: tuple[AnyAction, ...],
    winner: tuple[AnyAction, ...],
    on: tuple[AnyAction, ...],
    reads: str = "",
    operation: Operation = WRITE,
) -> Callable[[Mapping[str, str]], str]:
    """The same with a winner, and with something that was read."""

    def play(conf: Mapping[str, str]) -> str:
        table = Table(*on, settings=Settings.from_conf(conf))
        transaction = table.start()
        if reads:
            transaction.filter_files(where(reads))
        table.commit(*winner)
        return ending_of(lambda: table.end(transaction, actions, operation)) + str(table.paths())

    return play


def _own_commit_in_the_way(conf: Mapping[str, str]) -> str:
    """A transaction finds its own commit: it had landed, and the reply was lost."""
    table = Table(metadata(), PLAIN, add("a"), settings=Settings.from_conf(conf))
    transaction = table.start()
    transaction.filter_files(where("x = 1"))
    table.commit_raw(
        CommitInfo(timestamp=5, operation="WRITE", txn_id=transaction.txn_id), remove("a")
    )
    return ending_of(lambda: table.end(transaction, [remove("a")]))


def _replacing_a_clustered_table(conf: Mapping[str, str]) -> str:
    domain = DomainMetadata(domain="delta.clustering", configuration="{}", removed=False)
    table = Table(metadata(False), FEATURES, settings=Settings.from_conf(conf))
    transaction = table.start()
    table.commit(domain)
    replacing = Operation("REPLACE TABLE")
    return ending_of(lambda: table.end(transaction, [metadata(False)], replacing)) + str(
        table.snapshots()[-1].domains
    )


def _overwriting_partitions_of(value: str) -> Callable[[Mapping[str, str]], str]:
    """Which files lie in the partition of a file, by the value or by its text."""

    def play(conf: Mapping[str, str]) -> str:
        table = Table(metadata(), PLAIN, add("a", 1), settings=Settings.from_conf(conf))
        transaction = table.start()
        new = add("n", partition_values={"x": value})
        return ending_of(lambda: len(transaction.filter_files_by_partitions_of([new]))) + str(
            transaction.read_set
        )

    return play


def _sql(play: Play) -> Callable[[Mapping[str, str]], Left]:
    return play.left


_RACE_ON_ROWS = Play(
    properties=VECTORS,
    current="UPDATE t SET v = 1 WHERE id = 1",
    winners=("UPDATE t SET v = 2 WHERE id = 2",),
    dialect=DATABRICKS_14_3,
)
_SMALL_FILES = ("(1, 0, 0)", "(2, 0, 0)", "(3, 0, 0)")
_CLUSTERED = Play(
    before=("ALTER TABLE t CLUSTER BY (id)",),
    rows=_SMALL_FILES,
    current="OPTIMIZE t",
    after=("INSERT INTO t VALUES (9, 0, 0)", "OPTIMIZE t"),
)
_ON = {DELTA + "autoCompact.enabled": "true", DELTA + "autoCompact.minNumFiles": "2"}

WITNESSES: dict[str, Witness] = {
    "commitValidation.enabled": Witness(
        "false", _committing(add("n", partition_values={"y": "1"}), on=(metadata(), PLAIN))
    ),
    "commitValidation.consistentDataChange.mode": Witness(
        "fatal", _committing(add("n"), add("m", data_change=False), on=(metadata(), PLAIN))
    ),
    "duplicateActionCheck.enabled": Witness(
        "false", _committing(add("n"), add("n"), on=(metadata(), PLAIN))
    ),
    "partitionColumnChangeCheck": Witness(
        "true", _committing(metadata(False), on=(metadata(), PLAIN))
    ),
    "deletionVectors.skipCommitCheck": Witness(
        "false",
        _committing(
            add("n", deletion_vector=VECTOR, stats=None),
            on=(metadata(), FEATURES),
            operation=DELETE,
        ),
    ),
    "emptyFileCheck.throwEnabled": Witness(
        "true", _committing(structs.replace(add("n"), size=0), on=(metadata(), PLAIN))
    ),
    "nullPartitionCheck.throwEnabled": Witness(
        "true", _committing(add("n", None), on=(REQUIRED, PLAIN))
    ),
    "skipRecordingEmptyCommits": Witness(
        "false", _sql(Play(current="DELETE FROM t WHERE id = 77"))
    ),
    "maxCommitAttempts": Witness("0", _racing((add("n"),), (add("w"),), (metadata(), PLAIN))),
    "commit.idempotencyCheck.enabled": Witness("true", _own_commit_in_the_way),
    "featureEnablement.conflictResolution.enabled": Witness(
        "false",
        _sql(Play(winners=(WITH_VECTORS,))),
    ),
    "conflictChecker.enforceConcurrentFeatureEnablement.enabled": Witness(
        "true", _sql(Play(winners=("ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0)",)))
    ),
    "conflictDetection.allowReplaceTableToRemoveNewDomainMetadata": Witness(
        "false", _replacing_a_clustered_table
    ),
    "conflictDetection.partitionLevelConcurrency.widenNonDeterministicPredicates": Witness(
        "off",
        _racing((remove("a"),), (add("w", 1),), (metadata(), PLAIN, add("a", 1)), "rand() > 2"),
    ),
    "dynamicPartitionOverwrite.parsePartitionValues": Witness(
        "false", _overwriting_partitions_of("01")
    ),
    "failOnPartitionValueParsingError": Witness("true", _overwriting_partitions_of("word")),
    "rowTracking.backfill.enabled": Witness(
        "false",
        _sql(Play(current=WITH_TRACKING)),
    ),
    "stats.skipping": Witness(
        "false",
        _sql(
            Play(
                rows=TWO_FILES,
                current="INSERT INTO t SELECT id + 100, g, v FROM t WHERE id = 1",
                winners=("DELETE FROM t WHERE id >= 3",),
            )
        ),
    ),
    "history.metricsEnabled": Witness("false", _sql(Play())),
    "commitInfo.userMetadata": Witness("by hand", _sql(Play())),
    "write.txnAppId": Witness("job", _sql(Play()), {DELTA + "write.txnVersion": "1"}),
    "write.txnVersion": Witness("1", _sql(Play()), {DELTA + "write.txnAppId": "job"}),
    "delete.deletionVectors.persistent": Witness(
        "false", _sql(Play(properties=VECTORS, current="DELETE FROM t WHERE id = 1"))
    ),
    "update.deletionVectors.persistent": Witness(
        "false", _sql(Play(properties=VECTORS, current="UPDATE t SET v = 1 WHERE id = 1"))
    ),
    "merge.deletionVectors.persistent": Witness(
        "false",
        _sql(
            Play(
                properties=VECTORS,
                current="MERGE INTO t USING (SELECT 1 AS k) s ON t.id = s.k"
                " WHEN MATCHED THEN UPDATE SET v = 1",
            )
        ),
    ),
    "optimize.minFileSize": Witness("1", _sql(Play(rows=TWO_FILES, current="OPTIMIZE t"))),
    "optimize.maxFileSize": Witness("1", _sql(Play(rows=TWO_FILES, current="OPTIMIZE t"))),
    "optimize.maxDeletedRowsRatio": Witness(
        "0.9",
        _sql(
            Play(
                properties=VECTORS,
                rows=("(1, 0, 0), (2, 0, 0)", "(3, 0, 0), (4, 0, 0)"),
                before=("DELETE FROM t WHERE id = 1", "DELETE FROM t WHERE id = 3"),
                current="OPTIMIZE t",
            )
        ),
        {DELTA + "optimize.minFileSize": "1"},
    ),
    "optimize.zorder.checkStatsCollection.enabled": Witness(
        "false",
        _sql(
            Play(
                properties={"delta.dataSkippingNumIndexedCols": "0"},
                rows=TWO_FILES,
                current="OPTIMIZE t ZORDER BY (v)",
            )
        ),
    ),
    "optimize.batchSize": Witness(
        "1",
        _sql(
            Play(
                rows=("(1, 0, 0)", "(2, 0, 0)", "(3, 0, 1)", "(4, 0, 1)"),
                partitioned_by=BY_GROUP,
                columns="id BIGINT, v INT, g INT",
                current="OPTIMIZE t",
            )
        ),
    ),
    "vacuum.logging.enabled": Witness("false", _sql(Play(current="VACUUM t"))),
    "autoCompact.enabled": Witness(
        "true", _sql(Play(rows=_SMALL_FILES)), {DELTA + "autoCompact.minNumFiles": "2"}
    ),
    "autoCompact.minNumFiles": Witness(
        "2", _sql(Play(rows=_SMALL_FILES)), {DELTA + "autoCompact.enabled": "true"}
    ),
    "autoCompact.maxFileSize": Witness("1", _sql(Play(rows=_SMALL_FILES)), _ON),
    "autoCompact.minFileSize": Witness("1", _sql(Play(rows=_SMALL_FILES)), _ON),
    "optimize.clustering.mergeStrategy.minCubeSize.threshold": Witness("1", _sql(_CLUSTERED)),
    "optimize.clustering.targetCubeSize": Witness(
        "1",
        _sql(_CLUSTERED),
        {DELTA + "optimize.clustering.mergeStrategy.minCubeSize.threshold": "1"},
    ),
    "backfill.maxNumFilesPerCommit": Witness(
        "1",
        _sql(
            Play(
                rows=TWO_FILES,
                current=WITH_TRACKING,
            )
        ),
    ),
    "retentionDurationCheck.enabled": Witness(
        "false", _sql(Play(current="VACUUM t RETAIN 0 HOURS"))
    ),
    "vacuum.retentionWindowIgnore.enabled": Witness(
        "false", _sql(Play(current="VACUUM t RETAIN 1 HOURS"))
    ),
    "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": Witness(
        "false",
        _sql(
            Play(
                properties={"delta.deletedFileRetentionDuration": "interval 0 hours"},
                current="RESTORE TABLE t TO VERSION AS OF 0",
            )
        ),
    ),
    "restore.protocolDowngradeAllowed": Witness(
        "true",
        _sql(
            Play(
                before=(WITH_VECTORS,),
                current="RESTORE TABLE t TO VERSION AS OF 1",
            )
        ),
    ),
    "schema.autoMerge.enabled": Witness(
        "true", _sql(Play(current="INSERT INTO t BY NAME SELECT 1 AS id, 2 AS g, 3 AS v, 4 AS w"))
    ),
    "spark.sql.sources.partitionOverwriteMode": Witness(
        "dynamic",
        _sql(
            Play(
                partitioned_by=BY_GROUP,
                columns="id BIGINT, v INT, g INT",
                rows=("(1, 0, 0)", "(2, 0, 1)"),
                current="INSERT OVERWRITE t VALUES (5, 5, 1)",
            )
        ),
    ),
    "whitecap.values.tasks": Witness(
        "2", _sql(Play(current="INSERT INTO t VALUES (5, 5, 5), (6, 6, 6)"))
    ),
    "spark.sql.session.timeZone": Witness(
        "America/Los_Angeles",
        _sql(
            Play(
                columns="at TIMESTAMP",
                rows=(),
                current="INSERT INTO t VALUES ('2026-01-01 00:00:00')",
            )
        ),
    ),
    "spark.sql.ansi.enabled": Witness(
        "false",
        _sql(Play(columns="s STRING", rows=("('x')",), current="DELETE FROM t WHERE s = 1")),
    ),
    "whitecap.photon.enabled": Witness(
        "false",
        _sql(
            dataclasses.replace(
                _RACE_ON_ROWS,
                before=("ALTER TABLE t CLUSTER BY (id)",),
                dialect=DATABRICKS_13_3,
            )
        ),
    ),
    "whitecap.rowLevelConcurrency.enabled": Witness("false", _sql(_RACE_ON_ROWS)),
    "whitecap.rowLevelConcurrency.maxWinningCommits": Witness("0", _sql(_RACE_ON_ROWS)),
    "whitecap.rowLevelConcurrency.serializableAppends": Witness(
        "any_row",
        _sql(
            Play(
                properties={**VECTORS, "delta.isolationLevel": "Serializable"},
                current="DELETE FROM t WHERE id = 1",
                winners=("INSERT INTO t VALUES (7, 7, 7)",),
                dialect=DATABRICKS_14_3,
            )
        ),
    ),
    "whitecap.identityColumns.refuseConcurrency": Witness(
        "false",
        _sql(
            Play(
                columns="id BIGINT GENERATED ALWAYS AS IDENTITY, v INT",
                rows=(),
                current="INSERT INTO t (v) VALUES (1)",
                winners=("INSERT INTO t (v) VALUES (2)",),
                dialect=DATABRICKS_14_3,
            )
        ),
    ),
}

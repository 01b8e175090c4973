"""The names of the table features that some rule asks for. All features are in `table_features.py`.

Source: PROTOCOL.md "Table Features"; TableFeature.scala.
"""

from __future__ import annotations

CATALOG_MANAGED = "catalogManaged"
CHECKPOINT_PROTECTION = "checkpointProtection"
CHECK_CONSTRAINTS = "checkConstraints"
CLUSTERING = "clustering"
COLUMN_DEFAULTS = "allowColumnDefaults"
COLUMN_MAPPING = "columnMapping"
DELETION_VECTORS = "deletionVectors"
DOMAIN_METADATA = "domainMetadata"
IN_COMMIT_TIMESTAMP = "inCommitTimestamp"
MATERIALIZED_PARTITIONS = "materializePartitionColumns"
ROW_TRACKING = "rowTracking"
TYPE_WIDENING = "typeWidening"
TYPE_WIDENING_PREVIEW = "typeWidening-preview"
V2_CHECKPOINT = "v2Checkpoint"
VACUUM_PROTOCOL_CHECK = "vacuumProtocolCheck"

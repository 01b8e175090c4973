"""What can differ between versions, vendors and engines of Delta: the fields of a dialect.

A dialect is a small declaration; every rule that depends on it asks for one of its fields. Choosing
something that a dialect lacks is an error with the reason, never a silent approximation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.indexed_columns import UNORDERED
from whitecap.engine.log.property_names import why_not_modelled
from whitecap.engine.settings import Settings

ROW_LEVEL_PREVIEW = "spark.databricks.delta.rowLevelConcurrencyPreview"
ROW_LEVEL_SWITCH = "whitecap.rowLevelConcurrency.enabled"
ENABLEMENT = "spark.databricks.delta.featureEnablement.conflictResolution.enabled"
ENFORCEMENT = "spark.databricks.delta.conflictChecker.enforceConcurrentFeatureEnablement.enabled"
FAST_DROP = "spark.databricks.delta.tableFeatures.fastDropFeature.enabled"
RETAIN_IGNORED = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled"
TRAVEL_BOUND = "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"
"""Settings that some dialects lack."""
SCHEMA_EVOLUTION = "WITH SCHEMA EVOLUTION"
IDENTITY = "AS IDENTITY"
"""Clauses of statements that some dialects lack, in SQL's words."""
MICRO_BATCH = "micro-batch"
"""A batch of a streaming query, as a dialect may lack it; no statement of SQL."""

ROW_COMMANDS = frozenset({"DELETE", "UPDATE", "MERGE", "WRITE"})
"""The operations that row-level concurrency knows; WRITE is an INSERT that reads its own table."""


_DELTA_SETTINGS = Settings()


class RowLevelRules(Struct, frozen=True):
    """Where changes to different rows of one file are reconciled.

    Always on unpartitioned tables with deletion vectors. `commands_without_photon`: what it covers
    on compute without Photon.
    """

    only_clustered_tables: bool = False
    merge_needs_target_predicate: bool = False
    commands_without_photon: frozenset[str] = ROW_COMMANDS


class Vendor(Enum):
    """Whose rules a dialect follows."""

    DELTA = "Delta Lake"
    DATABRICKS = "Databricks"
    DELTA_RS = "delta-rs"


class CheckRules(Struct, frozen=True):
    """What a conflict check looks at; the defaults are those of Delta's own."""

    compares_versions: bool = False
    """Of a winner's protocol only the numbers count, not the features."""
    heeds_raised_writer_version: bool = True
    """Whether the number of the writer does."""
    any_metadata_conflicts: bool = False
    """No metadata of a winner is ever adopted."""
    reads_by_statement: bool = False
    """The only read is the statement's own condition.

    Files that are added are held against it by partition and statistics, none where a statement
    has none; who has none has read every file. Applications come last, and what else Delta
    resolves is not looked at.
    """
    longest_lookup: int = 0
    """How many partitions a condition may name for those of files to be looked up among them."""
    moves_concern_readers: bool = True
    """Whether a file that a winner removed without changing data counts for who read it."""
    moves_concern_removers: bool = True
    """Whether it counts for who removes it too."""


DELTA_CHECKS = CheckRules()


class Difference(Struct, frozen=True):
    """One way in which a dialect is not like Delta 4.4, and who says so."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Dialect:
    """One platform by what it does otherwise than Delta 4.4; the defaults are those of 4.4."""

    name: str
    engine_info: str
    vendor: Vendor = Vendor.DELTA
    default_isolation: IsolationLevel = IsolationLevel.SERIALIZABLE
    settable_levels: frozenset[IsolationLevel] = frozenset({IsolationLevel.SERIALIZABLE})
    resolves_feature_enablement: bool = True
    remaps_deletions_onto_compacted_files: bool = False
    identity_columns_refuse_concurrency: bool = False
    conditions_may_ask_queries: bool = False
    clustered_tables_get_vectors: bool = False
    replaced_tables_keep_features: bool = True
    """Whether deletion vectors, row tracking and the checkpoint policy outlive a REPLACE TABLE."""
    tolerates_row_tracking_enablement: bool = True
    describes_commits: bool = True
    """Whether a commit says at which level it was checked, and whether it is a blind append."""
    compaction_starts_again: bool = True
    """Whether a compaction that lost tries again while its files are there."""
    drops_features_at_once: bool = True
    """Whether DROP FEATURE protects a history that shows the feature, or waits for its end."""
    short_retention_has_a_class: bool = True
    """Whether a RETAIN that is too short is refused by an error class, not as a requirement."""
    keeps_log_as_long_as_files: bool = True
    """Whether a table's log may not be kept for less time than its removed files."""
    merge_leaves_unchanged_files: bool = False
    """Whether a MERGE rewrites only files of which a clause changes a row."""
    merge_loses_char_columns: bool = True
    """Whether a MERGE that names a CHAR column of its target is refused: Delta does not find it."""
    tells_conflicts_by_example: bool = False
    """Whether conflicts are told in the words of Delta 3.3, which name a file."""
    narrows_constants: bool = False
    """Whether a constant is cast to the type of what it is compared with."""
    always_compacts_after: frozenset[str] = frozenset()
    """The operations that auto compaction follows whatever settings and properties say."""
    restates_protocol: bool = False
    """Whether a change of metadata writes the protocol again, as it was."""
    unordered_types: frozenset[str] = UNORDERED
    """Those without bounds in the statistics of files that it writes."""
    finite_bounds_only: bool = False
    """Whether it leaves out bounds of fractions that are NaN or infinite."""
    widened_types: frozenset[tuple[str, str]] | None = None
    """The types of columns with rows and what they may become, `None` for all that 4.4 widens."""
    preview_features: frozenset[str] = frozenset()
    """Table features whose properties switch on their preview."""
    own_properties: frozenset[str] = frozenset()
    """Table properties that Delta does not know."""
    writable_features: frozenset[str] | None = None
    """The table features that it can write, `None` for every one that is modelled."""
    level_spellings: Mapping[str, IsolationLevel] | None = dataclasses.field(
        default=None, hash=False
    )
    """The texts of a table's level that it understands, `None` for Delta's own in any case."""
    own_defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict, hash=False)
    """Settings by field, where the session says nothing and has what Delta 4.4 has by default."""
    row_level: RowLevelRules | None = None
    """`None` where files are the unit of conflict."""
    checks: CheckRules = DELTA_CHECKS
    lacks: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)
    """Settings, table properties and commands that the platform does not have, with the reason."""
    differences: tuple[Difference, ...] = ()
    of_newer_versions: str = ""
    """What is otherwise in versions that are newer than its own, and that it stands for."""

    @property
    def resolves_rows(self) -> bool:
        """Whether its conflict check ever looks further than at paths and partitions."""
        return self.remaps_deletions_onto_compacted_files or self.row_level is not None

    def adjusted(self, settings: Settings) -> Settings:
        """The session's settings as far as this dialect has them."""
        changes = {
            name: value
            for name, value in self.own_defaults.items()
            if name not in settings.given
            and getattr(settings, name) == getattr(_DELTA_SETTINGS, name)
        }
        if settings.resolve_feature_enablement and not self.resolves_feature_enablement:
            changes["resolve_feature_enablement"] = False
        return dataclasses.replace(settings, **changes) if changes else settings

    def unwritable(self, features: Iterable[str]) -> list[str]:
        """Those of some table features that it cannot write."""
        writable = self.writable_features
        return [] if writable is None else sorted(set(features) - writable)

    def require(self, names: Iterable[str]) -> None:
        """Raises `UnsupportedFeature` for the first setting, property or command that it lacks.

        Also for a property that no dialect here models.
        """
        lacks = {name.lower(): reason for name, reason in self.lacks.items()}
        for name in names:
            reason = lacks.get(name.lower())
            if reason is not None:
                raise UnsupportedFeature(f"{name} is not part of {self.name}: {reason}")
            reason = why_not_modelled(name)
            if reason is not None:
                raise UnsupportedFeature(f"{name} is not modelled: {reason}")

    def settings_known(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Of a session's configuration, what this dialect has."""
        lacks = {name.lower() for name in self.lacks}
        return {key: value for key, value in conf.items() if key.lower() not in lacks}

    def settings_of(self, conf: Mapping[str, str]) -> Settings:
        """A session's configuration, read for this dialect.

        Raises `UnsupportedFeature` for a key that is not modelled, or that the dialect lacks.
        """
        self.require(conf)
        return Settings.from_conf(conf)

    def checked_settings(self, conf: Mapping[str, str]) -> Settings:
        """The same for what users give. Raises `InvalidInput` with every problem."""
        problems = list(self.settings_problems(conf))
        if problems:
            raise InvalidInput(problems)
        return self.settings_of(conf)

    def settings_problems(self, conf: Mapping[str, str]) -> Iterator[Problem]:
        """What is wrong with each setting."""
        for key, value in conf.items():
            try:
                self.settings_of({key: value})
            except UnsupportedFeature as error:
                yield Problem(f"settings.{key}", str(error))

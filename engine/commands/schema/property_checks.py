"""Which table properties may be set, and to what.

Source: DeltaConfig.scala (DeltaConfigs.validateConfigurations), DeltaCatalog.scala (alterTable),
Spark's AstBuilder (cleanTableProperties: names that are clauses of their own).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import DeltaError, RefusedAtCommit, UnsupportedFeature
from whitecap.engine.log import properties
from whitecap.engine.log.clustering import CLUSTERING_FEATURE
from whitecap.engine.log.columns.mapping import MODES
from whitecap.engine.log.features.table_features import (
    FEATURES,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
)
from whitecap.engine.log.properties import (
    FEATURE_PREFIX,
    ISOLATION_LEVEL,
    TableProperty,
    flag,
    interval_ms,
)
from whitecap.engine.log.property_names import STORED, is_known
from whitecap.engine.refusals import kinds, property_errors
from whitecap.engine.transaction.commit_level import level_named
from whitecap.engine.transaction.transaction import Transaction


def _version(highest: int) -> Callable[[str], int]:
    """Reads a version of the protocol. Source: actions.scala (supportedReaderVersionNumbers)."""

    def read(text: str) -> int:
        if int(text) not in range(1, highest + 1):
            raise ValueError(f"expected 1 to {highest}")
        return int(text)

    return read


_PROPERTIES: dict[str, TableProperty[object]] = {
    table_property.key.lower(): table_property
    for table_property in vars(properties).values()
    if type(table_property) is TableProperty
}
_PARSED: dict[str, Callable[[str], object]] = {
    **{key: table_property.parse for key, table_property in _PROPERTIES.items()},
    **{key.lower(): flag for key in properties.FLAGS},
    **{key.lower(): int for key in properties.NUMBERS},
    properties.MIN_READER_VERSION.lower(): _version(FEATURES_READER_VERSION),
    properties.MIN_WRITER_VERSION.lower(): _version(FEATURES_WRITER_VERSION),
    **{key.lower(): stored.parse for key, stored in STORED.items()},
}
"""What a value is read with before it is stored, by the name in small letters."""
_FEATURES = {name.lower(): name for name in FEATURES}
_RESERVED = {
    "provider": "please use the USING clause to specify it",
    "location": "please use the LOCATION clause to specify it",
    "owner": "it will be set to the current user",
    "external": "please use CREATE EXTERNAL TABLE",
    "is_managed_location": "please remove it from the TBLPROPERTIES list.",
    "collation": "please use the DEFAULT COLLATION clause to specify it",
}
_MAPPING_MODE = properties.COLUMN_MAPPING_MODE.key.lower()
_UNFIT_SPANS = re.compile(r"\b(month|year)s?\b|-\s*\d", re.IGNORECASE)
"""Intervals that Spark reads, and no property takes: days that differ, or go back."""
_UNIFORM_FORMATS = properties.UNIVERSAL_FORMATS.lower()
_ICEBERG = properties.ICEBERG_COMPAT.lower()
RETENTIONS = (properties.LOG_RETENTION_MS, properties.DELETED_FILE_RETENTION_MS)
"""Two properties of which one says how long the other may be: legal or not only as a pair."""


def check_keys(keys: Iterable[str]) -> None:
    """Raises `DeltaError` for names that Spark keeps for itself, and for one that comes twice."""
    seen: set[str] = set()
    for key in keys:
        if key.lower() in _RESERVED:
            raise property_errors.reserved_property(key, _RESERVED[key.lower()])
        if key in seen:
            raise property_errors.duplicate_property(key)
        seen.add(key)


def stored_key(key: str) -> str:
    """A property's name as it is stored: in Delta's spelling where Delta reads it."""
    lower = key.lower()
    if lower.startswith(FEATURE_PREFIX):
        return FEATURE_PREFIX + _FEATURES.get(lower[len(FEATURE_PREFIX) :], key)
    table_property = _PROPERTIES.get(lower)
    return key if table_property is None else table_property.key


def checked(given: Mapping[str, str], dialect: Dialect) -> dict[str, str]:
    """Properties as they are stored: known keys in Delta's spelling.

    Raises `DeltaError` for a value that SQL refuses to set, `UnsupportedFeature` for a property
    that the dialect lacks.
    """
    check_each(given, dialect)
    check_retention(given, dialect)
    return {stored_key(key): value for key, value in given.items()}


def check_each(given: Mapping[str, str], dialect: Dialect) -> None:
    """What each property says by itself. Raises as `checked` does."""
    dialect.require(given)
    for key, value in given.items():
        if not is_known(key, dialect.own_properties):
            raise property_errors.unknown_property(key)
        if key.lower() == properties.MAX_COLUMN_ID.lower():
            raise property_errors.not_for_users(key)
        _check_feature(key, value)
        _check_value(key, value)
        _check_level(key, value, dialect)
        _check_policy(key, value)
        _check_uniform(key, value)


def checked_for_new_table(given: Mapping[str, str], dialect: Dialect) -> dict[str, str]:
    """The same for CREATE TABLE, which brings all properties at once."""
    stored = checked(given, dialect)
    if CLUSTERING_FEATURE in stored:
        raise property_errors.clustering_by_property("CREATE")
    lower = {key.lower(): value for key, value in stored.items()}
    if "iceberg" in lower.get(_UNIFORM_FORMATS, "") and not _is_compatible(lower):
        raise property_errors.uniform_without_compatibility()
    return stored


def changed(given: Mapping[str, str], txn: Transaction) -> dict[str, str]:
    """The same for ALTER TABLE, which wraps what a value is refused with.

    Source: Spark's QueryExecutionErrors.unsupportedTableChangeError.
    """
    try:
        stored = checked(given, txn.dialect)
        if CLUSTERING_FEATURE in stored:
            raise property_errors.clustering_by_property("ALTER")
        check_retention({**txn.metadata.configuration, **stored}, txn.dialect)
    except DeltaError as error:
        if error.exception == "IllegalArgumentException":
            raise property_errors.unsupported_change(error.message) from error
        raise
    for key, value in stored.items():
        _check_iceberg(key, value, {**txn.metadata.configuration, **stored})
    return stored


def _check_feature(key: str, status: str) -> None:
    """Source: TableFeatureProtocolUtils.getSupportedFeaturesFromTableConfigs."""
    if not key.lower().startswith(FEATURE_PREFIX):
        return
    name = key[len(FEATURE_PREFIX) :].lower()
    if name not in _FEATURES:
        raise property_errors.unknown_feature_property(key)
    if status.lower() not in ("supported", "enabled"):
        raise property_errors.feature_status(_FEATURES[name], status)
    if name == "catalogmanaged":
        raise UnsupportedFeature(f"{key}: catalogs that commit are not modelled")


def _check_value(key: str, value: str) -> None:
    parse = _PARSED.get(key.lower(), str)
    if key.lower() == _MAPPING_MODE and value.lower() not in MODES:
        raise property_errors.unknown_mapping_mode(value)
    try:
        parse(value)
    except ValueError as error:
        if parse is interval_ms and not _UNFIT_SPANS.search(value):
            raise property_errors.invalid_interval(value) from error
        raise property_errors.value_without_meaning(key, value, error) from error


def _check_level(key: str, value: str, dialect: Dialect) -> None:
    if key.lower() == ISOLATION_LEVEL.key.lower() and level_named(value) not in (
        dialect.settable_levels
    ):
        levels = " or ".join(sorted(dialect.settable_levels))
        raise kinds.requirement(f"{ISOLATION_LEVEL.key} must be {levels}")


def _check_policy(key: str, value: str) -> None:
    if key.lower() == properties.CHECKPOINT_POLICY.key.lower() and value not in ("classic", "v2"):
        raise property_errors.invalid_policy(value)


def check_retention(configuration: Mapping[str, str], dialect: Dialect) -> None:
    """The log is kept at least as long as the files that it has deleted, where that is asked.

    What is not stated is Delta's default, so that a table's properties are judged as a whole.
    Raises `DeltaError`.
    """
    log, files = RETENTIONS
    if not (dialect.keeps_log_as_long_as_files and configuration.keys() & {log.key, files.key}):
        return
    kept_ms, files_ms = log.of(configuration), files.of(configuration)
    if kept_ms < files_ms:
        raise kinds.requirement(
            f"The table property {log.key} needs to be greater than or equal to {files.key}."
        )


def _check_uniform(key: str, value: str) -> None:
    """Formats for other readers: those that there are."""
    if key.lower() != _UNIFORM_FORMATS:
        return
    formats = [name.strip() for name in value.split(",") if name]
    if any(name not in ("hudi", "iceberg") for name in formats):
        raise property_errors.unknown_formats(_UNIFORM_FORMATS, formats)


def _check_iceberg(key: str, value: str, configuration: Mapping[str, str]) -> None:
    """Iceberg's readers need more than a property: REORG UPGRADE UNIFORM brings it all."""
    lower = {name.lower(): text for name, text in configuration.items()}
    if key.lower() == _UNIFORM_FORMATS and "iceberg" in value and not _is_compatible(lower):
        raise RefusedAtCommit.of(property_errors.uniform_without_compatibility())
    if key.lower().startswith(_ICEBERG) and value.lower() == "true":
        mode = lower.get(_MAPPING_MODE, "none")
        if mode == "none":
            raise RefusedAtCommit.of(property_errors.compatibility_without_mapping(key, mode))
        raise UnsupportedFeature(f"{key} other than by REORG TABLE ... APPLY (UPGRADE UNIFORM)")


def _is_compatible(lower: Mapping[str, str]) -> bool:
    return any(name.startswith(_ICEBERG) and text == "true" for name, text in lower.items())

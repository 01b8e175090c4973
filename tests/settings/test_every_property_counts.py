"""Every table property is effective, or stored as Delta stores it, or refused with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.settings.playing import Play, ending_of
from whitecap.engine.dialects import DATABRICKS_14_3, DATABRICKS_PROPERTIES, DELTA_OSS_4_4
from whitecap.engine.errors import DeltaError, UnsupportedFeature
from whitecap.engine.log.property_names import EFFECTIVE, NAMES, REFUSED, STORED
from whitecap.engine.settings import LEFT_OUT


def _set(name: str, value: str) -> str:
    return f"ALTER TABLE t SET TBLPROPERTIES ('{name}' = '{value}')"


EVERYTHING = Play(
    rows=("(1, 0, 0), (2, 0, 0)", "(3, 1, 0), (4, 1, 0)"),
    current="UPDATE t SET v = 1 WHERE id = 1",
    winners=("DELETE FROM t WHERE id = 3",),
    after=(
        "MERGE INTO t USING (SELECT 9 AS k) s ON t.id = s.k WHEN NOT MATCHED THEN INSERT (id)"
        " VALUES (s.k)",
        "DELETE FROM t WHERE v = 1",
        "OPTIMIZE t",
        "VACUUM t",
        "INSERT OVERWRITE t VALUES (5, 5, 5)",
        "ALTER TABLE t DROP COLUMN v",
        "ALTER TABLE t ALTER COLUMN g TYPE BIGINT",
        _set("delta.deletedFileRetentionDuration", "interval 9 days"),
        _set("delta.enableRowTracking", "true"),
        "INSERT INTO t VALUES (7, 7, 7)",
    ),
)
"""Statements of many kinds on one table: what differs between two tables shows somewhere."""

VALUES = {
    "delta.autoOptimize.autoCompact": "true",
    "delta.checkpointInterval": "2",
    "delta.checkpointPolicy": "v2",
    "delta.columnMapping.mode": "name",
    "delta.dataSkippingNumIndexedCols": "0",
    "delta.dataSkippingStatsColumns": "v",
    "delta.dataSkippingStringPrefixLength": "2",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    "delta.isolationLevel": "Serializable",
    "delta.logRetentionDuration": "interval 8 days",
    "delta.minReaderVersion": "2",
    "delta.minWriterVersion": "5",
    "delta.parquet.format.version": "1.0.0",
    "delta.randomPrefixLength": "4",
    "delta.parquet.compression.codec": "zstd",
    "delta.targetFileSize": "100mb",
    "delta.universalFormat.enabledFormats": "iceberg",
}
"""What is not a flag and not a span of time."""

CROWDED = replace(
    EVERYTHING, rows=tuple(f"({number}, 0, 0)" for number in range(50)), winners=(), after=()
)
"""A table of as many files as make auto compaction due."""

CASES: Mapping[str, Play] = {
    "delta.autoOptimize": CROWDED,
    "delta.autoOptimize.autoCompact": CROWDED,
    "delta.dataSkippingStringPrefixLength": replace(
        EVERYTHING,
        columns="id STRING",
        rows=("('abcdef')",),
        current="DELETE FROM t WHERE id = 'x'",
        winners=(),
        after=(),
    ),
    "delta.isolationLevel": replace(
        EVERYTHING,
        dialect=DATABRICKS_14_3,
        current="DELETE FROM t WHERE g = 1",
        winners=("INSERT INTO t VALUES (5, 1, 0)",),
        after=(),
    ),
}
"""Plays of their own, where the other shows nothing."""

BASES = {
    "delta.compatibility.symlinkFormatManifest.enabled": {"delta.enableDeletionVectors": "true"},
    "delta.minReaderVersion": {"delta.minWriterVersion": "5"},
}
"""What is set beside it in any case."""

BY_OTHERS = {
    "delta.columnMapping.maxColumnId": "written by column mapping; tests/log/test_features.py",
    "delta.inCommitTimestampEnablementTimestamp": "written by delta.enableInCommitTimestamps",
    "delta.inCommitTimestampEnablementVersion": "written by delta.enableInCommitTimestamps",
    "delta.requireCheckpointProtectionBeforeVersion": "written by DROP FEATURE",
}
"""Effective ones that commands write, not users, and where their tests are."""


def value_of(name: str) -> str:
    return VALUES.get(name) or ("interval 60 days" if name.endswith("Duration") else "true")


_PROPERTIES = r'"configuration":\{[^}]*\}|"properties":"(?:[^"\\]|\\.)*"'
_CLOCK = r'"(?:timestamp|createdTime|modificationTime|deletionTimestamp)":[0-9]+'
_LEFT_OUT = re.compile(f"{_PROPERTIES}|{_CLOCK}")
"""What commits say of the properties themselves, and of a clock that each request moves on."""


def left(play: Play, properties: Mapping[str, str]) -> list[str]:
    """What is left, but for the properties themselves; or how the table is refused."""
    try:
        everything = replace(play, properties=properties).left({})
    except DeltaError as error:
        return [str(error)]
    return [_LEFT_OUT.sub("", text) for text in everything]


def test_every_name_is_of_one_kind() -> None:
    assert EFFECTIVE | STORED.keys() | REFUSED.keys() == NAMES
    assert len(EFFECTIVE) + len(STORED) + len(REFUSED) == len(NAMES)


@pytest.mark.parametrize("name", sorted(EFFECTIVE - BY_OTHERS.keys()))
def test_an_effective_property_changes_what_is_left(name: str) -> None:
    play, base = CASES.get(name, EVERYTHING), BASES.get(name, {})
    is_same = left(play, {**base, name: value_of(name)}) == left(play, base)
    assert not is_same  # two long texts take minutes to be told apart


@pytest.mark.parametrize("name", sorted(STORED))
def test_a_stored_property_is_kept_and_changes_nothing_else(name: str) -> None:
    given = {name: value_of(name)}
    is_same = left(EVERYTHING, given) == left(EVERYTHING, {})
    assert is_same
    assert any(json.dumps(name) in text for text in Play(properties=given).left({}))


@pytest.mark.parametrize("name", sorted(DATABRICKS_PROPERTIES))
def test_a_property_of_databricks_is_kept_there_and_unknown_elsewhere(name: str) -> None:
    given = {name: value_of(name)}
    play = replace(EVERYTHING, dialect=DATABRICKS_14_3)
    is_same = left(play, given) == left(play, {})
    assert is_same
    elsewhere = Play(properties=given, dialect=DELTA_OSS_4_4)
    assert "DELTA_UNKNOWN_CONFIGURATION" in ending_of(lambda: elsewhere.left({}))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_refused_property_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(UnsupportedFeature, match=re.escape(REFUSED[name])):
        Play(properties={name: "true"}).left({})


def test_the_documentation_lists_what_is_only_kept_and_what_is_refused() -> None:
    page = Path("docs/fidelity.md").read_text()
    stored = {name: property.reason for name, property in STORED.items()}
    settings = {name: left_out.reason for name, left_out in LEFT_OUT.items()}
    listed = {**stored, **REFUSED, **DATABRICKS_PROPERTIES, **settings}
    missing = [f"| `{name}` | {reason} |" for name, reason in listed.items()]
    assert [line for line in missing if line not in page] == []

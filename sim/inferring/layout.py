"""The drafted table: the columns that decide conflicts, its files, properties and log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.isolation import ISOLATION_PROPERTY, TABLE_LEVELS, level_called, stated_level
from whitecap.engine.log import properties
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.clustering import clustering_columns
from whitecap.engine.log.features.protocols import feature_names
from whitecap.engine.log.schema import Field
from whitecap.engine.log.statistics import FileStatistics, parse_statistics
from whitecap.engine.values.types import INSTANT_TYPES
from whitecap.sim.inferring.evidence.figures import (
    DraftFigure,
    assumed,
    counted,
    duration_text,
    guessed,
    many,
    rate_text,
    read,
)
from whitecap.sim.inferring.log.conditions import ColumnLimit, condition_of, names_column, pin_of
from whitecap.sim.inferring.log.observed import ObservedTable
from whitecap.sim.quantities.bounds import MAX_BYTES_PER_ROW
from whitecap.sim.real_table.counts import ASSUMED_BYTES_PER_ROW, RowCounts
from whitecap.sim.scenario.table import KEY_TYPE

NEW_KEY, PAYLOAD = "row_key", "payload"
"""Columns that stand for others."""

MOST_FILES = 20_000
"""Files of a drafted table at most, so that a run begins in seconds; larger ones are made smaller.
"""

_DECIDING = (
    properties.APPEND_ONLY.key,
    properties.CHANGE_DATA_FEED.key,
    properties.CHECKPOINT_INTERVAL.key,
    properties.DELETED_FILE_RETENTION_MS.key,
    properties.DELETION_VECTORS.key,
    properties.IN_COMMIT_TIMESTAMPS.key,
    properties.LOG_RETENTION_MS.key,
    properties.ROW_TRACKING.key,
)
"""Properties that a draft takes over: those that decide conflicts, or how long the log takes."""

_OF_THEM = frozenset(
    {"appendOnly", "invariants", "changeDataFeed", "deletionVectors", "rowTracking",
     "inCommitTimestamp", "domainMetadata", "clustering"}
)  # fmt: skip
"""Protocol features that come with these properties, or with what else is drafted."""


class DraftColumns(Struct, frozen=True):
    """The columns of the draft: partitions or clusters, the key, and one for all others."""

    partitions: tuple[Field, ...]
    clusters: tuple[Field, ...]
    key: str
    key_figure: DraftFigure
    others: int

    @property
    def layout(self) -> tuple[Field, ...]:
        """The columns that the table is partitioned or clustered by, the key perhaps among them."""
        return self.partitions or self.clusters

    @property
    def besides_key(self) -> tuple[Field, ...]:
        """Those of them that are not the key."""
        return tuple(column for column in self.layout if column.name != self.key)


def columns_of(observed: ObservedTable) -> DraftColumns:
    """Which columns the draft has."""
    snapshot = observed.snapshot
    partitions = tuple(snapshot.partition_schema)
    clusters = tuple(map(_by_day, snapshot.schema.select(clustering_columns(snapshot))))
    laid_out = {column.name for column in (*partitions, *clusters)}
    # Files are clustered by the key more often than not; a partition would hold one row of it.
    candidates = [c for c in snapshot.schema if c.type == KEY_TYPE and c not in partitions]
    key, figure = _key(candidates, observed)
    others = len(set(snapshot.schema.names) - laid_out - {key})
    return DraftColumns(partitions, clusters, key, figure, others)


def _by_day(column: Field) -> Field:
    """A clustering column as the draft has it: no scenario can list instants, but their days."""
    return replace(column, type="date") if column.type in INSTANT_TYPES else column


def _key(candidates: Sequence[Field], observed: ObservedTable) -> tuple[str, DraftFigure]:
    """The BIGINT column that identifies a row: that of the conditions of MERGE, or by its name.

    None of which a file shows that its values repeat.
    """
    repeating = _repeating(candidates, observed.snapshot.all_files())
    unique = [column for column in candidates if column.name not in repeating]
    merges = [condition_of(commit) for commit in observed.commits if commit.operation == "MERGE"]
    named = Counter({c.name: sum(names_column(text, c.name) for text in merges) for c in unique})
    for name, count in named.most_common(1):
        if count:
            beside = [other for other in observed.snapshot.schema.names if other != name]
            said = f"{count:,} of {len(merges):,} conditions of MERGE name it"
            return name, guessed(name, said + _alone(beside, merges))
    ids = [c.name for c in unique if c.name.lower() == "id" or c.name.lower().endswith("id")]
    if ids:
        return ids[0], guessed(ids[0], "the first BIGINT column that is called so; is it unique?")
    said = "no BIGINT column looks like one"
    if repeating:
        said += f": files have more rows than values of {many(len(repeating), 'column')}"
    return NEW_KEY, assumed(NEW_KEY, f"{said}: this one is made up")


def _alone(others: Sequence[str], merges: Sequence[str]) -> str:
    """A question, where most conditions join on other columns as well; values join nothing."""
    beside = sum(
        2 * sum(_joins(text, name, others) for text in merges) > len(merges) for name in others
    )
    return f", with {many(beside, 'other column')}: is it unique by itself?" if beside else ""


def _joins(condition: str, column: str, columns: Sequence[str]) -> bool:
    is_named = names_column(condition, column)
    return is_named and pin_of(condition, column, columns) is not ColumnLimit.VALUE


def _repeating(columns: Sequence[Field], files: Sequence[AddFile]) -> set[str]:
    """The columns of which a file holds more rows than there are values between its bounds."""
    repeating: set[str] = set()
    for file in files if columns else ():
        stated = parse_statistics(file.stats)
        repeating |= {column.name for column in columns if _repeats(column, stated)}
    return repeating


def _repeats(column: Field, stated: FileStatistics) -> bool:
    least = stated.min_values.get(column.physical_name)
    most = stated.max_values.get(column.physical_name)
    if not isinstance(least, int) or not isinstance(most, int) or stated.num_records is None:
        return False
    nulls = stated.null_count.get(column.physical_name) or 0
    return stated.num_records - nulls > most - least + 1


class Contents(Struct, frozen=True):
    """What the table holds: rows and files, and what a row takes."""

    rows: DraftFigure
    rows_per_file: DraftFigure
    bytes_per_row: DraftFigure
    files: int
    rows_each: float
    """Rows of the table that one row of the draft stands for."""


def contents_of(observed: ObservedTable) -> Contents:
    """Rows and files of the newest version, in the draft fewer rows in as many files."""
    files = observed.snapshot.all_files()
    if not files:
        none = counted("0", "the newest version has no files")
        each = assumed("1000", "there are no files to tell it by")
        return Contents(none, each, assumed(str(ASSUMED_BYTES_PER_ROW), none.because), 0, 1.0)
    row_counts = RowCounts.of(files)
    rows, rows_each = row_counts.total, row_counts.rows_each
    count = min(len(files), MOST_FILES)
    drafted = max(round(rows / len(files) / rows_each * count), 1)
    said = f"{many(rows, 'row')} by {_rows_said(row_counts)}"
    if rows_each > 1:
        said += f"; one of the draft stands for {rows_each:,.0f}, so that it runs: files decide"
    if count < len(files):
        said += f"; only {count:,} of the files are drafted"
    size = row_counts.size_bytes
    bytes_per_row = min(max(round(size / len(files) * count / drafted), 1), MAX_BYTES_PER_ROW)
    return Contents(
        counted(str(drafted), said),
        counted(str(max(math.ceil(drafted / count), 1)), _sizes_said(files)),
        counted(str(bytes_per_row), "so that files are as large as the table's in the mean"),
        count,
        rows_each,
    )


def _sizes_said(files: Sequence[AddFile]) -> str:
    sizes = sorted(file.size for file in files)
    return (
        f"{many(len(files), 'live file')}, {_bytes(sum(sizes))} together,"
        f" {_bytes(sizes[len(sizes) // 2])} in the median, from {_bytes(sizes[0])} to"
        f" {_bytes(sizes[-1])}; the draft's are all alike"
    )


def _rows_said(row_counts: RowCounts) -> str:
    """How the number of rows is known."""
    if not row_counts.with_statistics:
        return f"their size, {ASSUMED_BYTES_PER_ROW} bytes each: no file has statistics"
    said = f"statistics of {row_counts.with_statistics:,} of {many(row_counts.files, 'live file')}"
    if row_counts.hidden:
        said += f", less {many(row_counts.hidden, 'row')} that deletion vectors hide"
    return said


def _bytes(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:,.3g} TiB"


def isolation_of(observed: ObservedTable) -> DraftFigure | None:
    """The level that writers commit under; `None` where neither table nor commits say it."""
    stated = stated_level(observed.snapshot.configuration)
    if stated in TABLE_LEVELS:
        return read(stated.value, f"the table's {ISOLATION_PROPERTY}")
    of_commits = (level_called(commit.isolation or "") for commit in observed.commits)
    levels = Counter(level for level in of_commits if level in TABLE_LEVELS)
    for level, count in levels.most_common(1):
        said = f"isolationLevel of {count:,} of {sum(levels.values()):,} commits that change data"
        return counted(level.value, said)
    return None


def properties_of(observed: ObservedTable) -> dict[str, str]:
    """The table's properties that decide something in a run."""
    stated = observed.snapshot.configuration
    return {key: stated[key] for key in _DECIDING if key in stated}


def properties_kept(observed: ObservedTable) -> dict[str, str]:
    """Those of the draft, and its isolation level: what a table that is made like it states."""
    level = stated_level(observed.snapshot.configuration)
    stated = {ISOLATION_PROPERTY: level.value} if level in TABLE_LEVELS else {}
    return properties_of(observed) | stated


def left_out_features(observed: ObservedTable) -> tuple[list[str], list[str]]:
    """Protocol features and properties of Delta's that the draft does not have."""
    features = sorted(feature_names(observed.snapshot.protocol) - _OF_THEM)
    stated = observed.snapshot.configuration
    kept = {*_DECIDING, ISOLATION_PROPERTY}
    return features, sorted(key for key in stated if key not in kept)


def past_of(observed: ObservedTable) -> dict[str, DraftFigure]:
    """How long the log is, and how often it has a checkpoint: keys of `table.log`."""
    return {**_length_of_log(observed), "checkpoint_interval": _checkpoint_interval(observed)}


def _length_of_log(observed: ObservedTable) -> dict[str, DraftFigure]:
    oldest = observed.snapshot.version - observed.kept + 1
    if oldest > 0 and observed.span_ms:
        spanned = duration_text(observed.span_ms)
        said = f"{many(len(observed.commits), 'commit')} in about {spanned}"
        rate = counted(rate_text(len(observed.commits), observed.span_ms), said)
        return {"rate": rate, **_retention(observed, oldest)}
    said = f"{many(observed.kept, 'commit')} in the log, none cleaned up yet"
    return {"commits": counted(str(observed.kept), said)}


def _retention(observed: ObservedTable, oldest: int) -> dict[str, DraftFigure]:
    """How long commits are kept in a log that begins with the version `oldest`; unless the table's
    property says it, which the draft has."""
    if properties.LOG_RETENTION_MS.key in observed.snapshot.configuration:
        return {}
    text = duration_text(properties.LOG_RETENTION_MS.default_value)
    gone = f"versions 0 to {oldest - 1:,} are gone: old commits are cleaned up"
    return {"retention": assumed(text, f"Delta's default; {gone}")}


def _checkpoint_interval(observed: ObservedTable) -> DraftFigure:
    configuration = observed.snapshot.configuration
    key = properties.CHECKPOINT_INTERVAL.key
    if key in configuration:
        return read(configuration[key], f"the table's {key}")
    gaps = Counter(later - earlier for earlier, later in pairwise(observed.checkpoints))
    for gap, count in gaps.most_common(1):
        said = f"{count:,} of {many(sum(gaps.values()), 'gap')} between checkpoints"
        return counted(str(gap), said)
    return assumed(properties.CHECKPOINT_INTERVAL.default, "Delta's default: too few checkpoints")

"""Which columns of a table have statistics, as its properties say.

Source: DeltaConfig.scala (DATA_SKIPPING_NUM_INDEXED_COLS and its neighbours);
StatisticsCollection.scala (getIndexedColumns, statsSchema).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from whitecap.engine.column_names import ColumnPath
from whitecap.engine.log import properties
from whitecap.engine.log.actions import Metadata
from whitecap.engine.log.properties import Configuration
from whitecap.engine.log.schema import Field, Leaf, Schema, schema_of_metadata
from whitecap.engine.remembered import once_for_each

# Types that have no smallest and largest value. Source: SkippingEligibleDataType.
UNORDERED = frozenset({"boolean", "binary", "void", "variant"})
_NESTED = ("array<", "map<", "struct<")


class Indexed(Struct, frozen=True):
    """Which columns of a table have statistics, and how many letters of a text they keep.

    The first `count` leaves of columns that are no partitions, all if that is -1; or those at and
    below `paths`, in lower case. Source: DeltaConfig.scala (DATA_SKIPPING_NUM_INDEXED_COLS and its
    neighbours), StatisticsCollection.scala (getIndexedColumns).
    """

    count: int = 32
    paths: frozenset[ColumnPath] | None = None
    prefix_length: int = 32

    def leaves(self, schema: Schema, partition_columns: Sequence[str]) -> list[ColumnPath]:
        """The paths that have statistics, in lower case and in the order of the schema."""
        partitions = {name.lower() for name in partition_columns}
        columns = [column for column in schema if column.name.lower() not in partitions]
        leaves = [lower_path(leaf.path) for column in columns for leaf in column.leaves]
        if self.paths is not None:
            return [leaf for leaf in leaves if not self.paths.isdisjoint(_prefixes(leaf))]
        return leaves if self.count < 0 else leaves[: self.count]


def lower_path(path: ColumnPath) -> ColumnPath:
    """A path as it is compared: Spark does not tell names apart by case."""
    return tuple(name.lower() for name in path)


def has_bounds(leaf: Leaf | Field) -> bool:
    """Whether a smallest and a largest value are kept of its type."""
    return leaf.type not in UNORDERED and not leaf.type.startswith(_NESTED)


def _prefixes(path: ColumnPath) -> Iterator[ColumnPath]:
    return (path[:length] for length in range(1, len(path) + 1))


def indexed_by(configuration: Configuration) -> Indexed:
    """What a table's properties say."""
    named = properties.STATISTICS_COLUMNS
    # None at all is not the same as none named: who dropped them all collects nothing.
    paths = frozenset(map(lower_path, named.of(configuration)))
    return Indexed(
        properties.INDEXED_COLUMNS.of(configuration),
        paths if named.key in configuration else None,
        properties.STRING_PREFIX_LENGTH.of(configuration),
    )


@once_for_each
def columns_that_skip(metadata: Metadata | None) -> Schema:
    """The columns whose statistics leave out files, none of them a partition.

    Those that have statistics by the table's present properties: others that a file once got are
    not looked at. Source: StatisticsCollection.scala: statsSchema.
    """
    if metadata is None:
        return Schema(())
    schema, indexed = schema_of_metadata(metadata), indexed_by(metadata.configuration)
    columns = columns_with_statistics(schema, metadata.partition_columns, indexed)
    return Schema(tuple(column for _, column in columns))


def without_statistics(names: Iterable[str], metadata: Metadata) -> list[str]:
    """Those of some columns that have no statistics, nor any field of them."""
    indexed = indexed_by(metadata.configuration)
    leaves = indexed.leaves(schema_of_metadata(metadata), metadata.partition_columns)
    columns = {column for column, *_ in leaves}
    return [name for name in names if name.lower() not in columns]


def columns_with_statistics(
    schema: Schema, partition_columns: Sequence[str], indexed: Indexed
) -> list[tuple[int, Field]]:
    """The columns that are counted and bounded, with their places."""
    leaves = frozenset(indexed.leaves(schema, partition_columns))
    return [
        (at, column)
        for at, column in enumerate(schema)
        if column.nested is None and (column.name.lower(),) in leaves
    ]

"""Our own check of a table's live files against what the log says of them.

Readers trust statistics and deletion vectors; where these lie, rows are skipped or deleted that
should not be. For stores that keep data files as objects, such as a directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.collected_statistics import collect_statistics
from whitecap.engine.errors import InvalidInput, InvalidLog, Problem
from whitecap.engine.log.actions import AddFile
from whitecap.engine.log.indexed_columns import Indexed
from whitecap.engine.log.schema import Schema
from whitecap.engine.log.snapshot import Snapshot
from whitecap.engine.log.statistics import FileStatistics, parse_statistics
from whitecap.engine.log.vectors.deletion_vectors import read_vector
from whitecap.engine.storage.disk.parquet import decode_rows
from whitecap.engine.storage.paths import data_key
from whitecap.engine.storage.requests import Body, Get, ReadRows, Row, Steps


def validate_files(snapshot: Snapshot) -> Steps[None]:
    """Read every live file and compare. Raises `InvalidLog` with every problem found."""
    problems: list[Problem] = []
    for file in snapshot.all_files():
        problems += yield from _problems_of(file, snapshot.schema)
    if problems:
        raise InvalidLog(problems)


def _problems_of(file: AddFile, schema: Schema) -> Steps[list[Problem]]:
    key = data_key(file.path)
    content = yield Get(key)
    if not isinstance(content, Body):
        return [Problem(key, "data file is missing")]
    names = tuple(column.physical_name for column in schema)
    request = ReadRows((key,), names, schema.types, (file.partition_values,))
    try:
        rows = decode_rows(content.content, request, 0)
        texts = [*_lies(rows, file, schema), *(yield from _vector_problems(file, len(rows)))]
    except InvalidInput as error:
        return list(error.problems)
    if len(content.content) != file.size:
        texts.append(f"has {len(content.content)} bytes, the log says {file.size}")
    return [Problem(key, text) for text in texts]


def _lies(rows: Sequence[Row], file: AddFile, schema: Schema) -> Iterator[str]:
    """Statistics that the rows contradict; bounds may be wider than the rows, never narrower."""
    said = parse_statistics(file.stats)
    true = collect_statistics(rows, schema, tuple(file.partition_values or ()), Indexed(-1))
    if said.num_records is not None and said.num_records != true.num_records:
        yield f"has {true.num_records} rows, its statistics say {said.num_records}"
    yield from _wrong_columns(said, true, schema)


def _wrong_columns(said: FileStatistics, true: FileStatistics, schema: Schema) -> Iterator[str]:
    for column in schema:
        nulls, true_nulls = said.nulls_of(column), true.nulls_of(column)
        if (
            said.tight_bounds is not False
            and None not in (nulls, true_nulls)
            and nulls != true_nulls
        ):
            yield f"has {true_nulls} nulls of {column.name!r}, its statistics say {nulls}"
        bounds, true_bounds = said.range_of(column), true.range_of(column)
        if bounds is None or true_bounds is None:
            continue
        if bounds[0] > true_bounds[0] or bounds[1] < true_bounds[1]:
            yield f"has values of {column.name!r} outside the range of its statistics"


def _vector_problems(file: AddFile, rows: int) -> Steps[list[str]]:
    if file.deletion_vector is None:
        return []
    positions = yield from read_vector(file.deletion_vector)
    texts = []
    if len(positions) != file.deletion_vector.cardinality:
        said = file.deletion_vector.cardinality
        texts.append(f"its deletion vector deletes {len(positions)} rows, the log says {said}")
    if positions and max(positions) >= rows:
        texts.append(f"its deletion vector deletes row {max(positions)} of {rows}")
    return texts

"""The table of a draft: one like the real one, or the real one's own files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from whitecap.engine.log.property_names import NAMES
from whitecap.sim.inferring.domains import DraftDomain
from whitecap.sim.inferring.evidence.figures import DraftFigure, counted, guessed, many, read
from whitecap.sim.inferring.layout import (
    NEW_KEY,
    PAYLOAD,
    Contents,
    isolation_of,
    left_out_features,
    past_of,
    properties_of,
)
from whitecap.sim.inferring.log.observed import ObservedTable
from whitecap.sim.inferring.naming import drafted_type, key_text
from whitecap.sim.inferring.slices import TableFacts
from whitecap.sim.inferring.text import Options, comment, entry, wrapped


def table_lines(
    observed: ObservedTable, facts: TableFacts, contents: Contents, options: Options
) -> Iterator[str]:
    """The `table` of the scenario."""
    yield "table:"
    yield f"  name: {key_text(facts.names.table)}"
    if options.from_files:
        yield from _its_own_files(observed, facts, contents)
    else:
        yield from _one_like_it(observed, facts, contents, options)
    yield "  log:"
    for key, figure in past_of(observed).items():
        yield from entry("    ", key, figure)


def _its_own_files(observed: ObservedTable, facts: TableFacts, contents: Contents) -> Iterator[str]:
    """What its log says is read again by every run; here stands what it does not say."""
    said = f"the table's {many(observed.snapshot.num_files, 'live file')}, layout and properties"
    yield from entry("  ", "from", read(json.dumps(observed.place), said))
    yield f"  version: {observed.snapshot.version}"
    stands = "rows that one of the run stands for, so that it runs: files decide"
    yield from entry("  ", "rows_each", counted(f"{contents.rows_each:.0f}", stands))
    if facts.columns.key != NEW_KEY:
        yield from entry("  ", "key", _key(facts))
    yield from _isolation(observed)
    listed = [domain for domain in facts.domains if not domain.is_daily]
    yield from _values(facts, listed, as_days=False)


def _one_like_it(
    observed: ObservedTable, facts: TableFacts, contents: Contents, options: Options
) -> Iterator[str]:
    columns = facts.columns
    yield from entry("  ", "schema", _schema(observed, facts))
    laid_out = [key_text(facts.names.columns[column.name]) for column in columns.layout]
    kind = "cluster_by" if columns.clusters and not columns.partitions else "partition_by"
    yield from entry("  ", kind, read(f"[{', '.join(laid_out)}]", "the table's metadata"))
    yield from entry("  ", "key", _key(facts))
    yield from _isolation(observed)
    yield from _properties(observed, options)
    yield from _values(facts, facts.domains, as_days=True)
    yield "  initial:"
    yield from entry("    ", "rows", contents.rows)
    yield from entry("    ", "rows_per_file", contents.rows_per_file)
    yield from entry("  ", "bytes_per_row", contents.bytes_per_row)


def _schema(observed: ObservedTable, facts: TableFacts) -> DraftFigure:
    stands_for = f"{PAYLOAD}, which stands for {facts.columns.others} more"
    renamed = facts.names.called_otherwise.items()
    said = "".join(f"; {name} is the table's `{own}`" for own, name in renamed)
    types = {column.name: column.type for column in observed.snapshot.schema}
    for column in facts.columns.clusters:
        if types[column.name] != column.type:
            kind = types[column.name].upper()
            said += f"; of {facts.names.columns[column.name]}, a {kind}, it has the days"
    return guessed(_ddl(facts), f"the columns that decide conflicts, and {stands_for}{said}")


def _key(facts: TableFacts) -> DraftFigure:
    figure = facts.columns.key_figure
    return DraftFigure(key_text(facts.key), figure.surety, figure.because)


def _isolation(observed: ObservedTable) -> Iterator[str]:
    isolation = isolation_of(observed)
    if isolation is not None:
        yield from entry("  ", "isolation", isolation)


def _ddl(facts: TableFacts) -> str:
    types = facts.types
    return json.dumps(", ".join(f"{name} {types[name].upper()}" for name in facts.in_order))


def _properties(observed: ObservedTable, options: Options) -> Iterator[str]:
    stated = properties_of(observed)
    features, others = left_out_features(observed)
    if options.anonymous:
        others = [key for key in others if key in NAMES]
    if stated:
        yield from comment("read: the table's properties that decide conflicts or time", "  ")
        yield "  properties:"
        yield from (f"    {key}: {json.dumps(value)}" for key, value in stated.items())
    if features:
        yield from comment(f"Not in the draft, features: {', '.join(features)}", "  ")
    if others:
        yield from comment(f"Not in the draft, properties: {', '.join(others)}", "  ")


def _values(facts: TableFacts, domains: Sequence[DraftDomain], *, as_days: bool) -> Iterator[str]:
    """Which values parameters choose from; dates that do not arrive as days, or listed."""
    if not domains:
        return
    yield "  values:"
    for domain in domains:
        name = key_text(facts.names.columns[domain.column.name])
        yield from comment(domain.figure.comment, "    ")
        if as_days and domain.days is not None:
            yield f"    {name}: {domain.figure.text}"
            continue
        kind = drafted_type(domain.column) if as_days else domain.column.type
        listed = facts.names.literals(domain.listed, kind)
        yield from wrapped(f"{name}: [{', '.join(listed)}]", "    ", "      ")

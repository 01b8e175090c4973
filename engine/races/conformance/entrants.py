"""What takes part in a race, as steps of this engine: a statement, or a write that is numbered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from whitecap.engine.commands import Batch, Tables, run_batch, run_statement
from whitecap.engine.log.schema import parse_ddl
from whitecap.engine.outcomes import Outcome
from whitecap.engine.races.conformance.case import Entrant, NumberedWrite
from whitecap.engine.races.conformance.read_only import read_only
from whitecap.engine.races.conformance.spark_grammar import check_grammar
from whitecap.engine.settings import Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.requests import Steps
from whitecap.engine.values.casts import from_python

ClientFor = Callable[[Settings], Tables]
"""A client's handles on the tables of a race, by the settings of its session."""


def steps_of(played: Entrant, client: ClientFor, settings: Settings) -> Steps[Outcome]:
    """What a client does who plays it in a session with these settings."""
    match played:
        case str():
            return _run_text(played, client(settings))
        case NumberedWrite(sql=None):
            return _run_batch(played, client(settings))
        case NumberedWrite(app_id, version, sql):
            numbered = replace(settings, txn_app_id=app_id, txn_version=version)
            return _run_text(str(sql), client(numbered))


def _run_text(text: str, tables: Tables) -> Steps[Outcome]:
    """A statement from its text on: what Spark's parser refuses is an ending too."""
    reading = read_only(text, tables)
    if reading is not None:
        return (yield from reading)
    statement = parse_statement(text)
    check_grammar(statement, next(iter(tables.values())).dialect)
    return (yield from run_statement(statement, tables))


def _run_batch(batch: NumberedWrite, tables: Tables) -> Steps[Outcome]:
    schema = parse_ddl(batch.schema)
    rows = [tuple(from_python(row.get(f.name), f.type) for f in schema) for row in batch.rows]
    return run_batch(
        tables["target"],
        Batch(batch.app_id, batch.version, rows, schema, batch.reads_table, batch.complete),
    )

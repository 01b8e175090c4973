"""The commands that are raced against each other, as SQL about one row of the family's table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.commands import Batch, run_batch
from whitecap.engine.dialects import Dialect
from whitecap.engine.errors import InvalidInput, Problem, UnsupportedFeature, nearest
from whitecap.engine.outcomes import Outcome
from whitecap.engine.races.interleaving.contender import Start, start_of
from whitecap.engine.races.matrix.family import FIRST_ID, NEW_TABLE, SCHEMA, TABLE, Layout, day_of
from whitecap.engine.session.table import Tables
from whitecap.engine.storage.requests import Steps
from whitecap.engine.values.casts import from_python


class Target(Struct, frozen=True):
    """The row that a command is about, and how its condition may speak of it."""

    row_id: int
    names_day: bool
    layout: Layout
    who: str = "A"

    @property
    def day(self) -> str:
        return day_of(self.row_id)

    @property
    def row(self) -> str:
        """A row with this id, as a list of SQL values."""
        return f"({self.row_id}, DATE'{self.day}', 0)"

    def condition(self, prefix: str = "") -> str:
        """The condition that picks the row."""
        picks = f"{prefix}id = {self.row_id}"
        return f"{self.of_day(prefix)} AND {picks}" if self.names_day else picks

    def of_day(self, prefix: str = "") -> str:
        return f"{prefix}day = DATE'{self.day}'"


class Command(Struct, frozen=True):
    """A command by its name, with its text for a target.

    `before` has to run on the table before it makes sense, and runs before the race.
    """

    name: str
    sql: Callable[[Target], str]
    before: str = ""

    def start(self, target: Target) -> Start:
        """What runs it."""
        return start_of(self.sql(target))


class StreamingAppend(Command, frozen=True):
    """A micro-batch of a streaming query; not a statement of SQL."""

    query_id: str = ""

    def start(self, target: Target) -> Start:
        row = (target.row_id, from_python(target.day, "date"), 0)
        query_id = self.query_id or f"query {target.who}"

        def append(tables: Tables) -> Steps[Outcome]:
            return run_batch(tables[TABLE], Batch(query_id, 0, [row]))

        return append


def _merge(target: Target) -> str:
    named = f" AND {target.of_day('t.')}" if target.names_day else ""
    return (
        f"MERGE INTO {TABLE} AS t USING (VALUES {target.row}) AS s(id, day, v)"
        f" ON t.id = s.id AND t.day = s.day{named}"
        " WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
    )


_NEW = 100
"""Added to an id for a row that is not there, of the same day."""


def _insert_only_merge(target: Target) -> str:
    new = replace(target, row_id=target.row_id + _NEW)
    return _merge(new).replace(" WHEN MATCHED THEN UPDATE SET v = s.v", "")


def _where_day(target: Target) -> str:
    by_partition = target.names_day and target.layout is Layout.PARTITIONED
    return f" WHERE {target.of_day()}" if by_partition else ""


def _one_row(target: Target) -> str:
    return f"SELECT {target.row_id} AS id, DATE'{target.day}' AS day, 0 AS v"


_ENABLE_ROW_TRACKING = f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')"


def _supporting(feature: str) -> str:
    return f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('delta.feature.{feature}' = 'supported')"


INSERT = "INSERT"
UPDATE = "UPDATE"
DELETE = "DELETE"
MERGE = "MERGE"
OPTIMIZE = "OPTIMIZE"
ZORDER = "OPTIMIZE ZORDER BY"
DROP_FEATURE = "DROP FEATURE"

PUBLISHED = (
    Command(INSERT, lambda t: f"INSERT INTO {TABLE} VALUES {t.row}"),
    Command(UPDATE, lambda t: f"UPDATE {TABLE} SET v = v + 1 WHERE {t.condition()}"),
    Command(DELETE, lambda t: f"DELETE FROM {TABLE} WHERE {t.condition()}"),
    Command(MERGE, _merge),
    Command(OPTIMIZE, lambda t: f"OPTIMIZE {TABLE}{_where_day(t)}"),
    Command(ZORDER, lambda t: f"OPTIMIZE {TABLE}{_where_day(t)} ZORDER BY (id)"),
)

EXTENDED = (
    Command(
        "INSERT, reading the table",
        lambda t: (
            f"INSERT INTO {TABLE} SELECT id + {_NEW}, day, v FROM {TABLE} WHERE {t.condition()}"
        ),
    ),
    Command("INSERT OVERWRITE", lambda t: f"INSERT OVERWRITE {TABLE} VALUES {t.row}"),
    Command(
        "REPLACE WHERE",
        lambda t: f"INSERT INTO {TABLE} REPLACE WHERE {t.of_day()} VALUES {t.row}",
    ),
    Command("REPLACE USING", lambda t: f"INSERT INTO {TABLE} REPLACE USING (id) VALUES {t.row}"),
    Command("MERGE, insert only", _insert_only_merge),
    Command("DELETE of one day", lambda t: f"DELETE FROM {TABLE} WHERE {t.of_day()}"),
    Command("TRUNCATE", lambda _: f"TRUNCATE TABLE {TABLE}"),
    StreamingAppend("streaming append", lambda t: f"append of a micro-batch: {t.row}"),
    StreamingAppend(
        "streaming, one checkpoint",
        lambda t: f"append of a micro-batch, both queries on one checkpoint: {t.row}",
        query_id="the one query",
    ),
    Command(
        "SET TBLPROPERTIES",
        lambda t: f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('team' = 'team {t.row_id}')",
    ),
    Command("ADD COLUMN", lambda t: f"ALTER TABLE {TABLE} ADD COLUMNS (w{t.row_id} INT)"),
    Command(
        "ADD CONSTRAINT",
        lambda t: f"ALTER TABLE {TABLE} ADD CONSTRAINT c{t.row_id} CHECK (id < 1000)",
    ),
    Command(
        "enabling deletion vectors",
        lambda _: f"ALTER TABLE {TABLE} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    ),
    Command("RESTORE", lambda _: f"RESTORE TABLE {TABLE} TO VERSION AS OF 0"),
    Command("VACUUM", lambda _: f"VACUUM {TABLE}"),
    Command("COMMENT ON TABLE", lambda t: f"COMMENT ON TABLE {TABLE} IS 'about {t.row_id}'"),
    Command("CLUSTER BY", lambda _: f"ALTER TABLE {TABLE} CLUSTER BY (id)"),
    Command("enabling row tracking", lambda _: _ENABLE_ROW_TRACKING),
    Command("REORG PURGE", lambda t: f"REORG TABLE {TABLE}{_where_day(t)} APPLY (PURGE)"),
    Command(
        "REORG UPGRADE UNIFORM",
        lambda _: f"REORG TABLE {TABLE} APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))",
    ),
    Command(
        "REPLACE TABLE",
        lambda t: f"CREATE OR REPLACE TABLE {TABLE} ({SCHEMA}) USING delta {t.layout.value}",
    ),
    Command(
        "REPLACE TABLE AS SELECT",
        lambda t: f"CREATE OR REPLACE TABLE {TABLE} USING delta {t.layout.value} AS {_one_row(t)}",
    ),
    Command(
        DROP_FEATURE,
        lambda _: f"ALTER TABLE {TABLE} DROP FEATURE checkConstraints",
        before=_supporting("checkConstraints"),
    ),
    Command("CREATE TABLE", lambda _: f"CREATE TABLE {NEW_TABLE} ({SCHEMA}) USING delta"),
    Command(
        "CREATE TABLE AS SELECT", lambda t: f"CREATE TABLE {NEW_TABLE} USING delta AS {_one_row(t)}"
    ),
)
"""What the vendors' tables leave out."""

ON_REQUEST = (
    Command(
        f"{DROP_FEATURE} deletionVectors",
        lambda _: f"ALTER TABLE {TABLE} DROP FEATURE deletionVectors",
    ),
)
"""What takes so many commits that racing it with every other command would take hours."""


def commands_of(dialect: Dialect) -> list[Command]:
    """All commands of the matrices that a dialect has."""
    return [command for command in (*PUBLISHED, *EXTENDED) if _lack(command, dialect) is None]


def _lack(command: Command, dialect: Dialect) -> str | None:
    """Why a dialect does not have what a command's text names, `None` if it does."""
    text = command.sql(Target(FIRST_ID, False, Layout.UNPARTITIONED)).lower()
    return next((why for name, why in dialect.lacks.items() if name.lower() in text), None)


_EVERY = (*PUBLISHED, *EXTENDED, *ON_REQUEST)


def require_commands(names: Sequence[str]) -> None:
    """Raises `InvalidInput` for every name that no command has in any dialect."""
    spellings = {command.name.lower(): command.name for command in _EVERY}
    unknown = [
        Problem(name, "no such command", nearest(name, spellings.values()))
        for name in names
        if name.lower() not in spellings
    ]
    if unknown:
        raise InvalidInput(unknown)


def commands_named(names: Sequence[str], dialect: Dialect) -> list[Command]:
    """Commands in the order of the catalogue.

    Raises `InvalidInput` for every unknown name, `UnsupportedFeature` for what the dialect lacks.
    """
    by_name = {command.name.lower(): command for command in _EVERY}
    wanted = {name.lower() for name in names}
    require_commands(names)
    chosen = [command for name, command in by_name.items() if name in wanted]
    for command in chosen:
        if why := _lack(command, dialect):
            raise UnsupportedFeature(f"{command.name} is not part of {dialect.name}: {why}")
    return chosen

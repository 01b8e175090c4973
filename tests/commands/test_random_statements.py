"""Whatever an expression says, a statement ends as Delta ends, or is refused as not modelled."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.commands.sql_database import Database
from tests.sql.random_expressions import COLUMNS, expressions, parameters
from whitecap.engine.errors import DeltaError, InvalidInput, UnsupportedFeature

OWN = (DeltaError, InvalidInput, UnsupportedFeature)
"""What Delta and Spark refuse, a text that is wrong, and what is not modelled; nothing else."""

TARGETS = ("b", "i8", "i", "n", "f", "d", "p", "s", "day", "at", "bin")
_DDL = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
_ROWS = (
    "(true, 3, 2, 5, 1.5, 2.25, 3.75, '7', DATE'2026-01-31', TIMESTAMP'2026-03-04 05:06:07',"
    " X'78')",
    "(NULL, -128, -2147483648, 9223372036854775807, 0.0, 1e300, -1.5, 'word', DATE'9999-12-31',"
    " TIMESTAMP'0001-01-01 00:00:00', X'')",
)
STATEMENTS = (
    "DELETE FROM t WHERE {e}",
    "UPDATE t SET {c} = {e}",
    "UPDATE t SET i = 1 WHERE {e}",
    "INSERT INTO t ({c}) VALUES ({e})",
    "INSERT INTO t ({c}) VALUES (NULL), ({e})",
    "INSERT INTO t ({c}) SELECT {e} FROM t",
    "INSERT INTO t SELECT * FROM t WHERE {e}",
    "INSERT INTO t ({c}) SELECT {e} FROM t GROUP BY {e}",
    "INSERT INTO t REPLACE WHERE {e} SELECT * FROM t",
    "MERGE INTO t USING (SELECT 2 AS k) u ON {e} WHEN MATCHED THEN DELETE",
    "MERGE INTO t USING (SELECT 2 AS k) u ON t.i = u.k WHEN MATCHED AND {e} THEN DELETE",
    "MERGE INTO t USING (SELECT 2 AS k) u ON t.i = u.k WHEN MATCHED THEN UPDATE SET {c} = {e}",
    "MERGE INTO t USING (SELECT 9 AS k) u ON t.i = u.k WHEN NOT MATCHED THEN INSERT ({c})"
    " VALUES ({e})",
    "MERGE INTO t USING (SELECT 9 AS k) u ON t.i = u.k WHEN NOT MATCHED BY SOURCE AND {e}"
    " THEN DELETE",
    "MERGE INTO t USING (SELECT {e} AS k FROM t) u ON t.i = u.k WHEN NOT MATCHED THEN"
    " INSERT ({c}) VALUES (u.k)",
    "ALTER TABLE t ADD CONSTRAINT c CHECK ({e})",
    "ALTER TABLE t ALTER COLUMN {c} SET DEFAULT {e}",
    "CREATE OR REPLACE TABLE t (i INT, s STRING, g STRING GENERATED ALWAYS AS ({e}))",
    "CREATE OR REPLACE TABLE t (i INT, {c}x STRING DEFAULT {e})",
    "CREATE OR REPLACE TABLE t AS SELECT {e} AS k",
    "OPTIMIZE t WHERE {e}",
)
WRITES = ("INSERT INTO t (i) VALUES (1)", "UPDATE t SET i = 3", "DELETE FROM t WHERE i = 3")
"""What follows, where constraints, defaults and generated columns are asked for."""


def database(partitioned: bool) -> Database:
    """A table with a column of every type and two rows in two files."""
    made = Database()
    features = {"feature.allowColumnDefaults": "supported"}
    made.create("t", _DDL, *(("day",) if partitioned else ()), **features)
    columns = ", ".join(TARGETS)
    for row in _ROWS:
        made.commit(f"INSERT INTO t ({columns}) VALUES {row}")
    return made


def play(made: Database, text: str, given: object) -> None:
    """Run a statement; only errors of our own may come of it."""
    values = {"given": given} if ":given" in text else {}
    with suppress(*OWN):
        made.sql(text, **values)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(STATEMENTS),
    st.sampled_from(TARGETS),
    expressions(),
    parameters(),
    st.booleans(),
)
@example("UPDATE t SET {c} = {e}", "i", "year(n)", None, False)
@example("UPDATE t SET {c} = {e}", "d", "round('text')", None, False)
@example("DELETE FROM t WHERE {e}", "i", "st.a = 1", None, True)
@example("ALTER TABLE t ADD CONSTRAINT c CHECK ({e})", "i", "i < :given", 3, False)
@example("CREATE OR REPLACE TABLE t (i INT, {c}x STRING DEFAULT {e})", "i", ":given", 3, False)
@example("DELETE FROM t WHERE {e}", "i", "repeat(s, 2147483647) = ''", None, False)
def test_a_statement_never_ends_in_an_error_of_pythons(
    statement: str, column: str, expression: str, given: object, partitioned: bool
) -> None:
    made = database(partitioned)
    text = statement.format(c=column, e=expression)
    play(made, text, given)
    for write in WRITES:
        play(made, write, None)

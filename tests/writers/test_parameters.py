"""A template that passes the scenario's check runs, and does what its recorded text does."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.sim.sim_worlds import TABLE, document, rows
from whitecap.engine.commands.run import run_statement
from whitecap.engine.errors import DeltaError, InvalidInput
from whitecap.engine.log.clients.stored_log import StoredLog
from whitecap.engine.log.clients.table_log import TableLog
from whitecap.engine.session.table import Table
from whitecap.engine.sql.parsing.parse import read_statement
from whitecap.engine.storage.memory import counting_ids, run
from whitecap.engine.storage.requests import Row, Steps
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.at_once import AtOnce
from whitecap.sim.time.random_streams import RandomStreams
from whitecap.sim.world import SimulatedWorld
from whitecap.sim.writers import bind

PARAMETERS: dict[str, Any] = {
    "rows": {"rows": {"count": 3, "existing": 0.4}},
    "more": {"rows": {"count": 2}},
    "keys": {"keys": {"count": 3}},
    "date": {"newest": {"within": 2}},
    "country": "uniform",
    "n": {"among": [1, -2, 3]},
    "x": {"value": 0.5},
    "s": {"value": "it's -- :x"},
    "b": {"value": True},
    "c": {"counter": {}},
}
NAMES = "event_id, date, country, amount"


def _scenario(statement: str) -> Scenario:
    used = set(re.findall(r"(?<![:\w]):`?(\w+)", re.sub(r"'[^']*'", "", statement)))
    writer = {
        "statement": statement,
        "parameters": {name: PARAMETERS[name] for name in PARAMETERS if name in used},
        "arrival": {"closed": {"think": "10 s"}},
        "compute": "2 s",
    }
    return scenario_of(document(duration="80 s", writers={"w": writer}))


def _table(world: SimulatedWorld, log: TableLog) -> Table:
    section = world.scenario.table
    assert section is not None
    table = Table(section.name, world.tables[0].shared)
    table.log = log
    return table


def _table_rows(world: SimulatedWorld) -> list[Row]:
    table = _table(world, StoredLog(world.tables[0].shared.commits))
    at_once = AtOnce(world.store, counting_ids())
    snapshot = run(table.latest(), at_once)
    files = run(table.data_files.read(snapshot.all_files(), snapshot.schema), at_once)
    return sorted((row for file in files for row in file.live_rows()), key=repr)


def _from_texts(finished: FinishedRun) -> SimulatedWorld:
    """A world in which the recorded statements were run one after the other, as texts."""
    world = SimulatedWorld.of(finished.scenario, RandomStreams(finished.scenario.seed, 0))
    log = StoredLog(world.tables[0].shared.commits)
    at_once = AtOnce(world.store, counting_ids())
    for row in rows(finished):
        table = _table(world, log)
        steps = run_statement(read_statement(row["statement"]), {table.name: table})
        assert _refusal(steps, at_once) == row["exception"]
    return world


def _refusal(steps: Steps[Any], at_once: AtOnce) -> str | None:
    """With which exception a statement is refused, if it is."""
    try:
        run(steps, at_once)
    except DeltaError as refused:
        return refused.exception
    return None


WORKS = [
    "INSERT INTO events VALUES :rows",
    "INSERT INTO events (VALUES :rows)",
    f"INSERT INTO events ({NAMES}) VALUES :rows",
    "INSERT OVERWRITE events VALUES :rows",
    "INSERT INTO events SELECT * FROM VALUES :rows",
    "INSERT INTO events (SELECT * FROM VALUES :rows AS q(a, b, c, d))",
    "INSERT INTO events SELECT * FROM (VALUES :rows) AS q(a, b, c, d)",
    "INSERT INTO events SELECT a, b, c, d + :x FROM (VALUES :rows AS q(a, b, c, d)) WHERE d > :n",
    "INSERT INTO events SELECT * FROM VALUES :rows AS q(a, b, c, d) WHERE c = :country LIMIT 2",
    "INSERT INTO events FROM VALUES :rows AS q(a, b, c, d) SELECT a, b, c, d",
    f"INSERT INTO events BY NAME SELECT * FROM VALUES :rows AS q({NAMES})",
    "INSERT INTO events SELECT * FROM VALUES :rows UNION ALL SELECT * FROM VALUES :more",
    "INSERT INTO events SELECT s.a, s.b, s.c, e.amount FROM"
    " (SELECT * FROM VALUES :rows AS v(a, b, c, d)) s JOIN events e ON e.event_id = s.a",
    "WITH r AS (SELECT * FROM VALUES :rows AS q(a, b, c, d)) INSERT INTO events SELECT * FROM r",
    "INSERT INTO events WITH r AS (VALUES :rows) SELECT * FROM r",
    "INSERT INTO events VALUES (:c, :date, :s, :x)",
    "INSERT INTO events (event_id) VALUES :keys",
    "INSERT INTO events (event_id) VALUES :c",
    "INSERT INTO events VALUES (:c, :date, 'VALUES :rows', -:n)",
    "INSERT INTO events SELECT event_id + 1, date, country, amount / 2"
    f" FROM VALUES (:c, :date, :s, :n), (7, :date, 'DE', :x) AS q({NAMES})",
    f"MERGE INTO events t USING (SELECT * FROM VALUES (:c, :date, :s, :x) AS q({NAMES})) AS s"
    " ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "INSERT INTO events REPLACE WHERE date = :date"
    f" SELECT event_id, :date, country, amount FROM VALUES :rows AS q({NAMES})",
    "INSERT INTO events PARTITION (date = :date)"
    f" SELECT event_id, country, amount FROM VALUES :rows AS q({NAMES})",
    f"MERGE INTO events t USING (SELECT * FROM VALUES :rows AS q({NAMES})) AS s"
    " ON t.event_id = s.event_id AND t.date = :date"
    " WHEN MATCHED AND t.amount > :n THEN UPDATE SET amount = s.amount - :x"
    " WHEN NOT MATCHED THEN INSERT *",
    f"MERGE INTO events t USING (VALUES :rows AS q({NAMES})) AS s ON t.event_id = s.event_id"
    " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO events t USING (VALUES :rows) s ON t.event_id = s.col1 WHEN MATCHED THEN DELETE",
    "MERGE INTO events t USING (SELECT a AS k FROM VALUES :rows AS q(a, b, c, d)) s"
    " ON t.event_id = s.k WHEN MATCHED THEN UPDATE SET country = :s",
    "WITH r AS (SELECT * FROM VALUES :rows AS q(a, b, c, d)) MERGE INTO events t USING r"
    " ON t.event_id = r.a WHEN MATCHED THEN DELETE",
    f"CREATE OR REPLACE TABLE events USING delta AS SELECT * FROM VALUES :rows AS q({NAMES})",
    "UPDATE events SET amount = amount -:n WHERE date = :date",
    "UPDATE events SET country = concat(country, :s) WHERE event_id IN (:keys, 3)",
    "UPDATE events SET amount = greatest(:keys), country = :n WHERE country <=> :country",
    "DELETE FROM events WHERE :b AND amount BETWEEN :n AND :x",
    "DELETE FROM events WHERE :date = date AND country NOT IN (:country)",
    "DELETE FROM events WHERE `date` = :`date`",
    "DELETE FROM events WHERE amount > :n AND event_id > :n",
    "UPDATE events SET amount = :c WHERE amount < :c",
    "UPDATE events SET amount = amount + :c, event_id = event_id * :n, country = country",
    f"MERGE INTO events t USING (SELECT * FROM VALUES :rows AS q({NAMES})) AS s"
    " ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET amount = t.amount - :x",
    "OPTIMIZE events WHERE date >= :date",
    "ALTER TABLE events SET TBLPROPERTIES ('user.note' = :country)",
    "MERGE INTO events t USING (SELECT :n AS event_id, :date AS date, :s AS country, :x AS amount)"
    " AS s ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET *"
    " WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO events t USING (SELECT :n AS k, :c AS v) s ON t.event_id = s.k"
    " WHEN MATCHED AND s.v > 1 THEN UPDATE SET amount = s.v",
    "INSERT INTO events SELECT :c, :date, :s, :x UNION ALL SELECT :n, :date, 'DE', :n",
    "INSERT INTO events SELECT :c AS a, :date, :s, a + 1",
    "INSERT INTO events SELECT q.k, q.d, upper(q.s), q.k / 2"
    " FROM (SELECT :n AS k, :date AS d, :s AS s) q",
    f"INSERT INTO events SELECT event_id, :date AS d, :s, :n FROM VALUES :rows AS q({NAMES})"
    " WHERE amount > 0",
    "INSERT INTO events SELECT event_id, :date AS d, country, amount"
    f" FROM VALUES :rows AS q({NAMES}) ORDER BY d",
    f"INSERT INTO events SELECT :c, :date, :s, max(amount) FROM VALUES :rows AS q({NAMES})",
    "UPDATE events SET amount = (SELECT :n AS q) WHERE date = :date",
]


READ_ONCE = [
    "INSERT INTO events VALUES (:c, :date, :s, :x)",
    "DELETE FROM events WHERE date = :date AND event_id IN (:keys)",
    "UPDATE events SET amount = :c WHERE amount < :n",
    "UPDATE events SET amount = amount + :c, event_id = :n * event_id",
    f"MERGE INTO events t USING (SELECT * FROM VALUES :rows AS q({NAMES})) AS s"
    " ON t.event_id = s.event_id WHEN MATCHED THEN UPDATE SET amount = t.amount - :x",
    "INSERT INTO events REPLACE WHERE date = :date"
    f" SELECT event_id, :date, country, amount FROM VALUES :rows AS q({NAMES})",
    "INSERT INTO events PARTITION (date = :date)"
    f" SELECT event_id, country, amount FROM VALUES :rows AS q({NAMES})",
    f"MERGE INTO events t USING (SELECT * FROM VALUES :rows AS q({NAMES})) AS s"
    " ON t.event_id = s.event_id WHEN MATCHED AND s.amount > :n THEN UPDATE SET country = :s",
    "MERGE INTO events t USING (SELECT :c AS k, :date AS day, :n AS v) AS s"
    " ON t.event_id = s.k AND t.date = s.day WHEN MATCHED THEN UPDATE SET amount = s.v",
    f"INSERT INTO events SELECT event_id, :date AS date, :s, :c FROM VALUES :rows AS q({NAMES})",
    "INSERT INTO events SELECT max(event_id), date, :s, sum(amount) FROM events"
    " WHERE date = :date GROUP BY date",
    "DELETE FROM events WHERE date <= :date - 3 AND amount > :n",
]


MOST_READ = 3
"""As many values as a parameter of these statements has, if it is not bound."""


@pytest.mark.parametrize("statement", READ_ONCE)
def test_what_writers_write_most_is_not_read_anew_for_every_job(
    statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = _scenario(statement)
    anew: list[str] = []
    monkeypatch.setattr(bind, "read_statement", anew.append)
    bind._read.cache_clear()
    jobs = rows(run_scenario(scenario))
    assert not anew
    assert len(jobs) > MOST_READ >= bind._read.cache_info().misses


@pytest.mark.parametrize("statement", WORKS)
def test_every_form_that_takes_parameters_does_what_its_text_does(statement: str) -> None:
    finished = run_scenario(_scenario(statement))
    assert {row["outcome"] for row in rows(finished)} <= {"committed", "in_flight"}
    assert _table_rows(finished.world) == _table_rows(_from_texts(finished))


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("INSERT INTO events VALUES :rows, (1, :date, 'DE', 2.0)", "beside other rows"),
        ("INSERT INTO events VALUES (1, :date, 'DE', 2.0), :rows", "beside other rows"),
        ("INSERT INTO events VALUES (:rows)", "expressions of this form"),
        ("INSERT INTO events VALUES (:keys, :date, 'DE', 2.0)", "METADATA_MISMATCH"),
        ("INSERT INTO events SELECT * FROM VALUES :rows AS q(a, b)", "2 names for 4 columns"),
        ("INSERT INTO events SELECT * FROM events LIMIT :c", "where a number is expected"),
        ("INSERT INTO events SELECT * FROM events VERSION AS OF :n", "a number is expected"),
        ("INSERT INTO events TABLE :rows", "table name is missing"),
        ("MERGE INTO events t USING VALUES :rows s ON t.event_id = s.col1"
         " WHEN MATCHED THEN DELETE", "VALUES stands without parentheses, which Spark refuses"),
        ("MERGE INTO events t USING (VALUES :rows) AS s(a, b, c, d) ON t.event_id = s.a"
         " WHEN MATCHED THEN DELETE", "the alias of MERGE's source names columns"),
        ("DELETE FROM events WHERE event_id IN (:rows)", "expressions of this form"),
        ("DELETE FROM events WHERE event_id IN (SELECT col1 FROM VALUES :rows)", "SUBQUERY"),
        ("DELETE FROM events WHERE event_id = :keys", "write event_id IN (:keys)"),
        ("DELETE FROM events WHERE :keys <> event_id", "write event_id NOT IN (:keys)"),
        ("DELETE FROM events WHERE amount > :s", "CAST_INVALID_INPUT"),
        ("DELETE FROM events WHERE country = :n", "CAST_INVALID_INPUT"),
        ("UPDATE events SET amount = :keys", "is not an assignment"),
        ("UPDATE events SET amount = :rows", "is not an assignment"),
        ("RESTORE TABLE events TO VERSION AS OF :c", "cannot be read as RESTORE"),
        ("VACUUM events RETAIN :n HOURS", "cannot be read as VACUUM"),
        ("OPTIMIZE :s", "cannot be read as OPTIMIZE"),
    ],
)  # fmt: skip
def test_every_other_form_is_refused_when_the_scenario_is_checked(
    statement: str, reason: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        _scenario(statement)
    (problem,) = raised.value.problems
    assert problem.place.endswith("writers.w.statement")
    assert reason in problem.text


def test_each_value_of_a_list_is_tried() -> None:
    writer = {
        "statement": "DELETE FROM events WHERE amount > :least",
        "parameters": {"least": {"among": [3, "many"]}},
        "arrival": {"closed": {"think": "10 s"}},
    }
    with pytest.raises(InvalidInput, match="'many' cannot be cast to DOUBLE"):
        scenario_of(document(writers={"w": writer}))


# Templates drawn at random ---------------------------------------------------------------------

COLUMNS = st.sampled_from(["event_id", "date", "country", "amount"])
PLACES = st.sampled_from([f":{name}" for name in PARAMETERS])
LITERALS = st.sampled_from(["1", "'DE'", "2.5", "NULL", "TRUE", "DATE '2026-01-14'"])
ATOMS = st.one_of(COLUMNS, PLACES, LITERALS)
CALLS = st.sampled_from(["coalesce({}, {})", "concat({}, {})", "greatest({}, {})", "({} {})"])
VALUES = st.one_of(
    ATOMS,
    st.builds(lambda call, left, right: call.format(left, right), CALLS, ATOMS, ATOMS),
)
TESTS = st.sampled_from(
    ["{} = {}", "{} < {}", "{} <=> {}", "{} IN ({})", "NOT {} IN ({}, 1)", "{} LIKE {}",
     "{} BETWEEN {} AND 5"]
)  # fmt: skip
CONDITION = st.builds(lambda test, left, right: test.format(left, right), TESTS, VALUES, VALUES)
CONDITIONS = st.one_of(
    CONDITION,
    st.builds("{} AND {}".format, CONDITION, CONDITION),
    st.builds("{} OR {}".format, CONDITION, CONDITION),
)
RELATIONS = st.sampled_from(
    [
        "VALUES {}",
        "(VALUES {})",
        "VALUES ({}, 2)",
        "VALUES {} AS q(a, b, c, d)",
        "(VALUES {}) AS q(a, b, c, d)",
        "(SELECT * FROM VALUES {} AS q(a, b, c, d)) AS r",
        "events",
    ]
).flatmap(lambda form: PLACES.map(form.format))
QUERIES = st.one_of(
    PLACES.map("VALUES {}".format),
    st.builds("VALUES ({}, {}, {}, 2.0)".format, VALUES, VALUES, VALUES),
    st.builds("SELECT * FROM {} WHERE {}".format, RELATIONS, CONDITIONS),
    st.builds("SELECT {}, :date, 'DE', {} FROM {}".format, VALUES, VALUES, RELATIONS),
    st.builds("SELECT * FROM {} LIMIT {}".format, RELATIONS, ATOMS),
)
STATEMENTS = st.one_of(
    QUERIES.map("INSERT INTO events {}".format),
    QUERIES.map("INSERT OVERWRITE events {}".format),
    st.builds("INSERT INTO events REPLACE WHERE {} {}".format, CONDITIONS, QUERIES),
    CONDITIONS.map("DELETE FROM events WHERE {}".format),
    st.builds("UPDATE events SET {} = {} WHERE {}".format, COLUMNS, VALUES, CONDITIONS),
    st.builds(
        "MERGE INTO events t USING {} ON t.event_id = {} AND {}"
        " WHEN MATCHED THEN UPDATE SET amount = {}".format,
        RELATIONS, ATOMS, CONDITIONS, VALUES,
    ),
    CONDITIONS.map("OPTIMIZE events WHERE {}".format),
    st.builds("OPTIMIZE events ZORDER BY ({})".format, ATOMS),
    QUERIES.map("CREATE OR REPLACE TABLE events USING delta AS {}".format),
    ATOMS.map("ALTER TABLE events SET TBLPROPERTIES ('user.note' = {})".format),
    ATOMS.map("RESTORE TABLE events TO VERSION AS OF {}".format),
    ATOMS.map("VACUUM events RETAIN {} HOURS".format),
)  # fmt: skip


@hypothesis_settings(max_examples=250)
@given(STATEMENTS)
def test_any_template_is_refused_when_it_is_checked_or_does_what_its_text_does(
    statement: str,
) -> None:
    try:
        checked = _scenario(statement)
    except InvalidInput:
        return
    finished = run_scenario(checked)
    assert _table_rows(finished.world) == _table_rows(_from_texts(finished))


def test_the_drawn_table_is_the_one_of_the_forms() -> None:
    assert TABLE["schema"].replace(" BIGINT", "").startswith("event_id, date")

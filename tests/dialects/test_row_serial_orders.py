"""Whatever two statements race: what commits is what some serial order would have left."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.races_on_rows import LEVEL, Rows, World, ending, serial, serial_orders
from whitecap.engine.dialects import dialect_named

SMALL = st.integers(0, 3)
KEYS = st.integers(1, 8)

conditions = st.one_of(
    SMALL.map(lambda n: f"g = {n}"),
    SMALL.map(lambda n: f"v <= {n}"),
    KEYS.map(lambda n: f"id = {n}"),
    st.tuples(KEYS, KEYS).map(lambda pair: f"id BETWEEN {min(pair)} AND {max(pair)}"),
    st.tuples(SMALL, SMALL).map(lambda pair: f"g = {pair[0]} OR v > {pair[1]}"),
    SMALL.map(lambda n: f"v IS NULL OR v = {n}"),
    SMALL.map(lambda n: f"g = {n} AND id > 2"),
)
assignments = st.one_of(
    SMALL.map(lambda n: f"v = {n}"),
    st.just("v = v + 1"),
    SMALL.map(lambda n: f"g = {n}, v = v * 2"),
    st.just("v = NULL"),
    st.just("g = id"),
)
pairs = st.lists(st.tuples(KEYS, SMALL), min_size=1, max_size=3, unique_by=lambda pair: pair[0])
matched = st.sampled_from(
    [
        "WHEN MATCHED THEN UPDATE SET v = t.v + s.v",
        "WHEN MATCHED THEN DELETE",
        "WHEN MATCHED AND t.v > 1 THEN UPDATE SET g = s.v",
        "WHEN MATCHED AND s.v > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v",
    ]
)
others = st.sampled_from(
    [
        "",
        " WHEN NOT MATCHED THEN INSERT (id, g, v) VALUES (s.id, 0, s.v)",
        " WHEN NOT MATCHED BY SOURCE AND t.g = 1 THEN DELETE",
        " WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 0",
    ]
)
on = st.sampled_from(["t.id = s.id", "t.id = s.id AND t.g = 1", "t.id = s.id AND t.v < 3"])


@st.composite
def merges(draw: st.DrawFn) -> str:
    values = ", ".join(f"({key}, {value})" for key, value in draw(pairs))
    clauses = draw(matched) + draw(others)
    return f"MERGE INTO t USING (VALUES {values}) AS s(id, v) ON {draw(on)} {clauses}"


statements = st.one_of(
    conditions.map(lambda where: f"DELETE FROM t WHERE {where}"),
    st.builds(lambda sets, where: f"UPDATE t SET {sets} WHERE {where}", assignments, conditions),
    assignments.map(lambda sets: f"UPDATE t SET {sets}"),
    merges(),
    st.builds(lambda key, g: f"INSERT INTO t VALUES ({key}, {g}, 1)", KEYS, SMALL),
    conditions.map(lambda where: f"INSERT INTO t SELECT id + 8, g, v FROM t WHERE {where}"),
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, ...]:
    """One to three files of rows with different keys."""
    keys = draw(st.lists(KEYS, min_size=2, max_size=7, unique=True))
    rows = [(key, draw(SMALL), draw(SMALL)) for key in keys]
    cuts = sorted(draw(st.lists(st.integers(1, len(rows)), max_size=2)))
    bounds = [0, *cuts, len(rows)]
    files = [tuple(rows[a:b]) for a, b in pairwise(bounds)]
    return tuple(file for file in files if file)


@given(
    tables(),
    statements,
    statements,
    st.sampled_from(["", "before", "after"]),
    st.sampled_from(["Serializable", "WriteSerializable"]),
    st.sampled_from(["databricks-14.3", "databricks-14.2"]),
    st.booleans(),
)
@settings(max_examples=250)
def test_what_commits_is_a_serial_order(
    files: tuple[Rows, ...],
    current: str,
    winner: str,
    compaction: str,
    level: str,
    dialect: str,
    vectors_in_update: bool,
) -> None:
    world = World.of(
        *files,
        properties={LEVEL: level},
        dialect=dialect_named(dialect),
        update_with_deletion_vectors=vectors_in_update,
    )
    running = world.begin(current)
    if compaction == "before":
        world.run("OPTIMIZE t")
    won = ending(world.run(winner))
    if compaction == "after":
        world.run("OPTIMIZE t")
    ends = ending(running.finish())
    world.check_log()
    assert won in ("committed", "nothing")
    if ends not in ("committed", "nothing"):
        assert world.rows() == serial(files, [winner])
    elif level == "Serializable" and ends == "committed":
        assert world.rows() == serial(files, [winner, current])
    else:
        assert world.rows() in serial_orders(files, [winner, current])


@given(tables(), statements, st.booleans())
@settings(max_examples=60)
def test_optimize_without_zorder_never_stands_in_the_way(
    files: tuple[Rows, ...], statement: str, optimize_loses: bool
) -> None:
    world = World.of(*files)
    current, winner = statement, "OPTIMIZE t"
    if optimize_loses:
        current, winner = winner, current
    assert ending(world.race(current, winner)) in ("committed", "nothing")
    assert world.rows() == serial(files, [statement])
    world.check_log()


rows_with_twins = st.lists(
    st.lists(st.tuples(st.integers(1, 3), SMALL, st.just(1)), min_size=1, max_size=4).map(tuple),
    min_size=2,
    max_size=3,
)
dml = st.one_of(
    conditions.map(lambda where: f"DELETE FROM t WHERE {where}"),
    st.builds(lambda sets, where: f"UPDATE t SET {sets} WHERE {where}", assignments, conditions),
)
rewrites = st.sampled_from(["OPTIMIZE t", "OPTIMIZE t ZORDER BY (v)"])


@given(rows_with_twins, rewrites, st.lists(dml, min_size=1, max_size=3))
@settings(max_examples=60)
def test_with_row_tracking_a_rewrite_in_any_order_keeps_up_with_changes(
    files: list[Rows], rewrite: str, winners: list[str]
) -> None:
    world = World.of(*files, properties={"delta.enableRowTracking": "true"})
    assert ending(world.race(rewrite, *winners)) in ("committed", "nothing")
    assert world.rows() == serial(files, winners)
    world.check_log()


@given(rows_with_twins, dml, st.lists(st.one_of(dml, rewrites), min_size=1, max_size=4))
@settings(max_examples=60)
def test_with_row_tracking_changes_follow_rows_through_rewrites_in_any_order(
    files: list[Rows], current: str, winners: list[str]
) -> None:
    world = World.of(*files, properties={"delta.enableRowTracking": "true"})
    ends = ending(world.race(current, *winners))
    done = [sql for sql in winners if not sql.startswith("OPTIMIZE")]
    assert world.rows() == serial(files, [*done, *([current] if ends == "committed" else [])])
    world.check_log()

"""Several tables in one scenario: each by itself, but for what they share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable

import whitecap
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput, InvariantViolated
from whitecap.runs import Run
from whitecap.sim.history.conservation import WalkedLog, check_conservation
from whitecap.sim.loading import scenario_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.store.cluster import Cluster
from whitecap.sim.writers.transactions import Transactions
from whitecap.sim.writers.writer import Writer

TABLE = {
    "schema": "id BIGINT, country STRING, amount INT",
    "key": "id",
    "values": {"country": ["at", "be", "de"]},
    "initial": {"rows": 300, "rows_per_file": 100},
}
UPDATE = "UPDATE {} SET amount = 1 WHERE country = 'de'"
INSERT = {"statement": "INSERT INTO gold VALUES :rows", "parameters": {"rows": {"rows": {}}}}
OFTEN = {"arrival": {"open": {"rate": "10 per min"}}, "compute": "4 s"}
SELDOM = {"arrival": {"schedule": {"every": "1 min"}}, "compute": "4 s"}

TWO: dict[str, Any] = {
    "name": "two",
    "duration": "3 min",
    "store": "s3",
    "tables": {"silver": TABLE, "gold": TABLE},
    "writers": {
        "of-silver": {"statement": UPDATE.format("silver"), **OFTEN},
        "of-gold": {"statement": UPDATE.format("gold"), **OFTEN},
        "loader": {**INSERT, **OFTEN},
    },
}


def two(**changes: Any) -> FinishedRun:
    """The two tables, with changes by dotted paths (dots written as `__`)."""
    dotted = {path.replace("__", "."): value for path, value in changes.items()}
    return run_scenario(scenario_of(TWO, dotted), requests=True)


@pytest.fixture(scope="module")
def made() -> FinishedRun:
    return two()


def versions_of(run: FinishedRun, table: str) -> list[int]:
    """The versions of one table, as recorded."""
    commits = run.recording.commits
    versions: list[int] = commits.filter(pc.equal(commits["table_name"], table))[
        "version"
    ].to_pylist()
    return versions


def test_each_table_has_its_own_versions_without_a_gap(made: FinishedRun) -> None:
    for table in made.world.tables:
        versions = versions_of(made, table.name)
        assert versions == list(range(table.store.log.newest + 1))
        assert len(versions) > table.initial_version + 5


def test_who_writes_another_table_refuses_nobody(made: FinishedRun) -> None:
    refusals = Run(made.scenario, made.recording).refusals
    pairs = set(zip(refusals["loser_command"], refusals["winner_command"], strict=True))
    assert pairs
    assert all(loser.split()[-1] == winner.split()[-1] for loser, winner in pairs)


def test_a_table_does_not_notice_what_becomes_of_another_one(made: FinishedRun) -> None:
    idle = {"writers.of-silver.arrival": {"open": {"rate": "1 per h"}}, "tables.silver.key": None}
    other = run_scenario(scenario_of(TWO, idle))
    assert len(versions_of(other, "silver")) < len(versions_of(made, "silver"))
    kept = ["writer", "statement", "submitted_at_ms", "ended_at_ms", "outcome", "read_version"]
    first, second = (
        rows.filter(pc.equal(rows["table_name"], "gold")).select(kept)
        for rows in (made.recording.transactions, other.recording.transactions)
    )
    assert first.equals(second)


def test_one_table_is_the_same_however_it_is_written() -> None:
    writers = {"of-gold": TWO["writers"]["of-gold"], "loader": TWO["writers"]["loader"]}
    named = two(tables={"gold": TABLE}, writers=writers)
    plain = {key: part for key, part in TWO.items() if key != "tables"}
    plain |= {"table": {"name": "gold", **TABLE}, "writers": writers}
    only = run_scenario(scenario_of(plain), requests=True)
    assert named.recording.tables.keys() == only.recording.tables.keys()
    for name, rows in named.recording.tables.items():
        assert rows.equals(only.recording.tables[name])


def test_requests_name_the_table_that_they_are_for(made: FinishedRun) -> None:
    assert made.recording.requests is not None
    keys = made.recording.requests["key"].to_pylist()
    assert {key.split("/")[0] for key in keys} == {"silver", "gold"}
    assert all(key.split("/")[1] == "_delta_log" for key in keys)


@pytest.mark.parametrize(("of_each", "are_shared"), [("prefix", False), ("account", True)])
def test_limits_are_of_each_table_or_of_the_account(of_each: str, are_shared: bool) -> None:
    limits = {"writes_per_s": 5, "reads_per_s": 30, "of_each": of_each}
    run = two(store__limits=limits)
    first, second = (table.throttle for table in run.world.tables)
    assert (first is second) == are_shared
    assert run.recording.requests is not None
    throttled = run.recording.requests["result"].to_pylist().count("throttled")
    assert (throttled > 0) == are_shared


def test_slots_are_shared_by_the_writers_of_all_tables() -> None:
    both = {f"writers__{name}__cluster": "etl" for name in TWO["writers"]}
    free, full = two(**both), two(**both, clusters={"etl": {"slots": 1}})
    assert spans_overlap(free)
    assert not spans_overlap(full)


def spans_overlap(run: FinishedRun) -> bool:
    """Whether transactions of two tables were ever under way at the same time."""
    rows = run.recording.transactions.sort_by("snapshot_at_ms").to_pylist()
    begun = [row for row in rows if row["snapshot_at_ms"] is not None]
    until = {"silver": 0.0, "gold": 0.0}
    for row in begun:
        other = "gold" if row["table_name"] == "silver" else "silver"
        if row["snapshot_at_ms"] < until[other]:
            return True
        ended = row["ended_at_ms"] or run.scenario.duration
        until[row["table_name"]] = max(until[row["table_name"]], ended)
    return False


def test_a_driver_that_dies_knows_the_log_of_no_table() -> None:
    clusters = {f"writers__{name}__cluster": "etl" for name in TWO["writers"]}
    crash = {"writer_crash": {"rate": "2 per min", "restart": "1 s"}}
    run = two(**clusters, faults=[crash])
    assert run.recording.transactions["rule"].to_pylist().count("writer_crash") > 2
    drivers = {id(_cluster(writer).of_tables) for writer in run.world.writers}
    assert len(drivers) == 1


def _cluster(writer: Writer) -> Cluster:
    transactions = writer.parts[0].transactions
    assert isinstance(transactions, Transactions)
    return transactions.cluster


def test_a_commit_without_an_owner_is_told_with_its_table(made: FinishedRun) -> None:
    tables = dict(made.recording.tables)
    commits = tables["commits"]
    of_gold = pc.and_(pc.equal(commits["table_name"], "gold"), pc.equal(commits["version"], 4))
    tables["commits"] = commits.filter(pc.invert(of_gold))
    walked = [WalkedLog("silver", None), WalkedLog("gold", None)]
    with pytest.raises(
        InvariantViolated, match="gold: the log has version 5 where 4 should be"
    ) as e:
        check_conservation(tables, walked, "again")
    assert "silver:" not in str(e.value)


def test_the_rows_of_all_tables_are_counted(made: FinishedRun) -> None:
    manifest = made.recording.manifest
    assert manifest["table_names"] == ["silver", "gold"]
    assert manifest["live_rows_of"]["silver"] == 300
    assert manifest["live_rows"] == sum(manifest["live_rows_of"].values())


def test_each_table_is_exported_to_a_directory_of_its_own(tmp_path: Path) -> None:
    run = whitecap.run(TWO)
    for name in ("silver", "gold"):
        version = run.export(tmp_path / name, table=name)
        table = DeltaTable(tmp_path / name)
        assert table.version() == version
        rows = run.recording.manifest["live_rows_of"][name]
        assert table.to_pyarrow_table().num_rows == rows
    with pytest.raises(InvalidInput, match="say which table is meant: there are silver, gold"):
        run.export(tmp_path / "either")


def test_a_sweep_sets_parts_of_one_of_the_tables() -> None:
    path = {"tables.gold.partition_by": ["country"]}
    assert scenario_of(TWO, path).tables["gold"].partition_by == ["country"]
    with pytest.raises(InvalidInput, match=r"there is no table 'golt'.*gold"):
        scenario_of(TWO, {"tables.golt.partition_by": ["country"]})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"writers.loader.statement": "INSERT INTO golds VALUES :rows"},
         "writes 'golds', which is none of the tables silver, gold (did you mean 'gold'?)"),
        ({"table": TABLE}, "goes not with table: give one of both"),
        ({"tables": {}}, "'table' is missing, or tables by their names"),
        ({"tables.gold.name": "golden"}, "the table 'gold' is named by its key"),
        ({"tables.Gold": TABLE}, "two names differ in their case alone"),
        ({"tables.bronze": TABLE}, "tables.bronze, as it was set: no writer writes it"),
        ({"tables.gold.key": None}, "keys and rows need tables.gold.key"),
        ({"writers.of-gold.statement": "INSERT INTO gold SELECT * FROM silver"},
         "reads 'silver': simulated statements read no table but the one they write"),
        ({"writers.s": {"streaming": {"checkpoint": "c"}, **SELDOM}},
         "needs the table that it writes: there are silver, gold"),
        ({"writers.s": {"streaming": {"checkpoint": "c", "table": "glod"}, **SELDOM}},
         "writes 'glod', which is none of the tables silver, gold (did you mean 'gold'?)"),
        ({f"writers.{t}": {"streaming": {"checkpoint": "c", "table": t}, **SELDOM}
          for t in ("gold", "silver")},
         "checkpoint 'c' is of a query that writes 'gold'"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_tables_is_told_by_name(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        scenario_of({**TWO}, changes)
    assert expected in str(raised.value)


def test_a_command_may_be_expected_of_one_table(tmp_path: Path) -> None:
    expected = [{"measure": "aborted", "command": "UPDATE gold", "at_least": 1}]
    run = whitecap.run({**TWO, "expect": expected})
    assert [each.is_met for each in run.expectations] == [True]
    with pytest.raises(InvalidInput, match="no writer runs UPDATE iron"):
        scenario_of({**TWO, "expect": [{**expected[0], "command": "UPDATE iron"}]})
    del tmp_path


def test_the_command_line_exports_all_tables(tmp_path: Path) -> None:
    import yaml

    scenario = tmp_path / "two.yaml"
    scenario.write_text(yaml.safe_dump(TWO))
    place = tmp_path / "tables"
    result = CliRunner().invoke(main, ["run", str(scenario), "--export", str(place)])
    assert result.exit_code == 0, result.output
    assert sorted(each.name for each in place.iterdir()) == ["gold", "silver"]
    assert f"table      {place / 'gold'}" in result.output

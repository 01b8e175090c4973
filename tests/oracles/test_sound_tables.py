"""Sound tables give no finding: shipped scenarios, and random statements one after the other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.hand_made import FIRST_ROWS, HandMade, add, remove
from tests.oracles.planted import ANY_ORDER
from whitecap.engine.log.actions import AnyAction, SetTransaction
from whitecap.engine.log.checkpoints import checkpoint
from whitecap.engine.log.snapshot import Snapshot
from whitecap.sim.loading import load_scenario
from whitecap.sim.oracles.effects import RowEffect, StatementEffects
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.sim.oracles.runs.of_run import judge
from whitecap.sim.oracles.runs.reopening import reopening_findings
from whitecap.sim.run import run_scenario

ROOT = Path(__file__).parents[2]
SOUND = (
    "concurrent-append",
    "concurrent-delete-delete",
    "concurrent-delete-read",
    "concurrent-transaction",
    "concurrent-write",
    "metadata-changed",
    "write-serializable",
)
FORBIDDEN = ("conflicts", "row_level", "transaction", "commands", "session", "plans", "races")


@pytest.mark.parametrize("name", SOUND)
def test_a_shipped_scenario_gives_no_finding_and_is_checked_whole(name: str) -> None:
    run = run_scenario(load_scenario(ROOT / "scenarios/regression" / f"{name}.yaml"))
    judgement = judge(run)
    assert not judgement.findings
    assert not judgement.not_checked


def test_an_update_that_conflicts_with_itself_is_refused_and_there() -> None:
    name = "lost-reply-conflicts-with-itself"
    scenario = load_scenario(ROOT / "scenarios/regression" / f"{name}.yaml")
    findings = judge(run_scenario(scenario, until_ms=300_000)).findings
    assert {finding.anomaly.value for finding in findings} == {"G1a"}


def test_a_store_without_put_if_absent_loses_commits_that_were_acknowledged() -> None:
    scenario = load_scenario(ROOT / "scenarios/field/c49-no-put-if-absent.yaml")
    findings = judge(run_scenario(scenario, until_ms=300_000)).findings
    assert {"lost commit", "content changed"} <= {finding.anomaly.value for finding in findings}


def test_a_table_that_nobody_came_to_create_is_no_broken_one() -> None:
    scenario = load_scenario(ROOT / "scenarios/field/c34-first-append-to-an-empty-path.yaml")
    assert not judge(run_scenario(scenario, until_ms=1)).findings


def _moved(rows: list[tuple[int, int]], kind: str, key: int) -> tuple[str, list[tuple[int, int]]]:
    """A statement about one key, and the rows after it."""
    match kind:
        case "insert":
            return f"INSERT INTO t VALUES ({key}, 1)", [*rows, (key, 1)]
        case "delete":
            return f"DELETE FROM t WHERE id = {key}", [row for row in rows if row[0] != key]
        case "update":
            after = [(i, v + 1 if i == key else v) for i, v in rows]
            return f"UPDATE t SET v = v + 1 WHERE id = {key}", after
    source = f"(SELECT {key} AS id, 7 AS v) AS s"
    merge = f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
    exists = any(i == key for i, _ in rows)
    after = [(i, 7 if i == key else v) for i, v in rows] + ([] if exists else [(key, 7)])
    return merge + "WHEN NOT MATCHED THEN INSERT *", after


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(("insert", "delete", "update", "merge")), st.integers(1, 4)),
        max_size=6,
    )
)
def test_statements_one_after_the_other_give_no_finding(steps: list[tuple[str, int]]) -> None:
    table, rows = HandMade(), list(FIRST_ROWS)
    for version, (kind, key) in enumerate(steps, start=1):
        statement, rows = _moved(rows, kind, key)
        table.rewrites("a" if version == 1 else f"f{version - 1}", f"f{version}", rows)
        table.did(f"step {version}", statement, version - 1, version)
    assert not table.findings()


def test_a_statement_after_a_compaction_runs_on_the_rows_that_are_there() -> None:
    table = HandMade()
    table.rewrites("a", "b", FIRST_ROWS)
    table.rewrites("b", "c", [(1, 10)])
    table.did("compaction", "OPTIMIZE t", 0, 1)
    table.did("delete", "DELETE FROM t WHERE v = 20", 1, 2)
    assert not table.findings()


def test_rows_from_before_the_history_that_a_writer_may_miss_are_thought_of_as_coming_later() -> (
    None
):
    table = HandMade(ANY_ORDER)
    table.appends("b", [(3, 30), (3, 30)])
    table.appends("c", [(4, 40)])
    table.commit(remove("a"))
    table.did("replaces", "DELETE FROM t WHERE id < 4", 0, 3)
    assert {str(row) for row in table.evidence.changes.before(4)} == {"(3, 30)", "(4, 40)"}
    assert not table.findings()


READS_AND_INSERTS = "INSERT INTO t SELECT {0}, sum(v) FROM t WHERE id < {1}"


def _with_an_append_that_was_seen() -> HandMade:
    table = HandMade(ANY_ORDER)
    table.appends("b", [(3, 30)])
    table.did("loads", "INSERT INTO t VALUES (3, 30)", 0, 1)
    table.appends("c", [(9, 60)])
    table.did("saw it", READS_AND_INSERTS.format(9, 5), 1, 2)
    return table


def test_who_saw_an_append_comes_after_it_and_who_missed_it_before() -> None:
    table = _with_an_append_that_was_seen()
    table.appends("d", [(8, 30)])
    table.did("missed it", READS_AND_INSERTS.format(8, 4), 0, 3)
    assert not table.findings()


def test_who_saw_an_append_comes_before_a_later_one_that_is_not_held_back() -> None:
    table = _with_an_append_that_was_seen()
    table.appends("d", [(4, 40)])
    table.did("loads more", "INSERT INTO t VALUES (4, 40)", 0, 3)
    table.appends("e", [(8, 30)])
    table.did("missed it", READS_AND_INSERTS.format(8, 4), 0, 4)
    assert not table.findings()


def _in_a_cycle(statement: str, old: str, new: str, rows: list[tuple[int, int]]) -> Finding:
    """What is found where a statement misses an INSERT, and another one saw it."""
    table = _with_an_append_that_was_seen()
    table.rewrites(old, new, rows)
    table.did("missed it", statement, 0, 3)
    (finding,) = table.findings()
    return finding


def test_who_changed_what_was_read_by_who_saw_what_it_missed_is_in_a_cycle_of_the_level() -> None:
    finding = _in_a_cycle("DELETE FROM t WHERE id IN (1, 3)", "a", "d", [(2, 20)])
    assert (finding.anomaly, len(finding.cycle)) == (Anomaly.G2, 3)
    assert finding.only_inserts_missed


def test_who_changed_rows_of_another_that_it_missed_is_in_a_cycle_that_no_level_allows() -> None:
    finding = _in_a_cycle("DELETE FROM t WHERE id IN (3, 9)", "c", "d", [])
    assert finding.anomaly is Anomaly.LOST_UPDATE
    assert not finding.only_inserts_missed


def test_of_rows_that_are_alike_the_oldest_go_first() -> None:
    table = HandMade(ANY_ORDER)
    table.appends("b", [(3, 30)])
    table.did("loads", "INSERT INTO t VALUES (3, 30)", 0, 1)
    table.appends("c", [(3, 30)])
    table.did("loads again", "INSERT INTO t VALUES (3, 30)", 1, 2)
    table.rewrites("b", "d", [])
    table.did("missed it", "DELETE FROM t WHERE id = 3", 1, 3)
    assert not table.findings()


ROWS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from((10, 11, 20))), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(ROWS, st.sampled_from(("insert", "delete", "update", "merge")), st.integers(1, 3))
def test_sums_of_hashes_say_what_a_comparison_of_all_rows_says(
    rows: list[tuple[int, int]], kind: str, key: int
) -> None:
    """Whether or not the rows after the statement are those that it makes."""
    statement, right = _moved(list(FIRST_ROWS), kind, key)
    for after in (rows, right):
        table = HandMade()
        table.rewrites("a", "b", after)
        table.did("step", statement, 0, 1)
        evidence = table.evidence
        change = evidence.changes.changes[1]
        made = StatementEffects(evidence).effect([1], 1)
        assert StatementEffects(evidence).explain([1]) == (
            made == RowEffect(change.gone, change.new)
        )


def test_rows_are_looked_at_although_the_first_statement_did_nothing() -> None:
    table = HandMade()
    table.rewrites("a", "b", FIRST_ROWS)
    table.did("compactor", "OPTIMIZE t", 0, 1)
    table.rewrites("b", "c", [(1, 11), (2, 20)])
    table.did("corrector", "UPDATE t SET v = v + 1 WHERE id = 1", 1, 2)
    assert not table.findings()


def test_whoever_opens_a_sound_log_reads_what_its_commits_say() -> None:
    table = HandMade()
    for version in range(1, 6):
        table.appends(f"f{version}", [(version + 2, version)])
    assert not list(reopening_findings(table.evidence))


def test_a_reader_that_loses_a_file_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    table = HandMade()
    for version in range(1, 6):
        table.appends(f"f{version}", [(version + 2, version)])
    whole = checkpoint.checkpoint_actions
    monkeypatch.setattr(checkpoint, "checkpoint_actions", lambda snapshot: whole(snapshot)[:-1])
    for finding, version in zip(reopening_findings(table.evidence), (2, 5), strict=True):
        assert "1 files are missing" in finding.sentence
        assert f"by the checkpoint of version {version}" in finding.sentence


def test_progress_that_a_checkpoint_leaves_out_is_missed_though_it_is_recorded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = HandMade()
    for version in range(1, 6):
        table.rows(f"f{version}", [(version + 2, version)])
        table.commit(add(f"f{version}"), SetTransaction("stream", version))
    whole = checkpoint.checkpoint_actions

    def without_progress(snapshot: Snapshot) -> tuple[AnyAction, ...]:
        return tuple(a for a in whole(snapshot) if not isinstance(a, SetTransaction))

    monkeypatch.setattr(checkpoint, "checkpoint_actions", without_progress)
    (finding,) = reopening_findings(table.evidence)
    assert "applications are {}, not {'stream': 5}" in finding.sentence


def test_the_oracles_know_nothing_of_the_engines_decisions() -> None:
    for path in sorted((ROOT / "sim/oracles").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")
                decides = parts[:2] == ["whitecap", "engine"] and parts[2] in FORBIDDEN
                assert not decides, f"{path.name} imports {node.module}"

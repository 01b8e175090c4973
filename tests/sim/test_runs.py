"""What every run owes: the same again from the same seed, nobody's draws moved, nothing lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

from tests.sim.sim_worlds import INSERT, UPDATE, document, ran, rows, scenario, steps_of
from whitecap.engine.errors import InvalidInput, InvariantViolated
from whitecap.sim.history.conservation import WalkedLog, broken_by, check_conservation
from whitecap.sim.recording.recording import SCHEMAS, write_recording
from whitecap.sim.run import run_scenario


def _files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_the_same_scenario_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    first = run_scenario(scenario(), out=tmp_path / "a", requests=True)
    run_scenario(scenario(), out=tmp_path / "b", requests=True)
    assert _files(tmp_path / "a") == _files(tmp_path / "b")
    assert first.recording.transactions.num_rows > 50


def test_another_seed_or_replication_gives_another_run() -> None:
    runs = [
        run_scenario(scenario()),
        run_scenario(scenario(), seed=2),
        run_scenario(scenario(), replication=1),
    ]
    submitted = [tuple(r["submitted_at_ms"] for r in rows(run)) for run in runs]
    assert len(set(submitted)) == 3


def _of(run: Any, writer: str, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(r[c] for c in columns) for r in rows(run) if r["writer"] == writer]


def test_adding_a_writer_moves_nobody_elses_draws() -> None:
    """On separate days nobody meets, so that all that could differ is the draws."""
    alone = {"one": {**INSERT, "arrival": {"open": {"rate": "4 per min"}}}}
    more = {**alone, "two": {**INSERT, "arrival": {"open": {"rate": "9 per min"}}}}
    columns = ("submitted_at_ms", "statement", "compute_ms")
    before = _of(ran(writers=alone), "one-1", *columns)
    after = _of(ran(writers=more), "one-1", *columns)
    assert len(before) > 20
    assert [row[:2] for row in after] == [row[:2] for row in before]
    assert [row[2] for row in after] == pytest.approx([row[2] for row in before])


def test_changing_one_writers_policy_moves_no_other_writers_draws() -> None:
    loader = {**INSERT, "arrival": {"open": {"rate": "4 per min"}}}
    impatient = {**UPDATE, "rerun": {"fixed": {"wait": "1 ms", "budget": 2}}}
    plain = ran(writers={"loader": loader, "corrector": UPDATE})
    changed = ran(writers={"loader": loader, "corrector": impatient})
    columns = ("submitted_at_ms", "statement")
    assert _of(plain, "loader-1", *columns) == _of(changed, "loader-1", *columns)


def test_every_transaction_has_an_outcome_also_those_in_flight_at_the_end() -> None:
    run = ran(duration="61 s", writers={"slow": {**INSERT, "count": 20, "compute": "50 s"}})
    counts = run.recording.manifest["counts"]
    assert counts["in_flight"] > 0
    assert counts["submitted"] == len(rows(run))
    assert counts["submitted"] == sum(n for name, n in counts.items() if name != "submitted")
    for row in rows(run):
        assert (row["ended_at_ms"] is None) == (row["outcome"] == "in_flight")


def test_jobs_that_wait_for_their_turn_are_in_flight_too() -> None:
    queue = {"open": {"rate": "30 per min", "concurrency": 1}}
    run = ran(writers={"slow": {**INSERT, "arrival": queue, "compute": "1 min"}})
    waiting = [row for row in rows(run) if row["snapshot_at_ms"] is None]
    assert len(waiting) > 100
    assert all(row["outcome"] == "in_flight" and row["statement"] for row in waiting)


def test_instants_of_a_transaction_are_in_order() -> None:
    transactions = rows(ran())
    assert transactions
    for row in transactions:
        instants = [
            row[name]
            for name in ("submitted_at_ms", "snapshot_at_ms", "commit_started_at_ms", "ended_at_ms")
            if row[name] is not None
        ]
        assert instants == sorted(instants)


def test_requests_are_sent_take_effect_and_are_replied_to_in_this_order() -> None:
    requests = [r for r in rows(ran(), "requests") if r["reply_at_ms"] is not None]
    kinds = {"list", "get", "head", "put_if_absent", "put", "copy", "delete"}
    assert {r["kind"] for r in requests} == kinds
    for r in requests:
        assert r["sent_at_ms"] <= r["effect_at_ms"] <= r["reply_at_ms"]


def test_versions_are_committed_in_the_order_of_their_puts_effects() -> None:
    run = ran()
    commits = rows(run, "commits")
    assert [c["version"] for c in commits] == list(range(len(commits)))
    assert [c["committed_at_ms"] for c in commits] == sorted(c["committed_at_ms"] for c in commits)
    effects = {
        (a["transaction_id"], a["version"]): a["effect_at_ms"]
        for a in rows(run, "attempts")
        if a["result"] == "created"
    }
    for commit in commits[2:]:
        key = (commit["transaction_id"], commit["version"])
        assert effects[key] == commit["committed_at_ms"]


def test_a_chain_of_reruns_keeps_its_job_and_statement() -> None:
    chains: dict[int, list[dict[str, Any]]] = {}
    for row in rows(ran({"writers.corrector.count": 3})):
        chains.setdefault(row["job_id"], []).append(row)
    longest = max(chains.values(), key=len)
    assert len(longest) > 1
    for chain in chains.values():
        assert [row["rerun_number"] for row in chain] == list(range(len(chain)))
        assert len({row["statement"] for row in chain}) == 1
        assert all(row["outcome"] == "aborted" for row in chain[:-1])
        assert not any(row["given_up"] for row in chain[:-1])


def test_a_rerun_takes_a_new_snapshot() -> None:
    run = ran({"writers.corrector.count": 3})
    aborted = {r["job_id"]: r for r in rows(run) if r["outcome"] == "aborted"}
    again = [r for r in rows(run) if r["rerun_number"] and r["outcome"] == "committed"]
    assert again
    for row in again:
        assert row["read_version"] >= aborted[row["job_id"]]["winning_version"]


def test_an_aborted_transaction_says_who_won_by_which_rule_and_why() -> None:
    run = ran({"writers.corrector.count": 3})
    versions = {c["version"]: c for c in rows(run, "commits")}
    refused = [r for r in rows(run) if r["outcome"] == "aborted"]
    assert refused
    for row in refused:
        assert row["exception"] == "ConcurrentAppendException"
        assert row["error_class"].startswith("DELTA_CONCURRENT_APPEND")
        assert row["winning_version"] in versions
        assert row["winning_version"] > row["read_version"]
        assert row["rule"]
        assert row["evidence"]
        assert row["isolation_level"] == "Serializable"


def test_an_optimize_that_gives_up_tells_the_snapshot_that_its_verdict_was_about() -> None:
    """It looks at the newest version again before it gives up, and starts again if it may."""
    optimize = {**UPDATE, "statement": "OPTIMIZE events", "parameters": {}, "compute": "40 s"}
    run = ran(writers={"corrector": {**UPDATE, "count": 3}, "compactor": optimize})
    refused = [r for r in rows(run) if r["command"] == "OPTIMIZE" and r["outcome"] == "aborted"]
    assert refused
    for row in refused:
        assert row["winning_version"] > row["read_version"]
        assert row["snapshot_at_ms"] < row["ended_at_ms"]


def test_a_commit_keeps_its_read_version_when_compaction_follows_it() -> None:
    properties = {"delta.autoOptimize.autoCompact": "true"}
    settings = {"spark.databricks.delta.autoCompact.minNumFiles": "2"}
    run = ran({"table.properties": properties}, settings=settings)
    followed = [c["transaction_id"] for c in rows(run, "commits") if c["operation"] == "OPTIMIZE"]
    parents = [row for row in rows(run) if row["transaction_id"] in followed]
    assert parents
    for row in parents:
        assert row["read_version"] < row["committed_version"]


def test_conservation_notices_planted_faults() -> None:
    def checked(spoil: Any) -> str:
        tables = {name: table.to_pylist() for name, table in ran().recording.tables.items()}
        spoil(tables)
        spoilt = {name: pa.Table.from_pylist(rows, SCHEMAS[name]) for name, rows in tables.items()}
        with pytest.raises(InvariantViolated) as raised:
            check_conservation(spoilt, [WalkedLog("events", None)], "whitecap run it.yaml --seed 1")
        return str(raised.value)

    def lose_a_version(tables: Any) -> None:
        del tables["commits"][5]

    def claim_another(tables: Any) -> None:
        done = [r for r in tables["transactions"] if r["committed_version"] is not None]
        done[0]["committed_version"] = done[1]["committed_version"]

    def forget_an_end(tables: Any) -> None:
        tables["transactions"][0]["outcome"] = "in_flight"

    def invent_an_attempt(tables: Any) -> None:
        tables["transactions"][0]["attempts"] += 1

    def forget_a_put(tables: Any) -> None:
        created = [a for a in tables["attempts"] if a["result"] == "created"]
        created[0]["result"] = "already_exists"

    def put_once_more(tables: Any) -> None:
        lost = [a for a in tables["attempts"] if a["result"] == "already_exists"]
        lost[0]["result"] = "created"

    def invent_an_outcome(tables: Any) -> None:
        tables["transactions"][0]["outcome"] = "glorious"

    expected = {
        lose_a_version: "where 5 should be",
        claim_another: "says that it committed version",
        forget_an_end: "with a wrong end",
        invent_an_attempt: "miscounts its attempts",
        forget_a_put: "which never put it",
        put_once_more: "which is not its own",
        invent_an_outcome: "transactions were submitted",
    }
    for spoil, words in expected.items():
        message = checked(spoil)
        assert words in message
        assert "to reproduce: whitecap run it.yaml --seed 1" in message


def test_what_a_version_breaks_is_told_of_its_step() -> None:
    step = next(step for step in steps_of(ran()) if step.version == 3)
    assert list(broken_by(step)) == []
    compaction = replace(step, operation="OPTIMIZE", rows_added=4, live_rows=-1, faults=("is odd",))
    assert list(broken_by(compaction)) == [
        "version 3 (OPTIMIZE) changes the rows by 4",
        "version 3 leaves -1 rows",
        "version 3 is odd",
    ]


def test_an_existing_directory_that_is_no_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(InvalidInput, match="left alone"):
        write_recording(ran().recording, tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_a_runs_directory_is_replaced_by_the_next_run_if_that_says_so(tmp_path: Path) -> None:
    run_scenario(scenario(), out=tmp_path / "a", requests=True)
    with pytest.raises(InvalidInput, match="holds a run already"):
        run_scenario(scenario(), seed=9, out=tmp_path / "a")
    run_scenario(scenario(), seed=9, out=tmp_path / "a", overwrite=True)
    assert not (tmp_path / "a" / "requests.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_documents_are_not_changed_by_running_them() -> None:
    given = document()
    before = repr(given)
    ran()
    assert repr(given) == before

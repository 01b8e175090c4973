"""What counts as agreement between a recording and reality, and what is written of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from whitecap.sim.replay.agreement import (
    Agreement,
    Comparison,
    compare,
    differences,
    write_agreement,
)
from whitecap.sim.replay.player import Observed
from whitecap.sim.replay.real_commands import Sql
from whitecap.sim.replay.script import End, Planned, Result

COMMIT = Result(End.COMMITTED, 5, isolation_level="Serializable", is_blind_append=True)
ABORT = Result(End.ABORTED, None, "ConcurrentAppendException", "DELTA_CONCURRENT_APPEND.X")


def _observed(
    recorded: Result, real: Result, excuse: str | None = None, parted: bool = False
) -> Observed:
    planned = Planned("w-1 #7", Sql("DELETE FROM t"), 4, 4, recorded, excuse)
    return Observed(planned, real, "message", parted)


def test_equal_ends_match() -> None:
    compared = compare(_observed(ABORT, ABORT), "DELETE")
    assert (compared.comparison, compared.reason) == (Comparison.MATCH, "")


def test_another_exception_or_version_is_a_mismatch_that_says_so() -> None:
    other = Result(End.ABORTED, None, "ConcurrentDeleteReadException", ABORT.error_class)
    assert compare(_observed(ABORT, other), "DELETE").reason == "exception differ"
    later = Result(End.COMMITTED, 6)
    assert differences(COMMIT, later) == ["version", "isolation_level", "is_blind_append"]


def test_what_the_recording_does_not_say_is_not_compared() -> None:
    assert differences(Result(End.COMMITTED, 5), COMMIT) == []


def test_an_excuse_or_a_history_that_parted_is_not_comparable() -> None:
    excused = compare(_observed(COMMIT, ABORT, excuse="its reply was lost"), "DELETE")
    assert (excused.comparison, excused.reason) == (
        Comparison.NOT_COMPARABLE,
        "its reply was lost",
    )
    parted = compare(_observed(COMMIT, ABORT, parted=True), "DELETE")
    assert parted.comparison is Comparison.NOT_COMPARABLE


def test_another_platform_may_differ_and_may_agree() -> None:
    doubt = "it resolves conflicts by rows"
    differing = compare(_observed(COMMIT, ABORT), "DELETE", doubt)
    assert differing.comparison is Comparison.NOT_COMPARABLE
    assert differing.reason.endswith("differ: it resolves conflicts by rows")
    agreeing = compare(_observed(COMMIT, COMMIT), "DELETE", doubt)
    assert agreeing.comparison is Comparison.MATCH


def test_the_written_agreement_counts_and_lists_everything(tmp_path: Path) -> None:
    ends = [_observed(COMMIT, COMMIT), _observed(ABORT, ABORT), _observed(COMMIT, ABORT)]
    agreement = Agreement({"run": "r"}, tuple(compare(each, "DELETE") for each in ends))
    assert not agreement.holds
    path = write_agreement(agreement, tmp_path / "replay")
    document = json.loads(path.read_text())
    assert {k: document[k] for k in ("run", "matches", "mismatches", "not_comparable")} == {
        "run": "r",
        "matches": 2,
        "mismatches": 1,
        "not_comparable": 0,
    }
    assert document["exceptions"] == ["ConcurrentAppendException"]
    assert document["commits"] == 1
    with (path.parent / "agreement.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["comparison"] for row in rows] == ["match", "match", "mismatch"]
    assert rows[0]["real_version"] == "5"

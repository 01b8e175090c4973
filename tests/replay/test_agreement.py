"""What counts as agreement between a recording and reality, and what is written of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from whitecap.sim.replay.agreement import (
    Agreement,
    ComparedTransaction,
    Comparison,
    compare,
    differences,
    not_played,
    write_agreement,
)
from whitecap.sim.replay.history.recorded import Recorded
from whitecap.sim.replay.playing.player import PlayedTransaction
from whitecap.sim.replay.playing.script import CommandPart, End, Planned, TransactionResult
from whitecap.sim.replay.real.commands import Sql

COMMIT = TransactionResult(End.COMMITTED, 5, isolation_level="Serializable", is_blind_append=True)
ABORT = TransactionResult(
    End.ABORTED, None, "ConcurrentAppendException", "DELTA_CONCURRENT_APPEND.X"
)


def _recorded(result: TransactionResult, left_out: str | None = None, note: str = "") -> Recorded:
    part = CommandPart(4, 4, result.version)
    text = "DELETE FROM t"
    return Recorded(7, "w-1", "DELETE", text, None, None, (part,), 4, result, left_out, note)


def _compared(
    recorded: TransactionResult, real: TransactionResult | None, doubt: str | None = None
) -> ComparedTransaction:
    played = _recorded(recorded)
    planned = Planned(played.name, Sql("DELETE FROM t"), played.parts, recorded)
    return compare(played, PlayedTransaction(planned, real, "message"), doubt)


def test_equal_ends_match() -> None:
    compared = _compared(ABORT, ABORT)
    assert (compared.comparison, compared.reason) == (Comparison.MATCH, "")


def test_another_exception_or_version_is_a_mismatch_that_says_so() -> None:
    other = TransactionResult(End.ABORTED, None, "ConcurrentDeleteReadException", ABORT.error_class)
    assert _compared(ABORT, other).reason == "exception differ"
    later = TransactionResult(End.COMMITTED, 6)
    assert differences(COMMIT, later) == ["version", "isolation_level", "is_blind_append"]


def test_what_the_recording_does_not_say_is_not_compared() -> None:
    assert differences(TransactionResult(End.COMMITTED, 5), COMMIT) == []


def test_what_could_not_be_played_to_its_end_is_not_comparable_and_says_why() -> None:
    compared = _compared(COMMIT, None)
    assert (compared.comparison, compared.reason) == (Comparison.NOT_COMPARABLE, "message")


def test_what_is_left_out_says_why() -> None:
    compared = not_played(_recorded(ABORT, left_out="its writer crashed"))
    assert (compared.comparison, compared.reason) == (
        Comparison.NOT_COMPARABLE,
        "its writer crashed",
    )
    assert compared.real is None


def test_a_commit_that_its_writer_did_not_learn_of_is_compared_with_a_note() -> None:
    played = _recorded(COMMIT, note="its writer saw it as unknown: a reply was lost")
    planned = Planned(played.name, Sql("DELETE FROM t"), played.parts, COMMIT)
    compared = compare(played, PlayedTransaction(planned, COMMIT))
    assert compared.comparison is Comparison.MATCH
    assert compared.reason == "its writer saw it as unknown: a reply was lost"


def test_another_platform_may_differ_and_may_agree() -> None:
    doubt = "it resolves conflicts by rows"
    differing = _compared(COMMIT, ABORT, doubt)
    assert differing.comparison is Comparison.NOT_COMPARABLE
    assert differing.reason.endswith("differ: it resolves conflicts by rows")
    agreeing = _compared(COMMIT, COMMIT, doubt)
    assert agreeing.comparison is Comparison.MATCH


def test_the_written_agreement_counts_and_lists_everything(tmp_path: Path) -> None:
    ends = [_compared(COMMIT, COMMIT), _compared(ABORT, ABORT), _compared(COMMIT, ABORT)]
    agreement = Agreement({"run": "r"}, tuple(ends))
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

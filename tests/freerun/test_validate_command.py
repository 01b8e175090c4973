"""`whitecap validate`: what is refused before anything begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from whitecap import cli
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim.freerun.free_run import FreeRunSettings, make_place, require_settings
from whitecap.sim.freerun.workloads import ThreadStatements, mixed_workload, update_workload


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "make validate"),
        (["--real", "--partitions", "1"], "above 1"),
        (["--real", "--partitions", "two"], "above 1"),
        (["--real", "--partitions", "9" * 5000], "above 1"),
        (["--real", "--seed", "-1"], "-1 is not between 0 and"),
        (["--real", "--partitions", "2,2"], "stands there twice"),
        (["--real", "--partitions", "", "--no-mix"], "nothing to run"),
        (["--real", "--threads", "2"], "--no-mix"),
    ],
)
def test_what_cannot_be_run_is_bad_input(arguments: list[str], said: str, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli.main, ["validate", *arguments, *out])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.output
    assert not (tmp_path / "out").exists()


def test_two_threads_may_update() -> None:
    require_settings(FreeRunSettings((2,), mix=False, threads=2))


def test_what_is_no_free_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="left alone"):
        make_place(FreeRunSettings(), tmp_path, overwrite=True)
    assert (tmp_path / "letter.txt").read_text() == "dear"


def test_another_experiment_is_replaced_only_when_told_to(tmp_path: Path) -> None:
    make_place(FreeRunSettings(seed=1), tmp_path / "out", overwrite=False)
    make_place(FreeRunSettings(seed=1), tmp_path / "out", overwrite=False)
    with pytest.raises(InvalidInput, match="--overwrite"):
        make_place(FreeRunSettings(seed=2), tmp_path / "out", overwrite=False)
    make_place(FreeRunSettings(seed=2), tmp_path / "out", overwrite=True)


@pytest.mark.parametrize("threads", [3, 4, 7])
def test_threads_that_are_apart_have_partitions_that_nobody_else_changes(threads: int) -> None:
    for partitions in (2, 4, 8, 16):
        workload = update_workload(partitions, threads)
        owned = [part for hand in workload.hands for part in hand.own]
        assert sorted(owned) == list(range(workload.partitions_apart))
    mix = mixed_workload(threads)
    merging = [hand.own for hand in mix.hands if hand.kind.name == "merge"]
    inserting = next(hand.own for hand in mix.hands if hand.kind.name == "insert")
    owned = [part for own in [*merging, inserting] for part in own]
    assert sorted(owned) == list(range(mix.partitions_apart))


def test_who_compacts_apart_touches_only_what_is_inserted() -> None:
    hand = mixed_workload(4).hands[-1]
    apart, together = (
        ThreadStatements(hand, 3, "t", 10, 1, apart=is_apart).next() for is_apart in (True, False)
    )
    assert apart == "OPTIMIZE t WHERE part >= 2"
    assert together.strip() == "OPTIMIZE t"


def test_a_merge_changes_a_row_that_is_there_and_adds_one() -> None:
    hand = mixed_workload(4).hands[0]
    text = ThreadStatements(hand, 0, "t", 10, 1, apart=True).next()
    assert "t.part = 0" in text
    assert text.count("0L, 1L)") == 2

"""The matrix of two engines: what one dialect's check makes of commits by another."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from whitecap.cli import main
from whitecap.exit_codes import ExitCode

PLAIN = ("--isolation", "Serializable", "--deletion-vectors", "off", "--partitioned", "no")


def _pairs(dialect: str, against: str, *pair: str) -> dict[tuple[str, str], list[str]]:
    """The exceptions of the loser, by loser and winner."""
    command = ["matrix", "--dialect", dialect, "--against", against, "--pair", *pair]
    result = CliRunner().invoke(main, [*command, *PLAIN, "--format", "json"])
    assert result.exit_code == ExitCode.FINE, result.output
    matrix = json.loads(result.stdout)
    assert (matrix["dialect"], matrix["against"]) == (dialect, against)
    assert matrix["published"] == []
    (grid,) = matrix["grids"]
    return {(cell["loser"], cell["winner"]): cell["exceptions"] for cell in grid["pairs"]}


def test_a_compaction_of_spark_is_seen_by_the_older_delta_rs_and_overlooked_by_the_newer() -> None:
    compaction = ("OPTIMIZE", "OPTIMIZE")
    assert _pairs("delta-rs-1.6.3", "delta-oss-4.4", *compaction) == {
        compaction: ["ConcurrentDeleteDeleteException"]
    }
    assert _pairs("delta-rs-1.6.6", "delta-oss-4.4", *compaction) == {compaction: []}


def test_spark_sees_what_delta_rs_compacted() -> None:
    (exceptions,) = _pairs("delta-oss-4.4", "delta-rs-1.6.6", "OPTIMIZE", "OPTIMIZE").values()
    assert exceptions == ["ConcurrentDeleteReadException"]


def test_both_orders_are_raced_and_one_side_is_looked_at() -> None:
    exceptions = _pairs("delta-rs-1.6.6", "delta-oss-4.4", "INSERT", "DELETE")
    assert exceptions == {
        ("INSERT", "INSERT"): [],
        ("INSERT", "DELETE"): ["ConcurrentDeleteReadException"],
        ("DELETE", "INSERT"): ["ConcurrentAppendException"],
        ("DELETE", "DELETE"): ["ConcurrentAppendException", "ConcurrentDeleteReadException"],
    }


def test_a_page_says_whose_commits_they_are() -> None:
    command = ["matrix", "--dialect", "delta-rs-1.6.3", "--against", "delta-oss-4.4"]
    arguments = ["--pair", "INSERT", "DELETE", *PLAIN, "--format", "markdown"]
    shown = CliRunner().invoke(main, [*command, *arguments]).stdout
    assert shown.startswith(
        "# Which commands conflict on delta-rs-1.6.3, against commits of delta-oss-4.4"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--against", "delta-rs-1.6.6", "--clustered", "yes"), "can be written by all"),
        (("--against", "spark"), "there is no dialect 'spark'"),
        (("--against", "delta-rs-1.6.6", "--pair", "REPLACE USING", "INSERT"), "no such operation"),
    ],
)
def test_what_one_of_the_two_lacks_is_refused(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(main, ["matrix", *arguments])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert said in result.output


def test_a_matrix_of_an_engine_that_damages_tables_says_so() -> None:
    command = ["matrix", *PLAIN, "--pair", "OPTIMIZE", "OPTIMIZE", "--dialect"]
    printed = {
        dialect: " ".join(CliRunner().invoke(main, [*command, dialect]).stdout.split())
        for dialect in ("delta-rs-1.6.6", "delta-rs-1.6.3")
    }
    note = "delta-rs-1.6.6 commits over what a compaction moved: rows are doubled or come back"
    assert note in printed["delta-rs-1.6.6"]
    assert "doubled" not in printed["delta-rs-1.6.3"]

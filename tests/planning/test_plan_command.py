"""`whitecap plan`: what is asked for wrongly is refused before anything runs; a small one works."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from errno import ENOSPC
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner, Result

import whitecap
from tests.refusals import require_each_once, require_refused
from tests.sim.sim_worlds import document
from whitecap.cli import main
from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode
from whitecap.sim import run as sim_run
from whitecap.sim.loading import load_scenario
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.sweeps import kept_runs
from whitecap.sim.sweeps.kept_runs import Keeping, KeptRuns


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(document(duration="3 min")))
    return path


def measured_nothing(manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> int:
    """How many transactions there were."""
    assert "seed" in manifest
    return int(tables["transactions"].num_rows)


OBJECTIVE = "job_success_rate of corrector >= 90 %"


def test_what_a_variant_makes_wrong_is_told_at_its_line_in_the_file(tmp_path: Path) -> None:
    """Not in the scenario as it is written anew, under its name."""
    text = "# A comment.\n\n" + yaml.safe_dump(document(), sort_keys=False)
    path = tmp_path / "small.yaml"
    path.write_text(text)
    line = 1 + text.splitlines().index(
        "    statement: UPDATE events SET amount = 0.5 WHERE date = :date"
    )
    arguments = ["plan", str(path), "--vary", "writers.corrector.count=1..2", "--objective"]
    schema = "x:table.schema=event_id BIGINT, date DATE, country STRING"
    result = CliRunner().invoke(main, [*arguments, OBJECTIVE, "--variant", schema])
    assert result.exit_code == ExitCode.BAD_INPUT
    assert (
        result.stderr
        == f"error: {path}:{line} writers.corrector.statement: amount: no such column\n"
    )


@pytest.mark.parametrize(
    ("vary", "objective", "said"),
    [
        ("writers.corector.count=1..5", OBJECTIVE, "did you mean 'corrector'?"),
        ("writers.xyz.count=1..5", OBJECTIVE, "there is no writer 'xyz': there are "),
        ("writers.corrector.cont=1..5", OBJECTIVE, "did you mean 'count'?"),
        ("writers.corrector.count=5..1", OBJECTIVE, "5 is more than 1: write 1..5"),
        ("writers.corrector.count=few..many", OBJECTIVE, "are not two numbers"),
        ("writers.corrector.count=1..9:much", OBJECTIVE, "the step much does not go with 1..9"),
        (f"writers.corrector.count=1..{'9' * 400}", OBJECTIVE, "are not two numbers"),
        ("table.isolation=1..5", OBJECTIVE, "is none of Serializable"),
        ("writers.corrector.count=1..5", "", "states no `objective:`"),
        ("writers.corrector.count=1..5", "job_succes_rate >= 9 %", "job_success_rate"),
        ("writers.corrector.count=1..5", "given_up <= 3", "is a count"),
    ],
)
def test_what_is_wrong_is_told_before_anything_runs(
    file: Path, vary: str, objective: str, said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.plan(file, vary, objective=objective or (), quiet=True)
    assert said in str(refused.value)


def test_all_that_is_wrong_is_told_at_once(file: Path) -> None:
    vary, objective = "writers.corector.count=5..1:-2", "job_succes_rate >= 9 %"
    with pytest.raises(InvalidInput) as refused:
        whitecap.plan(
            file,
            vary,
            objective=objective,
            variants={"wide": {"table.partitioned_by": []}},
            only={"part": []},
            sense="larges",
            max_replications=3,
            resume=True,
            quiet=True,
        )
    require_each_once(
        refused.value,
        "5 is more than 1: write 1..5",
        "the step -2 is not more than 0",
        "writers.corector.count: there is no writer 'corector'",
        "table.partitioned_by",
        "did you mean 'job_success_rate'?",
        "there is no axis 'part'",
        "there is no sense 'larges'",
        "3 is not between 5 and",
        "resume: goes on with the plan that lies in",
    )


@pytest.mark.parametrize("vary", ["writers.corector.count=2 s..1", "writers.corector.count=1..5:0"])
def test_a_range_that_is_wrong_hides_no_parameter_that_there_is_not(file: Path, vary: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        whitecap.plan(file, vary, objective=OBJECTIVE, quiet=True)
    assert len(refused.value.problems) == 2
    assert "there is no writer 'corector'" in str(refused.value)


def test_an_option_that_cannot_be_read_hides_no_other(file: Path) -> None:
    options = (
        "--variant", "wide", "--variant", "tall", "--variant", "other:writers.xyz.count=3",
        "--vary", "writers.corector.count=1..5",
    )  # fmt: skip
    result = CliRunner().invoke(main, ["plan", str(file), *options, "--objective", OBJECTIVE])
    require_refused(
        result,
        "--variant wide: is not NAME:PATH=VALUE",
        "--variant tall: is not NAME:PATH=VALUE",
        "there is no writer 'corector'",
        "there is no writer 'xyz'",
    )


def test_a_small_plan_finds_its_boundary_and_writes_it(file: Path, tmp_path: Path) -> None:
    arguments = [
        "plan", str(file), "--vary", "writers.corrector.count=1..6", "--objective", OBJECTIVE,
        "--variant", "by date:", "--variant", "one heap:table.partition_by=[]",
        "--max-runs", "20", "--max-replications", "5", "--jobs", "1",
        "--out", str(tmp_path / "out"), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.FINE, result.output
    printed = json.loads(result.stdout)
    assert [each["name"] for each in printed["variants"]] == ["by date", "one heap"]
    assert printed["runs"] <= 20
    kept = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert kept["variants"] == printed["variants"]
    assert (tmp_path / "out" / "plan.png").stat().st_size > 1000


def test_a_plan_that_finds_the_disk_full_is_printed_and_names_the_place(
    file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "plan.json").symlink_to("/dev/full")
    arguments = [
        "plan", str(file), "--vary", "writers.corrector.count=1..2", "--objective", OBJECTIVE,
        "--max-runs", "5", "--max-replications", "5", "--jobs", "1", "--out", str(out), "--json",
    ]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING, result.output
    assert json.loads(result.stdout)["variants"]
    assert f"No space left on device: '{out}'" in result.stderr


def test_a_plan_of_python_that_finds_the_disk_full_is_in_what_it_raises(
    file: Path, tmp_path: Path
) -> None:
    (tmp_path / "plan.json").symlink_to("/dev/full")
    with pytest.raises(whitecap.NotWritten, match="No space left on device") as refused:
        whitecap.plan(
            file, "writers.corrector.count=1..2", objective=OBJECTIVE, max_runs=5,
            max_replications=5, jobs=1, out=tmp_path, quiet=True,
        )  # fmt: skip
    assert refused.value.filename == str(tmp_path)
    assert refused.value.result.variants


def test_a_plan_that_ended_early_goes_on_with_the_runs_that_it_has(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what is lacking is made, and the result is that of a plan that never ended."""
    made: list[int] = []

    def counted(*arguments: Any, **more: Any) -> FinishedRun:
        made.append(more["replication"])
        return run_scenario(*arguments, **more)

    monkeypatch.setattr(sim_run, "run_scenario", counted)
    vary, out = "writers.corrector.count=1..3", tmp_path / "out"
    short: dict[str, Any] = {"objective": OBJECTIVE, "jobs": 1, "quiet": True, "sense": "largest"}
    whitecap.plan(file, vary, **short, max_runs=5, max_replications=5, out=out)
    first = len(made)
    assert first == 5
    whole = whitecap.plan(file, vary, **short, max_runs=15, max_replications=5)
    at_once = len(made) - first
    resumed = whitecap.plan(
        file, vary, **short, max_runs=15, max_replications=5, out=out, resume=True
    )
    assert len(made) - first - at_once == at_once - first
    assert resumed.document == whole.document


def _interrupted(
    file: Path, out: Path, monkeypatch: pytest.MonkeyPatch, is_pressed: Callable[[int, int], bool]
) -> Result:
    """A plan whose user presses Ctrl-C at the run of such a number and replication."""
    numbers = count()

    def pressed(*arguments: Any, **more: Any) -> FinishedRun:
        if is_pressed(next(numbers), more["replication"]):
            raise KeyboardInterrupt
        return run_scenario(*arguments, **more)

    monkeypatch.setattr(sim_run, "run_scenario", pressed)
    words = ["--vary", "writers.corrector.count=1..3", "--objective", OBJECTIVE, "--jobs", "1"]
    return CliRunner().invoke(main, ["plan", str(file), *words, "--out", str(out)])


def _goes_on(out: Path) -> str:
    return f"finished runs are kept in {out / 'runs'}, and --resume (resume=True) goes on with them"


@pytest.mark.parametrize("finished", [0, 2])
def test_a_plan_that_was_interrupted_before_anything_is_known_says_what_is_kept(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: int
) -> None:
    out = tmp_path / "out"
    result = _interrupted(file, out, monkeypatch, lambda _, replication: replication == finished)
    assert result.exit_code == ExitCode.INTERRUPTED
    said = "interrupted: nothing is known yet"
    kept = f"; {_goes_on(out)}" if finished else ""
    assert result.stderr.splitlines()[-1] == said + kept


def test_a_plan_that_was_interrupted_tells_what_is_known_and_how_it_goes_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    result = _interrupted(file, out, monkeypatch, lambda number, _: number == 12)
    assert result.exit_code == ExitCode.INTERRUPTED
    assert "interrupted, this is what was known then" in result.stdout.replace("\n", " ")
    assert result.stderr.splitlines()[-1] == f"interrupted: {_goes_on(out)}"


def test_a_disk_that_is_full_when_runs_are_kept_is_no_defect_of_a_run(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(kept_runs, "write_whole", full)
    words = ["--vary", "writers.corrector.count=1..3", "--objective", OBJECTIVE, "--jobs", "1"]
    result = CliRunner().invoke(main, ["plan", str(file), *words, "--out", str(tmp_path / "out")])
    assert result.exit_code == ExitCode.ENVIRONMENT_MISSING
    assert result.stderr.splitlines()[-1] == f"error: [Errno {ENOSPC}] No space left on device"


def test_runs_of_other_scenarios_and_seeds_are_not_used(file: Path, tmp_path: Path) -> None:
    loaded = load_scenario(file)
    Keeping(tmp_path, measured_nothing)(
        {"scenario_hash": loaded.hash, "seed": 1, "replication": 0, "code_version": code_version()},
        {"transactions": pa.table({"job_id": [1, 2]})},
    )
    kept = KeptRuns(tmp_path, resumes=True)
    assert kept.read(measured_nothing, loaded, 1, 0) == 2
    assert kept.read(measured_nothing, loaded, 2, 0) is None
    assert kept.read(measured_nothing, loaded, 1, 1) is None
    assert kept.read(measured_nothing, load_scenario(file, {"duration": "4 min"}), 1, 0) is None
    assert KeptRuns(tmp_path, resumes=False).read(measured_nothing, loaded, 1, 0) is None


def test_a_run_that_was_kept_and_is_damaged_is_named(file: Path, tmp_path: Path) -> None:
    loaded = load_scenario(file)
    manifest = {"scenario_hash": loaded.hash, "seed": 1, "replication": 0}
    Keeping(tmp_path, measured_nothing)(
        {**manifest, "code_version": code_version()}, {"transactions": pa.table({"job_id": [1]})}
    )
    [path] = tmp_path.glob("*.run")
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(InvalidInput) as refused:
        KeptRuns(tmp_path, resumes=True).read(measured_nothing, loaded, 1, 0)
    assert path.name in str(refused.value)
    assert "is damaged" in str(refused.value)


def test_where_nothing_was_planned_there_is_nothing_to_go_on_with(
    file: Path, tmp_path: Path
) -> None:
    asked = ["plan", str(file), "--vary", "writers.corrector.count=1..3", "--resume"]
    without = CliRunner().invoke(main, asked)
    assert without.exit_code == ExitCode.BAD_INPUT
    assert "--resume: goes on with the plan that lies in --out" in without.stderr
    empty = CliRunner().invoke(main, [*asked, "--out", str(tmp_path / "new")])
    require_refused(empty, "there are no runs of a plan to go on with")


def test_every_one_of_several_objectives_is_held_against_each_value(file: Path) -> None:
    """Where no latency will do nothing holds, however well jobs succeed."""
    objectives = [OBJECTIVE, "latency_p95_ms of corrector <= 1 ms"]
    plan = whitecap.plan(
        file, "writers.corrector.count=1..3", objective=objectives, max_replications=10, jobs=1,
        sense="largest", quiet=True,
    )  # fmt: skip
    assert "not even 1" in str(plan)
    assert set(plan.table["measure"]) == {"job_success_rate", "latency_p95_ms"}

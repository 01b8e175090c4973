"""Running a sweep: all runs that are not finished yet, on one engine.

Each run writes its own directory and renames it into place; who started them watches for that, so
progress needs no channel from the workers. A run that fails leaves the others alone: its error is
written down, and told together with all others when the job ends. Every machine of a Spark
cluster must have Whitecap installed and see the sweep's directory under the same path.
"""

from __future__ import annotations

import json
import shutil
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whitecap.engine.errors import (
    DeltaError,
    InvalidInput,
    InvariantViolated,
    Problem,
    UnsupportedFeature,
)
from whitecap.sim.machine.code_version import code_version
from whitecap.sim.replay.real.environment import EnvironmentMissing, Missing
from whitecap.sim.scenario.sweep import show_cell
from whitecap.sim.sweeps.engines import SweepEngine
from whitecap.sim.sweeps.experiment import Experiment, PlannedRun, open_directory

WATCH_EVERY_S = 0.2
"""How often we look for finished runs; a look costs one `stat` per unfinished run."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is: `kept` of the finished runs were there before it was (re)started."""

    total: int
    finished: int
    failed: int
    kept: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that ended in an error."""

    run: PlannedRun
    error: str
    text: str
    is_bad_input: bool


def run_sweep(
    experiment: Experiment,
    directory: Path,
    engine: Callable[[], SweepEngine],
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run what is not finished; `engine` is called only if there is something to run.

    Raises:
        InvalidInput: the directory holds another sweep.
        EnvironmentMissing: the engine is not there or broke down; says why.
        InvariantViolated: runs failed; says which, and how to reproduce each.
    """
    open_directory(experiment, directory)
    directory = directory.absolute()
    planned = list(experiment.runs(directory))
    pending = [run for run in planned if not run.is_finished]
    _clear_leftovers(directory, pending)
    kept = len(planned) - len(pending)

    def tell(finished: int, failed: int) -> None:
        on_progress(Progress(len(planned), kept + finished, failed, kept))

    tell(0, 0)
    if pending:
        _run_all(engine(), pending, tell)
    failures = [failure for run in pending if (failure := _failure_of(run))]
    if failures:
        raise _error_of(failures, len(planned))


def _clear_leftovers(directory: Path, pending: Sequence[PlannedRun]) -> None:
    """Remove what interrupted runs left beside their place, and the failures to be tried again."""
    shutil.rmtree(directory / "failures", ignore_errors=True)
    for parent in {Path(run.directory).parent for run in pending}:
        for entry in parent.glob("*") if parent.is_dir() else ():
            if not (entry / "manifest.json").is_file() or not entry.name.isdigit():
                shutil.rmtree(entry, ignore_errors=True)


def _run_all(
    engine: SweepEngine, pending: Sequence[PlannedRun], tell: Callable[[int, int], None]
) -> None:
    """Start the job in a thread of its own and watch the directory until it ends."""
    job = _Job(engine, pending)
    job.start()
    try:
        while job.is_alive():
            job.join(WATCH_EVERY_S)
            finished = sum(run.is_finished for run in pending)
            failed = sum(Path(run.failure_file).is_file() for run in pending)
            tell(finished, failed)
    except BaseException:
        engine.cancel()
        raise
    if job.error is not None:
        raise _environment_error(engine, job.error)


def _environment_error(engine: SweepEngine, error: BaseException) -> BaseException:
    """Runs write down their own errors, so what ends the job itself is the engine's."""
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return error
    lines = [line for line in str(error).splitlines() if line.strip()]
    what = f"{engine.what}: {lines[-1].strip() if lines else type(error).__name__}"
    return EnvironmentMissing([Missing(what, engine.remedy)])


class _Job(threading.Thread):
    """The runs on their engine; its error, if any, is kept for the thread that waits."""

    def __init__(self, engine: SweepEngine, pending: Sequence[PlannedRun]) -> None:
        super().__init__(name="sweep", daemon=True)
        self._engine = engine
        self._pending = pending
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make every run."""
        try:
            self._engine.each(run_one, self._pending)
        except BaseException as error:  # handed to the waiting thread
            self.error = error


def run_one(run: PlannedRun) -> None:
    """One run, wherever its engine chose. Writes a run directory or a failure, never both."""
    from whitecap.sim.loading import load_scenario
    from whitecap.sim.run import run_scenario

    if run.is_finished:
        return
    try:
        _require_same_code(run)
        scenario = load_scenario(run.scenario_file)
        run_scenario(
            scenario,
            seed=run.seed,
            replication=run.replication,
            out=Path(run.directory),
            labels=dict(run.labels),
            overwrite=True,
        )
    except Exception as error:
        _write_failure(run, error)


def _require_same_code(run: PlannedRun) -> None:
    """Runs of different code must not be compared with each other."""
    if code_version() != run.code_version:
        text = f"the worker has Whitecap {code_version()}, the sweep is of {run.code_version}"
        raise InvalidInput([Problem("", text)])


def _write_failure(run: PlannedRun, error: Exception) -> None:
    bad_input = isinstance(error, InvalidInput | UnsupportedFeature | DeltaError)
    content = {
        "error": type(error).__name__,
        "text": str(error),
        "is_bad_input": bad_input,
        "command": run.command,
        "traceback": traceback.format_exc(),
    }
    file = Path(run.failure_file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")


def _failure_of(run: PlannedRun) -> Failure | None:
    file = Path(run.failure_file)
    if not file.is_file():
        return None
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return Failure(run, content["error"], content["text"], content["is_bad_input"])


def _error_of(failures: Sequence[Failure], total: int) -> Exception:
    """Bad input if every failure is; otherwise a fault of ours."""
    problems = [
        Problem(
            f"cell {show_cell(failure.run.labels)}, replication {failure.run.replication}, "
            f"seed {failure.run.seed}",
            f"{failure.error}: {failure.text}\n  to reproduce: {failure.run.command}",
        )
        for failure in failures
    ]
    first = Problem("", f"{len(failures)} of {total} runs failed; the others are kept")
    if all(failure.is_bad_input for failure in failures):
        return InvalidInput([first, *problems])
    return InvariantViolated("\n".join(str(problem) for problem in [first, *problems]))

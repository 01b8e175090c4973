"""The whole experiment, phase by phase: measure apart, predict, write it down, run together.

What a phase finds is in files before the next step begins; an experiment that was interrupted goes
on with the phase that it was at, from its beginning, since a machine's speed changes.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
import yaml
from msgspec import Struct

from whitecap.engine.errors import InvalidInput, InvariantViolated, Problem
from whitecap.sim.freerun.comparison import FreeRunPhase, FreeRunResult, compare
from whitecap.sim.freerun.driving import CommitLost, now, run_threads
from whitecap.sim.freerun.measured_cycles import calibration_of
from whitecap.sim.freerun.page import result_page
from whitecap.sim.freerun.prediction import (
    RANGE_CONFIDENCE,
    REPLICATIONS,
    Prediction,
    predicted_ranges,
    quantities_of,
)
from whitecap.sim.freerun.statements import ObservedRun, warm_up_of
from whitecap.sim.freerun.upcoming import UpcomingRun
from whitecap.sim.freerun.workloads import ThreadWorkload, mixed_workload, update_workload
from whitecap.sim.machine.places import write_whole
from whitecap.sim.machine.processes import at_a_time
from whitecap.sim.replay.real.environment import require_delta
from whitecap.sim.replay.real.releases import release_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS, CALIBRATION, SCENARIO = "experiment.json", "calibration.json", "scenario.yaml"
PREDICTION, OBSERVED, COMPARISON = "prediction.json", "observed.json", "comparison.json"
RESULT, PAGE = "result.json", "result.md"

FEWEST_THREADS = 3
"""Of the mix: one that merges, one that inserts, one that compacts."""

MOST_AGAIN = 12
"""How often a run may lose a commit on the local disk. Three of some twenty did, with 4 threads and
300 statements on 2 idle cores (2026-11-22 and 23). Beside other work on these cores five short runs
in a row did (2026-11-26): a thread that waits for its core between looking and renaming is met by
more rivals. Who loses thirteen times has another trouble."""

T = TypeVar("T")


class ExperimentWatch(Protocol):
    """Is told how far the experiment is: steps done of all, and what is being done."""

    def __call__(self, done: float, total: float, note: str) -> None: ...


class FreeRunSettings(Struct, frozen=True):
    """What is asked for. `statements` is how many count in each run, apart and together.

    `warm_up` go before the first phase, so that code is compiled, if not 0; never more than in a
    run.
    """

    partitions: tuple[int, ...] = (2, 4, 8, 16)
    mix: bool = True
    statements: int = 300
    threads: int = 4
    seed: int = 1
    warm_up: int = 100
    replications: int = REPLICATIONS

    @property
    def workloads(self) -> list[ThreadWorkload]:
        """The phases, in the order in which they are run."""
        updates = [update_workload(count, self.threads) for count in self.partitions]
        return [*updates, *([mixed_workload(self.threads)] if self.mix else [])]

    @property
    def warming(self) -> int:
        """How many statements count in the run for warmth."""
        return min(self.warm_up, self.statements)

    @property
    def before_phases(self) -> int:
        """How many statements go before the first phase, with those that let threads fall apart."""
        return self.warming + warm_up_of(self.threads) if self.warm_up else 0

    @property
    def comparisons(self) -> int:
        """How many ranges hold together."""
        return sum(len(quantities_of(workload)) for workload in self.workloads)


def require_settings(settings: FreeRunSettings) -> None:
    """Raises `InvalidInput` for what cannot be run."""
    problems = []
    if not settings.workloads:
        problems.append(Problem("--partitions", "there is nothing to run"))
    if len(set(settings.partitions)) < len(settings.partitions):
        problems.append(Problem("--partitions", "a number stands there twice"))
    if settings.mix and settings.threads < FEWEST_THREADS:
        said = f"the mix needs {FEWEST_THREADS}; --no-mix leaves it out"
        problems.append(Problem("--threads", said))
    if problems:
        raise InvalidInput(problems)


def make_place(settings: FreeRunSettings, out: Path, *, overwrite: bool) -> None:
    """Make `out` ready: a new place, the same experiment half done, or one to be replaced.

    Raises InvalidInput: it holds something else, or another experiment and `overwrite` is not set.
    """
    there = out / SETTINGS
    if out.exists() and any(out.iterdir()) and not there.is_file():
        said = "is there already and holds no free run; it is left alone"
        raise InvalidInput([Problem(str(out), said)])
    if overwrite and there.is_file():
        shutil.rmtree(out)
    if there.is_file() and _read(there, FreeRunSettings) != settings:
        said = "holds a free run with other settings; --overwrite replaces it"
        raise InvalidInput([Problem(str(out), said)])
    out.mkdir(parents=True, exist_ok=True)
    _write(there, settings)


def free_run(settings: FreeRunSettings, out: Path, watch: ExperimentWatch) -> FreeRunResult:
    """Run what is not finished in `out`, and write `result.json` and `result.md` there.

    Raises EnvironmentMissing: Java, a package or a jar is missing.
    """
    require_delta()
    steps = _Steps(settings, watch)
    machine = _machine()
    phases = list(_phases(settings, out, steps))
    result = FreeRunResult(
        now(), machine, settings.threads, settings.seed, RANGE_CONFIDENCE, phases
    )
    _write(out / RESULT, result)
    (out / PAGE).write_text(result_page(result), encoding="utf-8")
    return result


def _phases(settings: FreeRunSettings, out: Path, steps: _Steps) -> Iterator[FreeRunPhase]:
    spark: SparkSession | None = None
    for workload in settings.workloads:
        folder = out / workload.name
        if not (folder / COMPARISON).is_file():
            spark = spark or _warm_session(settings, steps)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _run_phase(spark, settings, workload, folder, steps)
        steps.finish(workload)
        yield _read(folder / COMPARISON, FreeRunPhase)


def _warm_session(settings: FreeRunSettings, steps: _Steps) -> SparkSession:
    from whitecap.sim.replay.real.jvm import Jvm
    from whitecap.sim.replay.real.session import delta_session

    steps.note("starting Spark")
    spark = delta_session()
    Jvm(spark).keep_no_checksums()
    if settings.warm_up:
        warm_up_by(partial(_warmed, spark, settings, steps.counting("warming up")))
    return spark


def _warmed(
    spark: SparkSession, settings: FreeRunSettings, watch: Callable[[int], None]
) -> ObservedRun:
    workload = update_workload(settings.threads, settings.threads)
    return run_threads(spark, workload, settings.warming, settings.seed, apart=True, watch=watch)


def warm_up_by(run: Callable[[], ObservedRun]) -> None:
    """Make a run that counts for nothing; so does a commit that the local disk loses in it."""
    with suppress(CommitLost):
        run()


def _run_phase(
    spark: SparkSession,
    settings: FreeRunSettings,
    workload: ThreadWorkload,
    folder: Path,
    steps: _Steps,
) -> None:
    again = 0

    def run(what: str, *, apart: bool) -> ObservedRun:
        nonlocal again
        watch = steps.counting(f"{workload.name}, {what}")
        run_once = partial(
            run_threads, spark, workload, settings.statements, settings.seed,
            apart=apart, watch=watch,
        )  # fmt: skip
        observed, times = with_a_whole_log(run_once)
        again += times
        return observed

    apart = run("measuring", apart=True)
    _write(folder / CALIBRATION, apart)
    upcoming = UpcomingRun(workload, calibration_of(apart), settings.statements, settings.seed)
    prediction = _predict(upcoming, settings, folder, steps)
    _write(folder / PREDICTION, prediction)
    together = run("comparing", apart=False)
    _write(folder / OBSERVED, together)
    if together.began_at <= prediction.predicted_at:
        raise InvariantViolated(f"{workload.name} began before it was predicted")
    _write(folder / COMPARISON, compare(workload, prediction, apart, together, again))


def with_a_whole_log(run: Callable[[], ObservedRun]) -> tuple[ObservedRun, int]:
    """What a run observed, begun again where a commit was lost, and how often that was.

    Raises CommitLost: it was lost every time.
    """
    for again in range(MOST_AGAIN):
        with suppress(CommitLost):
            return run(), again
    return run(), MOST_AGAIN


def _predict(
    run: UpcomingRun, settings: FreeRunSettings, folder: Path, steps: _Steps
) -> Prediction:
    """Predict, and keep the scenario as well: anybody can run it."""
    text = yaml.safe_dump(run.document(), sort_keys=False)
    (folder / SCENARIO).write_text(text, encoding="utf-8")
    ranges = predicted_ranges(
        run, settings.comparisons,
        jobs=at_a_time(), replications=settings.replications,
        watch=steps.counting(f"{run.workload.name}, predicting"),
    )  # fmt: skip
    return Prediction(
        now(), run.statements, settings.replications, RANGE_CONFIDENCE, settings.comparisons,
        ranges, run.window_share(),
    )  # fmt: skip


class _Steps:
    """Counts statements and simulated runs of the whole experiment."""

    def __init__(self, settings: FreeRunSettings, watch: ExperimentWatch) -> None:
        self._watch = watch
        counted = settings.statements + warm_up_of(settings.threads)
        self._per_phase = 2 * counted + settings.replications
        self._total = settings.before_phases + self._per_phase * len(settings.workloads)
        self._left = [workload.name for workload in settings.workloads]
        self._done = 0

    def note(self, note: str) -> None:
        """Say how far the experiment is, and what it is at."""
        self._watch(self._done, self._total, note)

    def counting(self, note: str) -> Callable[[int], None]:
        """A watch for one step, whose counts begin with 0."""
        before = self._done

        def count(done: int) -> None:
            self._done = before + done
            self.note(note)

        return count

    def finish(self, workload: ThreadWorkload) -> None:
        """A phase is done, now or in an earlier run."""
        self._left.remove(workload.name)
        self._done = self._total - self._per_phase * len(self._left)
        self.note(f"{workload.name} done")


def _machine() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": str(os.cpu_count() or 1),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "delta": release_here().delta,
        "spark": release_here().spark,
    }


def _write(path: Path, value: Struct) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")


def _read(path: Path, kind: type[T]) -> T:
    return msgspec.json.decode(path.read_bytes(), type=kind)

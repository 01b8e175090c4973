"""`whitecap chaos --real`: real writers instead of simulated ones, the prediction beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode
from whitecap.reports.words import counted
from whitecap.sim.machine.interruption import was_interrupted
from whitecap.terminal.console import new_console
from whitecap.terminal.table import print_indented

if TYPE_CHECKING:
    from whitecap.sim.scenario.model import Scenario
    from whitecap.sim.under_fire.verdict import Beside, JudgedRun, SkippedRun


def chaos_of_real_writers(
    scenarios: Sequence[Scenario],
    numbers: range,
    seed: int,
    out: Path,
    real: str,
    python: str | None,
    as_json: bool,
) -> ExitCode:
    """Tell each run as it comes; Ctrl-C keeps what was told. How the command ends."""
    from whitecap.sim.under_fire.campaign import Deltalake, Spark, run_under_fire
    from whitecap.terminal.as_json import print_json

    engine = Spark() if real == "spark" else Deltalake(python)
    runs: list[JudgedRun | SkippedRun] = []
    is_interrupted = False
    try:
        for run in run_under_fire(scenarios, numbers, seed, out, engine):
            runs.append(run)
            if not as_json:
                _show_run(run)
    except BaseException as error:
        if not (runs and was_interrupted(error)):
            raise
        is_interrupted = True
        made = counted(len(runs), "run")
        click.echo(f"interrupted after {made}; what was left is kept", err=True)
    if as_json:
        print_json({"seed": seed, "runs": [run.as_row() for run in runs]})
    return ExitCode.INTERRUPTED if is_interrupted else _exit_code(runs)


def _exit_code(runs: Sequence[JudgedRun | SkippedRun]) -> ExitCode:
    """That of the worst run; where all were left out there was nothing to do."""
    if all(run.is_left_out for run in runs):
        return ExitCode.BAD_INPUT
    if any(not run.is_sound and not run.is_expected for run in runs):
        return ExitCode.INVARIANT_VIOLATED
    is_sound = all(run.is_sound for run in runs)
    return ExitCode.FINE if is_sound else ExitCode.EXPECTATION_MISSED


def _show_run(run: JudgedRun | SkippedRun) -> None:
    """One run, as soon as it is over."""
    from whitecap.sim.under_fire.verdict import SkippedRun

    title = f"{run.name}, run {run.number}"
    if isinstance(run, SkippedRun):
        click.echo(f"{title}: left out, {run.why}")
        return
    colour = "green" if run.is_sound else "yellow" if run.is_expected else "red"
    outcome = "sound" if run.is_sound else counted(len(run.burnt.judgement.findings), "finding")
    click.echo(f"{title}: {click.style(outcome, fg=colour)}")
    console = new_console()
    for line in _lines(run):
        print_indented(console, line, by=2)


def _lines(verdict: JudgedRun) -> Iterator[str]:
    yield f"{verdict.dialect} simulated, {verdict.version} real"
    yield f"{'':30} {'simulated':>10} {'real':>6}"
    for each in (*verdict.outcomes(), *verdict.anomalies()):
        yield _line(each)
    struck = {**verdict.burnt.struck, "killed": verdict.burnt.deaths}
    strikes = ", ".join(f"{name} {count}" for name, count in struck.items() if count)
    yield f"befell the real ones: {strikes or 'nothing'}"
    for group, why in verdict.expected.lacks.items():
        yield f"left out: {group}, {why}"
    for finding in verdict.burnt.judgement.findings:
        yield f"{finding.anomaly.value}: {finding.sentence}"
    for gap in verdict.burnt.judgement.not_checked:
        yield f"not checked: {gap.what}: {gap.why}"
    for error in verdict.errors():
        yield f"unknown outcome: {error}"
    place = verdict.burnt.directory
    yield f"look again: whitecap oracle {place}/table --history {place}/history.jsonl"


def _line(each: Beside) -> str:
    return f"{each.what:30} {each.simulated:>10} {each.real:>6}"

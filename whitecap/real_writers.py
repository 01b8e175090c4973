"""`whitecap chaos --real`: real writers instead of simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whitecap.exit_codes import ExitCode

if TYPE_CHECKING:
    from whitecap.sim.scenario import Scenario
    from whitecap.sim.under_fire.verdict import LeftOut, Verdict


def chaos_of_real_writers(
    scenarios: Sequence[Scenario],
    numbers: range,
    seed: int,
    out: Path,
    python: str | None,
    as_json: bool,
) -> ExitCode:
    """Tell each run as it comes; Ctrl-C keeps what was told. How the command ends."""
    from whitecap.sim.under_fire.campaign import run_under_fire
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.under_fire import show_run

    runs: list[Verdict | LeftOut] = []
    try:
        for run in run_under_fire(scenarios, numbers, seed, out, python):
            runs.append(run)
            if not as_json:
                show_run(run)
    except KeyboardInterrupt:
        if not runs:
            raise
        click.echo(f"interrupted after {len(runs)} runs; what they left is kept", err=True)
    if as_json:
        print_json({"seed": seed, "runs": [run.as_row() for run in runs]})
    return _exit_code(runs)


def _exit_code(runs: Sequence[Verdict | LeftOut]) -> ExitCode:
    """That of the worst run; where all were left out there was nothing to do."""
    if all(run.is_left_out for run in runs):
        return ExitCode.BAD_INPUT
    if any(not run.is_sound and not run.is_expected for run in runs):
        return ExitCode.INVARIANT_VIOLATED
    is_sound = all(run.is_sound for run in runs)
    return ExitCode.FINE if is_sound else ExitCode.EXPECTATION_MISSED

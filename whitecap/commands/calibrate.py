"""`whitecap calibrate`: measures a store, or takes samples of it, and writes its profile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from whitecap.options.mistakes import gathered_with_options
from whitecap.options.number_lists import numbers_outside
from whitecap.options.types import PlaceOf, WholeNumber

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem
    from whitecap.sim.calibration.measuring import MeasuringPlan
    from whitecap.sim.calibration.samples import Sample
    from whitecap.sim.calibration.target import CalibrationTarget

EXAMPLE = "whitecap run SCENARIO --set store.profile="


@click.command()
@click.argument("target", required=False, metavar="[DIRECTORY|S3_URL]")
@click.option("--out", type=PlaceOf(), help="Write the profile there (.yaml).")
@click.option("--overwrite", is_flag=True, help="Replace the files that lie there.")
@click.option(
    "--samples",
    "given",
    type=PlaceOf(),
    help="Measure nothing: take the samples of this CSV file.",
)
@click.option("--save-samples", type=PlaceOf(), help="Write the samples there.")
@click.option(
    "--count", type=WholeNumber(20, 100_000), default=200, show_default=True,
    help="Requests of each kind.",
)  # fmt: skip
@click.option(
    "--clients", default="1,2,4", show_default=True, metavar="N,...",
    help="How many compete for the next key of a log.",
)  # fmt: skip
@click.option(
    "--for", "duration", default="2 min", show_default=True, metavar="DURATION",
    help="Stop measuring after so long.",
)  # fmt: skip
@click.option("--like", help="The profile of what is not measured. [default: s3; local of a disk]")
@click.option("--endpoint-url", help="Another service with S3's interface.")
@click.option("--nonempty", is_flag=True, help="Measure beside what is there already.")
@click.option("--quiet", is_flag=True, help="No progress.")
def calibrate(
    target: str | None,
    out: Path | None,
    overwrite: bool,
    given: Path | None,
    save_samples: Path | None,
    count: int,
    clients: str,
    duration: str,
    like: str | None,
    endpoint_url: str | None,
    nonempty: bool,
    quiet: bool,
) -> None:
    """Measure the store at a directory or an s3:// URL and make a profile of it.

    Objects of 4 KiB to 4 MiB are written to a folder of its own, which is removed at the end, and
    clients compete for the next key of a log. Without --out the profile is printed. S3 needs
    boto3 (pip install 'whitecap[s3]') and its usual credentials.
    """
    from whitecap.engine.errors import noted
    from whitecap.out_file import not_apart, refused_files
    from whitecap.sim.calibration.calibrating import calibrated
    from whitecap.sim.calibration.samples import read_samples
    from whitecap.sim.loading.profiles import require_shipped
    from whitecap.terminal.progress import progress

    samples: Sequence[Sample]
    with gathered_with_options() as problems:
        problems += _contradictions(target, given)
        problems += refused_files(overwrite, {"--out": out, "--save-samples": save_samples})
        problems += not_apart({"--samples": given, "--out": out})
        with noted(problems):
            if like is not None:
                require_shipped(like, "--like")
        with noted(problems):
            plan = _plan(count, clients, duration)
        if given is not None:
            place, base, samples = str(given), like or "s3", read_samples(given)
        elif target is not None:
            store = _target(target, endpoint_url)
    if given is None:
        place, base = store.place, like or store.like
        samples = _measured(store, plan, nonempty, quiet)
    with progress("fitting", quiet=quiet):
        text = calibrated(samples, place, base)
    _give(text, out, samples, save_samples)


def _give(
    text: str, out: Path | None, samples: Sequence[Sample], save_samples: Path | None
) -> None:
    """Write or print the profile, with what to do with it, and write the samples if asked to."""
    from whitecap.out_file import write_out
    from whitecap.sim.calibration.samples import samples_text

    if save_samples is not None:
        write_out(save_samples, samples_text(samples), "samples")
    write_out(out, text, "profile")
    if out is not None:
        click.echo(f"figures  whitecap stores {_as_file(out)}")
        click.echo(f"use it   {EXAMPLE}{_as_file(out)}")


OF_MEASURING = ("count", "clients", "duration", "endpoint_url", "nonempty")
"""Options that samples of a file leave nothing to do."""


def _contradictions(target: str | None, given: Path | None) -> Iterator[Problem]:
    """Samples from two sources or none, and options that the source leaves nothing to do."""
    from whitecap.engine.errors import Problem

    if (target is None) == (given is None):
        yield Problem("", "give either a directory or an s3:// URL, or --samples FILE.csv")
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        chosen = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if given is not None and chosen and name in OF_MEASURING:
            yield Problem("", f"{parameter.opts[0]} does not go with --samples")


def _as_file(out: Path) -> str:
    return str(out) if out.is_absolute() or len(out.parts) > 1 else f"./{out}"


def _target(place: str, endpoint: str | None) -> CalibrationTarget:
    from whitecap.engine.errors import InvalidInput, Problem
    from whitecap.sim.calibration.directory import DirectoryTarget
    from whitecap.sim.calibration.s3 import S3Target

    if place.startswith("s3://"):
        return S3Target.of(place, endpoint)
    if re.match(r"[\w.+-]{2,}:", place) and not Path(place).exists():
        raise InvalidInput([Problem(place, "is neither a directory nor an s3:// URL")])
    if endpoint is not None:
        raise InvalidInput([Problem("", "--endpoint-url goes with an s3:// URL")])
    if Path(place).is_file():
        said = "is a file, and neither a directory nor an s3:// URL; --samples takes a CSV file"
        raise InvalidInput([Problem(place, said)])
    return DirectoryTarget(Path(place))


def _plan(count: int, clients: str, duration: str) -> MeasuringPlan:
    from whitecap.engine.errors import Problem, gathered
    from whitecap.sim.calibration.measuring import MeasuringPlan

    numbers = [part.strip() for part in clients.split(",")]
    with gathered() as problems:
        problems += [
            Problem("--clients", f"{part!r} is not a number from 1 to 64")
            for part in numbers_outside(numbers, 1, 64)
        ]
        seconds = _seconds(duration)
    return MeasuringPlan(count, clients=tuple(sorted({1, *map(int, numbers)})), seconds=seconds)


def _seconds(duration: str) -> float:
    """How long is measured at most. Raises `InvalidInput`."""
    from whitecap.engine.errors import InvalidInput, Problem
    from whitecap.sim.quantities.units import parse_duration

    try:
        seconds = parse_duration(duration) / 1000
    except ValueError as error:
        raise InvalidInput([Problem("--for", str(error))]) from None
    if not 1 <= seconds <= 24 * 3600:
        raise InvalidInput([Problem("--for", f"{duration!r} is not between 1 s and 1 d")])
    return seconds


def _measured(
    store: CalibrationTarget, plan: MeasuringPlan, nonempty: bool, quiet: bool
) -> Sequence[Sample]:
    from whitecap.engine.errors import InvalidInput, Problem
    from whitecap.sim.calibration.measuring import measure
    from whitecap.terminal.progress import progress

    if not store.is_empty() and not nonempty:
        said = "is not empty: --nonempty measures beside what is there, which is left alone"
        raise InvalidInput([Problem(store.place, said)])
    with progress("measuring", quiet=quiet) as show:

        def tell(done: int, total: int, what: str) -> None:
            show(done, total, f"{what}, {done:,} samples")

        return measure(store, plan, tell)

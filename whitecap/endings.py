"""How a command ends that does not come to its end: a message on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import platform
import re
import select
import shlex
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import click
from msgspec.structs import replace

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.exit_codes import ExitCode, exit_code_of
from whitecap.sim.machine.interruption import was_interrupted

TRACEBACK = "WHITECAP_TRACEBACK"
"""Set to 1, unexpected errors print their traceback instead of writing it to a file."""


def ended_by(error: BaseException, options: Mapping[str, str]) -> ExitCode:
    """Tell what ended the command, with its options by their names in Python; its exit code."""
    match error:
        case ExceptionGroup(exceptions=each):  # of results, as each_done raises it
            codes = [ended_by(single, options) for single in each]
            return next((code for code in codes if code is not ExitCode.READER_GONE), codes[0])
        case KeyboardInterrupt() | click.Abort():
            click.echo(f"interrupted{_what_is_kept(error)}", err=True)
            return ExitCode.INTERRUPTED
        case Exception() if was_interrupted(error):
            click.echo("interrupted", err=True)
            return ExitCode.INTERRUPTED
        case BrokenPipeError() if _stop_writing():
            return ExitCode.READER_GONE
        case RecursionError() if not _shows_tracebacks():
            said = "something is nested too deeply: a statement, a schema, a file"
            click.echo(f"error: {said} ({TRACEBACK}=1 shows where)", err=True)
            return ExitCode.BAD_INPUT
    code = exit_code_of(error)
    if code is None:
        _tell_defect(error)
        return ExitCode.INTERNAL_ERROR
    for message in messages_of(error, options):  # searched for in logs of CI, line by line
        click.echo(f"error: {message}", err=True)
    return code


def messages_of(error: BaseException, options: Mapping[str, str]) -> list[str]:
    """Of each problem; what Python calls `max_runs` goes by its option here."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return [f"{error.filename}: cannot be read: file name too long"]
    if not isinstance(error, InvalidInput):
        return [str(error)]
    return [str(_at_its_option(problem, options)) for problem in error.problems]


_NAME = re.compile(r"^\w+(?= ['\"]|$)")
"""What a place is called by, alone or before what was given there: `vary 'writers=1'`."""


def _at_its_option(problem: Problem, options: Mapping[str, str]) -> Problem:
    place = _NAME.sub(lambda name: options.get(name[0], name[0]), problem.place, count=1)
    return replace(problem, place=place)


def _shows_tracebacks() -> bool:
    return os.environ.get(TRACEBACK, "") not in ("", "0")


def _what_is_kept(error: BaseException) -> str:
    return f": {error}" if isinstance(error, KeyboardInterrupt) and str(error) else ""


def _stop_writing() -> bool:
    """Send nothing more to a reader that is gone, at exit neither; says whether one is."""
    gone = [stream for stream in (sys.stdout, sys.stderr) if _has_no_reader(stream)]
    for stream in gone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return bool(gone)


def _has_no_reader(stream: TextIO) -> bool:
    """Whether what is written here reaches nobody; other pipes (a JVM's) break too."""
    poll = select.poll()
    try:
        poll.register(stream.fileno(), 0)
    except (OSError, ValueError):
        return False
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _tell_defect(error: BaseException) -> None:
    """One line of what happened, and where the rest is."""
    first = next(iter(str(error).splitlines()), "")
    click.echo(f"internal error: {type(error).__name__}{first and f': {first}'}", err=True)
    if _shows_tracebacks():
        click.echo(_details(error), err=True)
        where = "the traceback above"
    else:
        where = str(_written(_details(error)))
    click.echo("This is a defect of Whitecap, not of your input. Please report it with", err=True)
    click.echo(f"  {where}", err=True)
    click.echo(f"and the files that the command names. {TRACEBACK}=1 prints tracebacks.", err=True)


def _details(error: BaseException) -> str:
    from whitecap.sim.machine.code_version import code_version

    trace = "".join(traceback.format_exception(error))
    system = f"Python {platform.python_version()} on {platform.platform()}"
    return f"whitecap {code_version()}, {system}\n{shlex.join(sys.argv)}\n\n{trace}"


def _written(details: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="whitecap-error-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
        file.write(details)
    return Path(name)

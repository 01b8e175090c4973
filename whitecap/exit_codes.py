"""Exit codes of every command, what each says, and which error ends in which.

`--help` and `docs/command-line.md` tell what stands here.
"""

from __future__ import annotations

import errno
from enum import IntEnum

from whitecap.engine.errors import (
    DeltaError,
    InvalidInput,
    InvariantViolated,
    UnfitLibrary,
    UnsupportedFeature,
)


class ExitCode(IntEnum):
    """What a calling script learns.

    70 is `EX_SOFTWARE` of sysexits.h; 130 and 141 are what shells report for a command that was
    ended by Ctrl-C (SIGINT) or by a reader that went away (SIGPIPE).
    """

    FINE = 0
    EXPECTATION_MISSED = 1
    BAD_INPUT = 2
    INVARIANT_VIOLATED = 3
    ENVIRONMENT_MISSING = 4
    NOTHING_COMPARED = 5
    WORSE = 6
    OUT_OF_TIME = 7
    INTERNAL_ERROR = 70
    INTERRUPTED = 130
    READER_GONE = 141

    @property
    def meaning(self) -> str:
        """What the code says, in a few words."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.FINE: "done, and nothing was missed",
    ExitCode.EXPECTATION_MISSED: "what was to be tested does not hold",
    ExitCode.BAD_INPUT: "bad input: a file, an option, a place to write to",
    ExitCode.INVARIANT_VIOLATED: "a run broke a rule of Whitecap's own: a defect",
    ExitCode.ENVIRONMENT_MISSING: "Java, Delta Lake, boto3, memory or disk is missing",
    ExitCode.NOTHING_COMPARED: "nothing could be compared with real Delta Lake",
    ExitCode.WORSE: "worse than the baseline",
    ExitCode.OUT_OF_TIME: "the time was up before all was judged",
    ExitCode.INTERNAL_ERROR: "unexpected error: a defect; details in a file",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C, SIGTERM); what is done is kept",
    ExitCode.READER_GONE: "the reader of the output went away (`| head`)",
}

TESTS = {
    "chaos": "something goes wrong, of a failure that is named",
    "check": "an expectation is missed",
    "conformance": "a case does not hold",
    "explain": "they conflict or damage rows (--fail-on-conflict)",
    "fuzz": "a race ends otherwise on real Delta Lake",
    "replay": "real Delta Lake does not agree",
    "validate": "a share on real Delta Lake is outside of its range",
}
"""Commands that test something, and what 1 says of each; no other command exits 1."""

COMPARING = ("fuzz", "replay")
"""Commands that end in 5 where there was nothing to compare."""


CHECKING = ("check",)
"""Commands that end in 6 where something is worse than a baseline, and in 7 out of time."""


def exit_codes_of(command: str | None) -> dict[ExitCode, str]:
    """The codes that a command can end in, or any of them, with what each says."""
    meanings = {code: code.meaning for code in ExitCode}
    if command in TESTS:
        meanings[ExitCode.EXPECTATION_MISSED] = TESTS[command]
    elif command is not None:
        del meanings[ExitCode.EXPECTATION_MISSED]
    if command == "oracle":
        meanings[ExitCode.INVARIANT_VIOLATED] = "an anomaly is in the table"
    if command not in (None, *COMPARING):
        del meanings[ExitCode.NOTHING_COMPARED]
    if command not in (None, *CHECKING):
        del meanings[ExitCode.WORSE], meanings[ExitCode.OUT_OF_TIME]
    return meanings


_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})
"""The machine refuses: no disk left, or no right to it."""


def exit_code_of(error: BaseException) -> ExitCode | None:
    """The exit code of an error that was raised on purpose, `None` for any other."""
    from whitecap.sim.machine.places import NotWritten
    from whitecap.sim.machine.processes import ProcessKilled
    from whitecap.sim.replay.real.environment import EnvironmentMissing

    match error:
        case OSError(errno=errno.ENAMETOOLONG):
            return ExitCode.BAD_INPUT
        case EnvironmentMissing() | NotWritten() | ProcessKilled() | UnfitLibrary():
            return ExitCode.ENVIRONMENT_MISSING
        case InvariantViolated():
            return ExitCode.INVARIANT_VIOLATED
        case InvalidInput() | UnsupportedFeature() | DeltaError():
            return ExitCode.BAD_INPUT
        case OSError() if error.errno in _NO_ROOM:
            return ExitCode.ENVIRONMENT_MISSING
        case _:
            return None

"""Exit codes of every command, and which error ends in which."""

from __future__ import annotations

from enum import IntEnum

from whitecap.engine.errors import DeltaError, InvalidInput, InvariantViolated, UnsupportedFeature


class ExitCode(IntEnum):
    """What a calling script learns."""

    FINE = 0
    EXPECTATION_MISSED = 1
    BAD_INPUT = 2
    INVARIANT_VIOLATED = 3
    ENVIRONMENT_MISSING = 4
    NOTHING_COMPARED = 5


def exit_code_of(error: BaseException) -> ExitCode | None:
    """The exit code of an error that was raised on purpose, `None` for any other."""
    from whitecap.sim.replay.environment import EnvironmentMissing

    match error:
        case EnvironmentMissing():
            return ExitCode.ENVIRONMENT_MISSING
        case InvariantViolated():
            return ExitCode.INVARIANT_VIOLATED
        case InvalidInput() | UnsupportedFeature() | DeltaError():
            return ExitCode.BAD_INPUT
        case _:
            return None

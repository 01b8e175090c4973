"""What a refusal must say: everything that is wrong at once."""

from __future__ import annotations

from click.testing import Result

from whitecap.engine.errors import InvalidInput
from whitecap.exit_codes import ExitCode


def require_refused(result: Result, *parts: str) -> None:
    """A command refuses its input, and says all of these, wherever its lines are broken."""
    assert result.exit_code == ExitCode.BAD_INPUT, result.output
    text = " ".join(result.stderr.split())
    missing = [part for part in parts if part not in text]
    assert not missing, f"{missing} not in: {text}"


def require_each_once(refused: InvalidInput, *parts: str) -> None:
    """Each of these is said by just one of the problems."""
    problems = [str(problem) for problem in refused.problems]
    counts = {part: sum(part in problem for problem in problems) for part in parts}
    assert set(counts.values()) == {1}, f"{counts} in: {problems}"

"""What is wrong with the values of options: told with everything else that is wrong.

A type that cannot read a value notes that and gives the option's default, for the command to go on
with to its other problems; a command raises what was noted with these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from whitecap.engine.errors import Problem, gathered

_NOTED = "whitecap.mistakes"


def mistakes_of(context: click.Context) -> list[Problem]:
    """What was noted, each once: click reads a command's words as often as it is asked to."""
    return list(dict.fromkeys(context.meta.get(_NOTED, ())))


def note_mistake(
    text: str,
    parameter: click.Parameter | None,
    context: click.Context | None,
    nearest: str | None = None,
) -> Any:
    """Note what is wrong with an option's value; the option's default."""
    if parameter is None or context is None:
        raise click.BadParameter(text, context, parameter)
    problem = Problem(parameter.opts[0], text, nearest)
    context.meta.setdefault(_NOTED, []).append(problem)
    return parameter.get_default(context)


def note_before_others(texts: Iterable[str], context: click.Context) -> None:
    """Note what is wrong with the words themselves, before what is wrong with their values."""
    context.meta[_NOTED] = [*(Problem("", text) for text in texts), *mistakes_of(context)]


@contextmanager
def gathered_with_options() -> Iterator[list[Problem]]:
    """As `gathered`, beginning with what is wrong with the options of the command at work."""
    with gathered() as problems:
        problems += mistakes_of(click.get_current_context())
        yield problems

"""Options and arguments that a command does not take: all of them, where click tells the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from click.core import iter_params_for_processing

from whitecap.engine.errors import nearest
from whitecap.options.mistakes import mistakes_of


def require_usable(
    command: click.Command, name: str, args: Sequence[str], by: click.Context
) -> None:
    """Raises `UsageError` with everything that is wrong with the words after a command."""
    context = click.Context(command, by, name, **command.context_settings)
    if by.resilient_parsing or set(args) & set(context.help_option_names):
        return
    with context.scope(cleanup=False):
        mistakes = list(dict.fromkeys(_mistakes(command, list(args), context)))
    if mistakes:  # else those of values are told by the command, with everything else
        mistakes += map(str, mistakes_of(context))
        raise click.UsageError("\n".join(mistakes), ctx=context)


def _mistakes(command: click.Command, args: list[str], context: click.Context) -> Iterator[str]:
    unknown: list[str] = []
    try:
        given, left, order = _parsed(command, args, context, unknown)
    except click.UsageError as error:
        yield from unknown
        yield error.format_message()
        return
    yield from unknown
    for parameter in iter_params_for_processing(order, command.get_params(context)):
        try:
            _, left = parameter.handle_parse_result(context, given, left)
        except click.UsageError as error:
            yield error.format_message()
    if left and not unknown:  # what follows an unknown option may be its value
        words = "arguments" if left[1:] else "argument"
        yield f"Got unexpected extra {words} ({' '.join(map(str, left))})"


Parsed = tuple[dict[str, object], list[str], list[click.Parameter]]


def _parsed(
    command: click.Command, args: list[str], context: click.Context, unknown: list[str]
) -> Parsed:
    """What click makes of them without the options that there are not, which are noted."""
    while True:
        try:
            given, left, order = command.make_parser(context).parse_args(args=list(args))
            return dict(given), list(left), list(order)
        except click.NoSuchOption as error:
            unknown.append(_no_such_option(error.option_name, command))
            args = _without(error.option_name, args)


def _without(option: str, args: list[str]) -> list[str]:
    """The words but the first that names this option, alone or among letters (`-xyz`)."""
    for at, word in enumerate(args):
        if word.partition("=")[0] == option or (word[:2] != "--" and option[-1] in word[1:]):
            return args[:at] + args[at + 1 :]
    return []


def _no_such_option(option: str, command: click.Command) -> str:
    names = [name for each in command.params for name in (*each.opts, *each.secondary_opts)]
    likely = nearest(option.lstrip("-"), [name[2:] for name in names if name.startswith("--")])
    hint = f" Did you mean '--{likely}'?" if likely else ""
    return f"No such option {option!r}.{hint}"

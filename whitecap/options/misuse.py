"""Words that a command does not take: all of them, where click tells the first.

Where only options are wrong that there are not, the command says what is wrong besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
from click.core import iter_params_for_processing

from whitecap.engine.errors import InvalidInput, nearest
from whitecap.options.mistakes import mistakes_of, note_before_others


def spellings_of(command: click.Command) -> dict[str, str]:
    """Its options by what problems call them: `max_runs` is `--max-runs`."""
    options = [each for each in command.params if isinstance(each, click.Option)]
    by_argument = {str(option.name): option.opts[0] for option in options}
    spelled = {name[2:].replace("-", "_"): name for option in options for name in option.opts}
    return by_argument | spelled


def require_usable(
    command: click.Command, name: str, args: Sequence[str], by: click.Context
) -> None:
    """Raises `UsageError` with everything that is wrong with the words after a command."""
    context = click.Context(command, by, name, **command.context_settings)
    if by.resilient_parsing or set(args) & set(context.help_option_names):
        return
    with context.scope(cleanup=False):
        mistakes = list(_all_mistakes(CommandWords(command, args), context))
    if mistakes:
        raise click.UsageError("\n".join(mistakes), ctx=context)


def _all_mistakes(words: CommandWords, context: click.Context) -> Iterator[str]:
    """With those of values, unless there are no others: the command then tells them itself."""
    misused = list(_misused(words, context))
    if words.unknown and not misused and not words.may_hold_values:
        yield from _said_by_command(words, context)
    elif words.unknown or misused:
        yield from dict.fromkeys([*words.unknown, *misused])
        yield from map(str, mistakes_of(context))


def _said_by_command(words: CommandWords, context: click.Context) -> list[str]:
    """Everything that is wrong, by a command that begins nothing: something is noted before."""
    from whitecap.endings import message_of

    command = words.command
    note_before_others(words.unknown, context)
    try:
        with command.make_context(context.info_name, words.left, context.parent) as asked:
            command.invoke(asked)
    except InvalidInput as error:
        return message_of(error, spellings_of(command)).splitlines()
    return words.unknown


def _misused(words: CommandWords, context: click.Context) -> Iterator[str]:
    try:
        given, extra, order = _parsed(words, context)
    except click.UsageError as error:
        yield error.format_message()
        return
    for parameter in iter_params_for_processing(order, words.command.get_params(context)):
        try:
            _, extra = parameter.handle_parse_result(context, given, extra)
        except click.UsageError as error:
            yield error.format_message()
    if extra and not words.unknown:  # what follows an unknown option may be its value
        named = "arguments" if extra[1:] else "argument"
        yield f"Got unexpected extra {named} ({' '.join(map(str, extra))})"
    words.may_hold_values |= bool(extra)


Parsed = tuple[dict[str, object], list[str], list[click.Parameter]]


def _parsed(words: CommandWords, context: click.Context) -> Parsed:
    """What click makes of them without the options that there are not, which are noted."""
    while True:
        try:
            parser = words.command.make_parser(context)
            given, extra, order = parser.parse_args(args=list(words.left))
            return dict(given), list(extra), list(order)
        except click.NoSuchOption as error:
            words.leave_out(error.option_name)


class CommandWords:
    """The words after a command without options that it does not have, and what is said of those.

    `may_hold_values`: a word that is left may be the value of such an option.
    """

    def __init__(self, command: click.Command, words: Sequence[str]) -> None:
        self.command = command
        self.left = list(words)
        self.unknown: list[str] = []
        self.may_hold_values = False
        self._options = {name: each for each in command.params for name in _names(each)}

    def leave_out(self, option: str) -> None:
        """Without the first word that names this option, and without its value."""
        meant = self._meant(option)
        hint = f" Did you mean {meant!r}?" if meant else ""
        self.unknown.append(f"No such option {option!r}.{hint}")
        at = _place_of(option, self.left)
        after = self.left[at + 1 :]
        values = 0 if "=" in self.left[at] else self._values(meant, after)
        self.left = self.left[:at] + after[values:]

    def _meant(self, option: str) -> str | None:
        long = [name[2:] for name in self._options if name.startswith("--")]
        likely = nearest(option.lstrip("-"), long)
        return f"--{likely}" if likely else None

    def _values(self, meant: str | None, after: Sequence[str]) -> int:
        """How many words after an option are its value, by the option that was meant."""
        if not after or after[0].startswith("-"):
            return 0
        if meant is None:
            self.may_hold_values = True
            return 0
        return 0 if getattr(self._options[meant], "is_flag", False) else 1


def _names(parameter: click.Parameter) -> Sequence[str]:
    return (*parameter.opts, *parameter.secondary_opts)


def _place_of(option: str, args: Sequence[str]) -> int:
    """Where the first word is that names this option, alone or among letters (`-xyz`)."""
    return next(at for at, word in enumerate(args) if _names_option(word, option))


def _names_option(word: str, option: str) -> bool:
    among_letters = word.startswith("-") and word[:2] != "--" and option[-1] in word[1:]
    return word.partition("=")[0] == option or (among_letters and option[:2] != "--")

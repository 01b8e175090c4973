"""Words that a command does not take, or lacks: all of them, where click tells the first.

The command then says what is wrong besides, with what it can take and stand-ins for what it lacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import click
from click.core import iter_params_for_processing

from whitecap.engine.errors import InvalidInput, nearest
from whitecap.options.mistakes import mistakes_of, note_before_others

STAND_IN = f"{os.devnull}/missing"
"""Given in the place of what is missing. No file can be there; what speaks of it is not told."""


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
        mistakes = _all_mistakes(CommandWords(context, args), context)
    if mistakes:
        raise click.UsageError(_EACH.join(mistakes), ctx=context)


_EACH = "\nError: "
"""Click writes it before the first."""


def _all_mistakes(words: CommandWords, context: click.Context) -> list[str]:
    """Nothing where the words themselves are right: the command then tells what else is wrong."""
    words.read()
    if not words.mistakes:
        return []
    note_before_others(words.mistakes, context)
    if words.are_doubtful:
        return list(map(str, mistakes_of(context)))
    return list(_said_by_command(words, context))


def _said_by_command(words: CommandWords, context: click.Context) -> Iterator[str]:
    """Everything that is wrong, by a command that begins nothing: something is noted before."""
    from whitecap.endings import messages_of

    command = context.command
    try:
        with command.make_context(
            context.info_name, words.completed, context.parent, allow_extra_args=True
        ) as asked:
            command.invoke(asked)
    except InvalidInput as error:
        of_words = InvalidInput([each for each in error.problems if STAND_IN not in str(each)])
        yield from messages_of(of_words, spellings_of(command))


class CommandWords:
    """The words after a command that it can take, and what is wrong with the others.

    `are_doubtful`: a word that is left may be the value of an option that there is not.
    """

    def __init__(self, context: click.Context, words: Sequence[str]) -> None:
        self.mistakes: list[str] = []
        self.are_doubtful = False
        self._context = context
        self._has_unknown = False
        self._left = list(words)
        self._lacking: list[click.Parameter] = []
        self._options = {name: each for each in context.command.params for name in _names(each)}

    @property
    def completed(self) -> list[str]:
        """Those that can be taken, with stand-ins for what is missing."""
        options = (each.opts[0] for each in self._lacking if isinstance(each, click.Option))
        arguments = (each for each in self._lacking if isinstance(each, click.Argument))
        given = [word for option in options for word in (option, STAND_IN)]
        return [*given, *self._left, *(STAND_IN for _ in arguments)]

    def read(self) -> None:
        """Read them as click does, past everything that is wrong."""
        given, extra, order = self._parsed()
        parameters = self._context.command.get_params(self._context)
        for parameter in iter_params_for_processing(order, parameters):
            try:
                parameter.handle_parse_result(self._context, given, [])
            except click.MissingParameter as error:
                self.mistakes.append(f"{error.format_message()}{_meaning_of(parameter)}")
                self._lacking.append(parameter)
        if extra:
            self._note_extra(extra)

    def _parsed(self) -> tuple[dict[str, object], list[str], list[click.Parameter]]:
        while True:
            try:
                parser = self._context.command.make_parser(self._context)
                given, extra, order = parser.parse_args(args=list(self._left))
                return dict(given), list(extra), list(order)
            except click.NoSuchOption as error:
                self._leave_unknown(error.option_name)
            except click.BadOptionUsage as error:
                self.mistakes.append(error.format_message())
                self._leave_misused(error.option_name)

    def _note_extra(self, extra: Sequence[str]) -> None:
        """What follows an unknown option may be its value."""
        if self._has_unknown:
            self.are_doubtful = True
            return
        named = "arguments" if extra[1:] else "argument"
        self.mistakes.append(f"Got unexpected extra {named} ({' '.join(extra)})")

    def _leave_unknown(self, option: str) -> None:
        """Without the first word that names this option, and without its value."""
        self._has_unknown = True
        meant = self._meant(option)
        hint = f" Did you mean {meant!r}?" if meant else ""
        self.mistakes.append(f"No such option {option!r}.{hint}")
        at = _place_of(option, self._left)
        after = self._left[at + 1 :]
        values = 0 if "=" in self._left[at] else self._values(meant, after)
        self._left = self._left[:at] + after[values:]

    def _leave_misused(self, option: str) -> None:
        """Without the word that gives a flag a value; without an option at the end that lacks some
        of its values, and those that it has."""
        if getattr(self._options[option], "is_flag", False):
            self._left = [word for word in self._left if not word.startswith(f"{option}=")]
        else:
            last = max(at for at, word in enumerate(self._left) if _names_option(word, option))
            self._left = self._left[:last]

    def _meant(self, option: str) -> str | None:
        long = [name[2:] for name in self._options if name.startswith("--")]
        likely = nearest(option.lstrip("-"), long)
        return f"--{likely}" if likely else None

    def _values(self, meant: str | None, after: Sequence[str]) -> int:
        """How many words after an option are its value, by the option that was meant."""
        if not after or after[0].startswith("-"):
            return 0
        if meant is None:
            self.are_doubtful = True
            return 0
        return 0 if getattr(self._options[meant], "is_flag", False) else 1


def _meaning_of(parameter: click.Parameter) -> str:
    """What to give, as `--help` says it; of an argument its name says it."""
    return f" {parameter.help}" if isinstance(parameter, click.Option) else ""


def _names(parameter: click.Parameter) -> Sequence[str]:
    return (*parameter.opts, *parameter.secondary_opts)


def _place_of(option: str, args: Sequence[str]) -> int:
    """Where the first word is that names this option, alone or among letters (`-xyz`)."""
    return next(at for at, word in enumerate(args) if _names_option(word, option))


def _names_option(word: str, option: str) -> bool:
    among_letters = word.startswith("-") and word[:2] != "--" and option[-1] in word[1:]
    return word.partition("=")[0] == option or (among_letters and option[:2] != "--")

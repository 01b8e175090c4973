"""Errors of the engine, by whose fault they are.

`DeltaError` is what Delta itself would throw for anything that is not a conflict; `InvalidLog`
says that a table's log is broken; `UnsupportedFeature` that a dialect or this engine lacks
something; `InvalidInput` lists every problem of a user's text at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from json import JSONDecodeError
from typing import Self, TypeVar

from msgspec import Struct

from whitecap.engine.spelling import likely_names

A = TypeVar("A")
T = TypeVar("T")


class EngineError(Exception):
    """Base of everything that the engine raises on purpose.

    `args` are what it is made of, so that copies (SimPy makes one, and pickle) say the same.
    """


class UnfitLibrary(EngineError):
    """A package that is installed keeps a library from doing what it is needed for. Exit code 4."""


class DeltaError(EngineError):
    """Delta refuses the operation, other than by a conflict.

    `exception` is Delta's simple class name (`DeltaAnalysisException`, `AssertionError`, ...),
    `error_class` its error class or `None`.
    """

    def __init__(self, exception: str, error_class: str | None, message: str) -> None:
        super().__init__(exception, error_class, message)
        self.exception = exception
        self.error_class = error_class
        self.message = message

    @classmethod
    def of_class(cls, exception: str, error_class: str, text: str) -> Self:
        """One whose message begins with its error class, as Spark's do."""
        return cls(exception, error_class, f"[{error_class}] {text}")

    def __str__(self) -> str:
        return self.message


class RefusedAtCommit(DeltaError):
    """Delta refuses it only once its commit is under way: what came meanwhile has committed."""

    @classmethod
    def of(cls, error: DeltaError) -> RefusedAtCommit:
        """The same refusal, later."""
        return cls(error.exception, error.error_class, error.message)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name most like a misspelt one, in any case, if one is alike enough."""
    return next(iter(likely_names(name, names)), None)


def unknown_name(what: str, name: str, names: Iterable[str]) -> tuple[str, str | None]:
    """What to say of a name that nothing has, with the nearest one or, without one, all of them."""
    valid = list(names)
    likely = nearest(name, valid)
    there_are = "" if likely else f": there are {', '.join(valid) or 'none'}"
    return f"there is no {what} {name!r}{there_are}", likely


class Problem(Struct, frozen=True):
    """One thing wrong with an input: where, what, and the nearest valid name if there is one.

    `refused_as`: the exception and error class with which Spark refuses the same, where known.
    """

    place: str
    text: str
    nearest: str | None = None
    refused_as: tuple[str, str] | None = None

    def __str__(self) -> str:
        hint = f" (did you mean {self.nearest!r}?)" if self.nearest else ""
        return f"{self.place}: {self.text}{hint}" if self.place else f"{self.text}{hint}"


def said_unknown(what: str, name: str, names: Iterable[str]) -> str:
    """The same in one sentence, for a validator, which raises a text alone."""
    return str(Problem("", *unknown_name(what, name, names)))


class InvalidInput(EngineError):
    """A user's text or file is wrong; carries every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def as_refusal(self) -> DeltaError | None:
        """What Spark throws for the first problem, `None` where that is not known."""
        refused_as = self.problems[0].refused_as if self.problems else None
        if refused_as is None:
            return None
        exception, error_class = refused_as
        return DeltaError.of_class(exception, error_class, str(self))


def not_json(error: JSONDecodeError) -> str:
    """Why a text is no JSON."""
    if not error.doc.strip():
        return "it is empty"
    return f"it is no JSON from line {error.lineno}, column {error.colno} on"


def unreadable(place: object, error: Exception) -> InvalidInput:
    """What is raised of a file that cannot be read: the system's words, without its numbers."""
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, UnicodeDecodeError):
        reason = "it is not text in UTF-8"
    elif isinstance(error, JSONDecodeError):
        reason = not_json(error)
    return InvalidInput([Problem(str(place), f"cannot be read: {reason}")])


@contextmanager
def noted(problems: list[Problem]) -> Iterator[None]:
    """Note what is wrong instead of raising it, so that other things are looked at too."""
    try:
        yield
    except InvalidInput as error:
        problems.extend(error.problems)


def each_read(given: Iterable[A], read: Callable[[A], T], problems: list[Problem]) -> list[T]:
    """What is read of each that is given; what is wrong with any is noted, and it left out."""
    values: list[T] = []
    for each in given:
        with noted(problems):
            values.append(read(each))
    return values


@contextmanager
def gathered() -> Iterator[list[Problem]]:
    """Raises `InvalidInput` at the end with all problems that were noted on the way, each once.

    What is not modelled is one of them, where there are others.
    """
    problems: list[Problem] = []
    try:
        with noted(problems):
            yield problems
    except UnsupportedFeature as error:
        if not problems:
            raise
        problems.append(Problem("", str(error)))
    if problems:
        raise InvalidInput(list(dict.fromkeys(problems)))


def require_format(version: object, read: int, place: str, remedy: str) -> None:
    """Raises `InvalidInput` unless a file has the format version that is `read`.

    It says what to do: `remedy` with an older file, with a newer one to upgrade.
    """
    if version == read:
        return
    if isinstance(version, int) and version > read:
        remedy = "a newer Whitecap wrote it, and reads it: pip install --upgrade whitecap"
    text = f"has format version {version}, and this Whitecap reads {read}: {remedy}"
    raise InvalidInput([Problem(place, text)])


class InvalidLog(InvalidInput):
    """A table's log breaks the protocol, or a rule of ours that readers wrongly let pass."""


class DamagedFile(InvalidInput):
    """The bytes of a data file are no whole Parquet file."""


class UnsupportedFeature(EngineError):
    """A command, dialect feature or setting that is not modelled; says which."""


class InvariantViolated(EngineError):
    """A rule of our own is broken: our bug, with what is needed to reproduce it."""

"""What callers from Python give, held to the kind with which its parameter is annotated.

Only texts, paths and sections: numbers are told with what else is wrong (`Effort`, `whole`).
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from msgspec import Struct

from whitecap.engine.errors import Problem, gathered

P = ParamSpec("P")
T = TypeVar("T")


class ArgumentKind(Struct, frozen=True):
    """What a parameter takes: in words, and whether something is it."""

    words: str
    includes: Callable[[Any], bool]


def _is_text(given: Any) -> bool:
    return isinstance(given, str)


def _is_path(given: Any) -> bool:
    return isinstance(given, str | PathLike)


def _is_texts(given: Any) -> bool:
    """Several texts, or a single one, which holds its letters."""
    return isinstance(given, Collection) and all(map(_is_text, given))


def _is_section(given: Any) -> bool:
    return isinstance(given, Mapping)


def _is_path_or_section(given: Any) -> bool:
    return _is_path(given) or _is_section(given)


def _is_scenario(given: Any) -> bool:
    """One that was read, or what one is made of."""
    from whitecap.sim.scenario.model import Scenario

    return isinstance(given, Scenario) or _is_path_or_section(given)


def _is_sections(given: Any) -> bool:
    return isinstance(given, Mapping) and all(map(_is_section, given.values()))


KINDS = {
    "str": ArgumentKind("a text", _is_text),
    "str | Path": ArgumentKind("a path", _is_path),
    "str | Sequence[str]": ArgumentKind("a text or a list of texts", _is_texts),
    "Sweep | str | Path": ArgumentKind("a sweep or a path", _is_path),
    "ScenarioLike": ArgumentKind("a scenario, its path, text or content", _is_scenario),
    "TableLike": ArgumentKind("a table's path, text or content", _is_path_or_section),
    "Mapping[str, str]": ArgumentKind("names with a value each", _is_section),
    "Mapping[str, str | Path]": ArgumentKind("names with a path each", _is_section),
    "Mapping[str, Mapping[str, Any]]": ArgumentKind(
        "names with what each sets, such as {'name': {'path': 1}}", _is_sections
    ),
}
"""By how parameters are annotated, but for the `None` of those that need not be given."""

_OR_NONE = " | None"


def kind_of(parameter: inspect.Parameter) -> ArgumentKind | None:
    """What it takes, if that is looked at here."""
    return KINDS.get(str(parameter.annotation).removesuffix(_OR_NONE))


def of_its_kinds(call: Callable[P, T]) -> Callable[P, T]:
    """The same function, which raises `InvalidInput` with every argument of another kind."""
    parameters = inspect.signature(call).parameters

    @wraps(call)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        given = dict(zip(parameters, args, strict=False)) | kwargs
        with gathered() as problems:
            for name, parameter in parameters.items():
                if name in given:
                    problems += _misfits(parameter, given[name])
        return call(*args, **kwargs)

    return checked


def _misfits(parameter: inspect.Parameter, given: Any) -> list[Problem]:
    kind = kind_of(parameter)
    is_optional = str(parameter.annotation).endswith(_OR_NONE)
    if kind is None or (given is None and is_optional) or kind.includes(given):
        return []
    return [Problem(parameter.name, f"needs {kind.words}, not {reprlib.repr(given)}")]

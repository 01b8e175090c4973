"""What is of another kind than a function of the Python API takes is refused in words."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import whitecap
from whitecap.arguments.kinds import KINDS, kind_of

LOOKED_AT_LATER = {
    "CellChoice", "Mapping[str, Any]", "Run | Sweep | str | Path", "bool", "int",
}  # fmt: skip
"""Told with what is wrong besides (`test_numbers_from_python.py`), or true and false as such."""


def parameters() -> Iterator[tuple[str, inspect.Parameter]]:
    """All of the functions that `import whitecap` offers."""
    for name in whitecap.__all__:
        if inspect.isfunction(offered := getattr(whitecap, name)):
            yield from ((name, each) for each in inspect.signature(offered).parameters.values())


CHECKED = [(name, each) for name, each in parameters() if kind_of(each)]


def needed_by(called: str) -> dict[str, Any]:
    """What a function cannot do without."""
    every = (each for name, each in parameters() if name == called)
    return {each.name: "capacity" for each in every if each.default is each.empty}


@pytest.mark.parametrize(
    ("called", "parameter"),
    [pytest.param(*each, id=f"{each[0]}-{each[1].name}") for each in CHECKED],
)
def test_every_text_path_and_section_of_another_kind_is_told_by_its_name(
    called: str, parameter: inspect.Parameter
) -> None:
    given = needed_by(called) | {parameter.name: 5}
    with pytest.raises(whitecap.InvalidInput, match=rf"^{parameter.name}: needs .+, not 5$"):
        getattr(whitecap, called)(**given)


def test_every_parameter_is_looked_at_somewhere() -> None:
    kinds = {each.annotation.removesuffix(" | None") for _, each in parameters()}
    assert kinds == KINDS.keys() | LOOKED_AT_LATER


VARY = "writers.etl.count=1..3"
WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    (whitecap.run, ("capacity",), {"until": [5]}, "until: needs a text or a list of texts, not"),
    (whitecap.load, (None,), {}, "directory: needs a path, not None"),
    (whitecap.sweep, ({"name": "mine"},), {}, "scenario: needs a path, not {'name': 'mine'}"),
    (whitecap.plan, ("capacity", VARY), {"variants": ["a"]}, "variants: needs names with "),
    (whitecap.plan, ("capacity", VARY), {"variants": {"a": 1}}, "variants: needs names with "),
    (whitecap.run, (None,), {}, "scenario: needs a scenario, its path, text or content, not None"),
    (whitecap.load_scenario, ("events", ["a"]), {}, "changes: needs dotted paths with values"),
    (whitecap.load_scenario, ("events",), {"cell": 3}, "cell: needs a label for each axis"),
    (whitecap.sweep, ("name: x\nseed: 1\n",), {}, "name: x: is the first line of a text where"),
    (whitecap.replay, (5,), {}, "run: needs a run, a sweep or a path, not 5"),
    (whitecap.explain, ("merge-and-optimize", 5, 6), {}, "a: needs a text, not 5\nb: needs a text"),
]


@pytest.mark.parametrize(("asked", "given", "named", "said"), WRONG)
def test_what_is_of_another_kind_is_told_with_what_is_needed(
    asked: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], said: str
) -> None:
    with pytest.raises(whitecap.InvalidInput) as refused:
        asked(*given, **named)
    assert said in str(refused.value)


def test_paths_and_sequences_of_any_kind_are_taken() -> None:
    objectives: Any = {"job_success_rate >= 99 %": None}.keys()
    with pytest.raises(whitecap.InvalidInput, match=r"\A.*'retries'\?\)\Z"):
        whitecap.advise(Path("capacity"), ("retriess",), objective=objectives)


def test_a_parameter_that_there_is_not_is_told_by_python() -> None:
    wrong: Any = {"measures": 5}
    with pytest.raises(TypeError, match=r"compare\(\) got an unexpected keyword argument"):
        whitecap.compare("a", "b", **wrong)

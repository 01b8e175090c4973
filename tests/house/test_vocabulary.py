"""Names say what a thing is, in the field's words: `commit_info`, `live_files`, `verdict`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "sim", "reports", "whitecap", "benchmarks", "tests")

VAGUE = frozenset({"told", "found", "one", "known", "thing", "things", "stuff", "tmp", "res"})
"""Anything could be called so."""


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module gives, with its line: of variables, parameters, fields, functions
    and classes."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield getattr(node, "lineno", 0), name


def _vague(path: Path) -> Iterator[str]:
    for line, name in _names(ast.parse(path.read_text(encoding="utf-8"))):
        if name.strip("_").lower() in VAGUE:
            yield f"{path.relative_to(ROOT)}:{line} {name}"


@pytest.mark.parametrize("room", ROOMS)
def test_no_name_in_a_room_could_be_that_of_anything(room: str) -> None:
    modules = sorted((ROOT / room).rglob("*.py"))
    assert modules
    assert [name for path in modules for name in _vague(path)] == []


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "for one in rows: pass",
        "def verdict(known): pass",
        "class A:\n    told: int",
        "self._known = 1",
        "def _found(): pass",
        "[one for one in rows]",
        "if (told := 1): pass",
    ],
)
def test_a_vague_name_is_seen_wherever_it_is_given(source: str) -> None:
    names = [name.strip("_") for _, name in _names(ast.parse(source))]
    assert VAGUE.intersection(names)

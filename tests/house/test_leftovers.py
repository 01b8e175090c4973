"""What a module defines at its top is used by the product: nothing is kept for tests alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "sim", "reports")
FRONT_DOOR = ("checking", "commands", "deciding", "options", "recordings", "terminal")
READERS = (*ROOMS, *(f"whitecap/{part}" for part in FRONT_DOOR))

LISTED_BY_TYPE = {"engine/log/properties.py"}
"""Its table properties are looked up by their names in the log."""


def _files(folders: tuple[str, ...]) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("whitecap", *(part for part in parts if part != "__init__")))


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]) | ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name


@cache
def _read(tree: ast.Module) -> set[str]:
    """Names that are read."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _used_inside(tree: ast.Module) -> set[str]:
    """Names that are read, and those that stand as texts: annotations, `__all__`."""
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = {text for text in constants if isinstance(text, str) and text.isidentifier()}
    return _read(tree) | texts


@cache
def _used_by_others() -> dict[str, set[str]]:
    """Module -> what others import of it, or ask of it by its name.

    That a package passes a name on is no use of it: somebody must import it from there.
    """
    used: defaultdict[str, set[str]] = defaultdict(set)
    passed_on: list[tuple[str, str, str]] = []
    for path in [*_files(READERS), *(ROOT / "whitecap").glob("*.py")]:
        for name, module, original in _imported(_tree(path)):
            if _passes_on(path) and name not in _read(_tree(path)):
                passed_on.append((_module(path), module, original))
            else:
                used[module].add(original)
            used[f"{module}.{original}"] |= _asked_of_names(path)[name]
    for package, module, name in passed_on:
        if name in used[package]:
            used[module].add(name)
    return used


def _imported(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """What a module imports: the name that it has there, the other module, its name in that."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, node.module, alias.name


def _passes_on(path: Path) -> bool:
    """Whether it is a package of a room; what the front door passes on is for users."""
    return path.name == "__init__.py" and path.parent != ROOT / "whitecap"


@cache
def _asked_of_names(path: Path) -> defaultdict[str, set[str]]:
    """By a module's name what is asked of it: `properties.CHANGE_DATA_FEED`."""
    asked: defaultdict[str, set[str]] = defaultdict(set)
    for node in ast.walk(_tree(path)):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                asked[name].add(attr)
    return asked


@pytest.mark.parametrize("room", ROOMS)
def test_everything_that_a_room_defines_is_used_by_the_product(room: str) -> None:
    paths = [path for path in _files((room,)) if path.relative_to(ROOT).as_posix()
             not in LISTED_BY_TYPE]  # fmt: skip
    assert paths
    unused: dict[str, list[str]] = {}
    for path in paths:
        used = _used_inside(_tree(path)) | _used_by_others()[_module(path)]
        names = [n for n in _defined(_tree(path)) if n not in used and not n.startswith("__")]
        if names:
            unused[path.relative_to(ROOT).as_posix()] = names
    assert not unused

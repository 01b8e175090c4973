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


def _used_inside(tree: ast.Module) -> set[str]:
    """Names that are read, and those that stand as texts: annotations, `__all__`."""
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                used.add(name)
            case ast.Constant(value=str(text)) if text.isidentifier():
                used.add(text)
    return used


@cache
def _used_by_others() -> dict[str, set[str]]:
    """Module -> what others import of it, or ask of it by its name."""
    used: defaultdict[str, set[str]] = defaultdict(set)
    for path in [*_files(READERS), *(ROOT / "whitecap").glob("*.py")]:
        tree = _tree(path)
        imported: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    used[node.module].add(alias.name)
                    imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in imported:
                    used[imported[name]].add(attr)
    return used


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

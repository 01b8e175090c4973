"""What a module defines at its top, and what its classes have, is used by the product: nothing is
kept for tests alone."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from whitecap.sim.recording.recording import SCHEMAS

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "sim", "reports")
FRONT_DOOR = (
    "arguments", "checking", "commands", "deciding", "options", "recordings", "terminal",
)  # fmt: skip
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


# Members of classes -----------------------------------------------------------------------------

ENUMERATIONS = {"Enum", "StrEnum", "IntEnum", "Flag"}
"""Members of these are gone through as a whole."""

ASKED_BY_LIBRARIES = re.compile(r"__\w+__|_repr_\w+_|do_[A-Z]+")
"""By Python itself, by notebooks for what they show, by http.server for a method of HTTP."""

WRITTEN_WHOLE = re.compile(r"\brename=|^Action$|^OneOf$")
"""Structs of a JSON format with names of its own (those of the log): all of it is read and written
at once. Of `OneOf` the alternative that is given is asked for by its name."""


def _members(node: ast.ClassDef) -> Iterator[str]:
    """What a class defines, without what pydantic calls as it checks."""
    for member in node.body:
        match member:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if not any("_validator" in ast.unparse(each) for each in decorators):
                    yield name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                yield name


@cache
def _asked() -> set[str]:
    """Names that the product asks of anything: in code, by texts, in the templates of pages; of
    records the columns of a recording."""
    templates = "".join(path.read_text("utf-8") for path in (ROOT / "reports").rglob("*.html"))
    asked = set(re.findall(r"\.(\w+)", templates))
    asked.update(name for schema in SCHEMAS.values() for name in schema.names)
    for path in [*_files(READERS), *(ROOT / "whitecap").glob("*.py")]:
        tree = _tree(path)
        asked |= _used_inside(tree)
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(attr=attr, ctx=ast.Load()):
                    asked.add(attr)
                case ast.MatchClass(kwd_attrs=names):
                    asked.update(names)
    return asked


def _of_a_library(path: Path, name: str, member: str) -> bool:
    """Whether a class has it from a base that is not ours."""
    parts = name.split(".")
    kind = functools.reduce(getattr, parts, importlib.import_module(_module(path)))
    bases = [base for base in kind.__mro__ if not base.__module__.startswith("whitecap")]
    return any(hasattr(base, member) for base in bases)


def _classes(tree: ast.AST, within: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield f"{within}{node.name}", node
            yield from _classes(node, f"{within}{node.name}.")


@pytest.mark.parametrize("room", ROOMS)
def test_every_member_of_a_class_is_asked_for_by_the_product(room: str) -> None:
    unused = []
    for path in _files((room,)):
        for name, node in _classes(_tree(path)):
            bases = {ast.unparse(each) for each in (*node.bases, *node.keywords)}
            if bases & ENUMERATIONS or any(map(WRITTEN_WHOLE.search, bases)):
                continue
            for member in _members(node):
                is_asked = member in _asked() or ASKED_BY_LIBRARIES.fullmatch(member)
                if not is_asked and not _of_a_library(path, name, member):
                    unused.append(f"{path.relative_to(ROOT).as_posix()}: {name}.{member}")
    assert not unused

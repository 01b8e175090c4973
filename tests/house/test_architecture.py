"""What the pages on the house name is where they say, and no package is missing from that of the
architecture."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "sim", "reports", "whitecap", "scenarios", "tests", "benchmarks")


def _page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


PAGE = _page("architecture.md")

PLACE = re.compile(rf"`((?:{'|'.join(ROOMS)})/[\w/.-]*)(?:: ([^`]+))?`")
PLACES = sorted(
    {
        place
        for page in (PAGE, _page("decisions.md"), _page("fidelity.md"))
        for place in PLACE.findall(page)
    }
)
WITH_NAMES = [(module, names) for module, names in PLACES if names]
WAYS = ("## The way of a statement", "## The way of a commit", "## The way of a scenario")


def _names_in(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """What a module or class defines at its top; members of classes as `Class.member`."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                yield name
                yield from (f"{name}.{member}" for member in _names_in(node))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _packages(room: str) -> set[str]:
    """The folders of a room that hold modules of their own."""
    modules = (path for path in (ROOT / room).rglob("*.py") if path.stem != "__init__")
    return {f"{path.parent.relative_to(ROOT).as_posix()}/" for path in modules}


@pytest.mark.parametrize("place", sorted({place for place, _ in PLACES}))
def test_what_the_pages_name_is_there(place: str) -> None:
    path = ROOT / place
    assert path.is_dir() if place.endswith("/") else path.is_file()


@pytest.mark.parametrize(("module", "names"), WITH_NAMES)
def test_a_module_has_what_the_pages_name_in_it(module: str, names: str) -> None:
    defined = set(_names_in(ast.parse((ROOT / module).read_text(encoding="utf-8"))))
    missing = {name.strip() for name in names.split(",")} - defined
    assert not missing


@pytest.mark.parametrize("room", ["engine", "sim", "reports", "whitecap"])
def test_every_package_of_a_room_is_on_the_page(room: str) -> None:
    named = {place for place, _ in PLACE.findall(PAGE)}
    missing = _packages(room) - named
    assert not missing, f"say what they hold in docs/architecture.md: {sorted(missing)}"


@pytest.mark.parametrize("way", WAYS)
def test_each_way_through_the_house_names_the_functions_on_it(way: str) -> None:
    section = PAGE.split(way)[1].split("\n## ")[0]
    assert len([names for _, names in PLACE.findall(section) if names]) >= 12

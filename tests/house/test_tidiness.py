"""House rules that a machine can hold: sizes, names, and what files may not mention."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 400
MOST_FILES = 20
"""Python files in one folder, not counting those below it."""

ROOMS = ("engine", "sim", "scenarios", "reports", "whitecap")
WITH_WORKSHOPS = (*ROOMS, "benchmarks", "tests")
TYPE_NAME = re.compile(r"[A-Z][a-z]\w*")
TWO_MEANINGS = {"Delete"}
"""A statement of SQL, whose class has its name, and a request of a storage."""

CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
OF_A_FEATURE_AND_ITS_PROPERTY = {"DELETION_VECTORS", "ROW_TRACKING", "TYPE_WIDENING"}
"""A table feature, and the property that switches it on: the log calls both so."""

OF_SEVERAL_THINGS = {*OF_A_FEATURE_AND_ITS_PROPERTY, "NAMES"}
"""`NAMES` are those of properties, and those of the two who race."""

CANNOT_HAVE_SLOTS = {"cached_property": "keeps what it made in the dictionary of its object"}
"""Decorator of a method -> why a dataclass with such a method has no slots."""

ONLY_OF_DATACLASSES = {"init", "compare", "hash", "repr", "metadata"}
"""Options of a field that msgspec does not know."""

BY_CONFIGURATION = {"engine/settings.py": ["Settings"]}
"""Its fields are made by a function, which notes the key of each."""

VAGUE = re.compile(r"(^|_)(manager|utils?|helpers?)(_|$)")
POSSESSIVE = re.compile(r"[)\]][?*+]\+(?!,)|\\[dswDSW][?*+]\+")
"""A repetition that gives nothing back, in a regular expression."""

ABSOLUTE_PATH = re.compile(r"(?<![\w.~$}/:])/(?:home|work|root|Users)/\w")


def _tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / line for line in listing.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_python_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in _tracked("*.py")}
    too_long = {str(p.relative_to(ROOT)): n for p, n in lengths.items() if n > LONGEST_FILE}
    assert not too_long


def _files_at_one_level() -> Counter[str]:
    paths = [path.relative_to(ROOT) for path in _tracked("*.py")]
    return Counter(path.parent.as_posix() for path in paths if path.parts[0] in WITH_WORKSHOPS)


def test_no_folder_holds_more_files_than_a_reader_takes_in() -> None:
    sizes = _files_at_one_level()
    crowded = {folder: n for folder, n in sizes.items() if n > MOST_FILES}
    assert sizes.keys() >= {*WITH_WORKSHOPS}
    assert not crowded


def _public_types(path: Path) -> Iterator[str]:
    """Classes and aliases at the top of a module."""
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) if TYPE_NAME.fullmatch(name):
                yield name


def test_no_public_type_of_the_product_has_two_meanings() -> None:
    homes: dict[str, list[str]] = {}
    for path in _tracked(*(f"{room}/*.py" for room in (*ROOMS, "benchmarks"))):
        for name in _public_types(path):
            if not name.startswith("_"):
                homes.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert len(homes) > 1000
    several = {name: places for name, places in homes.items() if len(places) > 1}
    assert several.keys() == TWO_MEANINGS, several


def _constants(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if CONSTANT.fullmatch(name):
                    yield name


def _imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """A module of the product, and a name that another one has from it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def test_no_constant_that_other_modules_import_has_two_meanings() -> None:
    paths = _tracked(*(f"{room}/*.py" for room in ROOMS))
    taken = {pair for path in paths for pair in _imported_names(path)}
    homes: dict[str, list[str]] = {}
    for path in paths:
        place = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        module = f"whitecap.{place.removeprefix('whitecap.')}"
        for name in _constants(path):
            if (module, name) in taken:
                homes.setdefault(name, []).append(module)
    assert len(homes) > 300
    several = {name: places for name, places in homes.items() if len(places) > 1}
    assert several.keys() == OF_SEVERAL_THINGS, several


def _dataclasses(tree: ast.Module) -> Iterator[ast.ClassDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and _made_by_dataclass(node):
            yield node


def _made_by_dataclass(node: ast.ClassDef) -> list[str]:
    decorators = map(ast.unparse, node.decorator_list)
    return [text for text in decorators if text.startswith("dataclass")]


def _lacks_slots(node: ast.ClassDef) -> bool:
    return any("slots=True" not in text for text in _made_by_dataclass(node))


def _keeps_what_it_made(node: ast.ClassDef) -> bool:
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    decorators = {ast.unparse(each) for method in methods for each in method.decorator_list}
    return not decorators.isdisjoint(CANNOT_HAVE_SLOTS)


def _has_what_no_struct_has(node: ast.ClassDef) -> bool:
    """A base that is no struct, or fields outside constructor, comparison or text."""
    bases = [base for base in map(ast.unparse, node.bases) if not base.startswith("Generic[")]
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    options = {keyword.arg for each in fields for keyword in _options(each.value)}
    kinds = {ast.unparse(each.annotation) for each in fields}
    return bool(bases or options & ONLY_OF_DATACLASSES or "KW_ONLY" in kinds)


def _options(value: ast.expr | None) -> list[ast.keyword]:
    is_made = isinstance(value, ast.Call) and ast.unparse(value.func).split(".")[-1] == "field"
    return value.keywords if is_made and isinstance(value, ast.Call) else []


def _named(wrong: Callable[[ast.ClassDef], bool]) -> dict[str, list[str]]:
    """Dataclasses of the product with which something is wrong, by their files."""
    paths = _tracked(*(f"{room}/*.py" for room in (*ROOMS, "benchmarks", "notebooks")))
    assert paths
    named = {path: filter(wrong, _dataclasses(ast.parse(path.read_text()))) for path in paths}
    names = {path: [node.name for node in nodes] for path, nodes in named.items()}
    return {
        str(path.relative_to(ROOT)): wrong_ones for path, wrong_ones in names.items() if wrong_ones
    }


def test_a_dataclass_has_slots_unless_something_keeps_it_from_having_them() -> None:
    assert not _named(lambda node: _lacks_slots(node) and not _keeps_what_it_made(node))


def test_a_class_of_values_is_a_struct_unless_it_has_what_no_struct_has() -> None:
    could_be = _named(lambda node: not (_keeps_what_it_made(node) or _has_what_no_struct_has(node)))
    assert could_be == BY_CONFIGURATION


def test_no_module_has_a_vague_name() -> None:
    assert not [path for path in _tracked("*.py") if VAGUE.search(path.stem)]


@pytest.mark.parametrize("pattern", ["*.py", "*.md", "*.yaml", "*.toml", "Makefile", ".ci/run"])
def test_no_file_names_a_place_on_one_machine(pattern: str) -> None:
    for path in _tracked(pattern):
        if path == Path(__file__):
            continue
        place = ABSOLUTE_PATH.search(path.read_text())
        assert not place, f"{path.relative_to(ROOT)}: {place.group() if place else ''}"


def test_no_pattern_takes_possessively_which_python_before_3_11_5_reads_wrongly() -> None:
    """Debian 12 has such a Python; https://github.com/python/cpython/issues/106052."""
    texts = {path: path.read_text(encoding="utf-8") for path in _tracked("*.py")}
    assert not [str(path) for path, text in texts.items() if POSSESSIVE.search(text)]


def test_every_module_says_what_lives_there() -> None:
    for path in _tracked("*.py"):
        assert path.read_text().lstrip().startswith('"""'), path.relative_to(ROOT)


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.ImportFrom(module=str(module)):
                yield module
            case ast.Import(names=names):
                yield from (each.name for each in names)


def test_tests_call_each_other_s_modules_by_one_name() -> None:
    """Under a second name a module is loaded a second time, and its classes are others."""
    paths = _tracked("tests/*.py")
    own = {path.stem for path in paths}
    assert not {
        str(path.relative_to(ROOT)): module
        for path in paths
        for module in _imported(path)
        if module in own
    }

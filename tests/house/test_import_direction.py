"""The rooms may import only in the direction of the house plan: engine <- sim <- whitecap.

Inside a room its packages have one direction too; those of the engine, that of `ENGINE_LAYERS`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_IMPORT = {
    "engine": {"engine"},
    "scenarios": {"scenarios"},
    "sim": {"engine", "scenarios", "sim"},
    "reports": {"engine", "reports"},
    "whitecap": {"engine", "scenarios", "sim", "reports", "whitecap"},
}
"""Room -> the rooms it may import from (docs/decisions.md 1)."""

REPORTS_MAY_USE = {"engine.documents", "engine.recorded", "engine.rules", "engine.errors"}
"""Of the engine, the reports know what recordings hold, a refusal's rule by its name among it, and
how to refuse bad input, no more."""

ONE_HOME = {
    "simpy": {"sim/time/kernel.py"},
    "py4j": {"sim/replay"},
}
"""Library -> the only places that may import it."""

ENGINE_LAYERS = (
    ("spelling",),
    ("column_names", "errors", "packed", "remembered", "rules"),
    ("values", "isolation", "settings", "storage"),
    ("row_store",),
    ("log",),
    ("log.features",),
    ("log.checkpoints",),
    ("log.clients", "log.columns", "log.vectors", "refusals", "outcomes", "dialects"),
    ("recorded", "storage.disk"),
    ("documents",),
    ("sql.expressions",),
    ("sql.functions",),
    ("sql.predicates",),
    ("conflicts",),
    ("row_level",),
    ("transaction",),
    ("sql.parsing",),
    ("session",),
    ("query.pushdown",),
    ("query",),
    ("writing",),
    ("commands.schema",),
    ("commands.maintenance",),
    ("commands.features",),
    ("commands.rows",),
    ("commands",),
    ("plans",),
    ("races",),
    ("races.conformance", "races.interleaving"),
    ("races.explain", "races.matrix"),
)
"""The packages of the engine, from the ground up: each may import from those of lower layers only.

A package is a folder, or a module that stands alone at the top.
"""

FORBIDDEN_IN_ENGINE = {"simpy", "pyspark", "delta", "random", "time", "threading", "asyncio"}


def _modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import():
                names.update(alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                names.add(module)
    return {_in_its_room(name) for name in names}


def _in_its_room(name: str) -> str:
    """`whitecap.engine.errors` is `engine.errors`: its file is `engine/errors.py`."""
    inner = name.removeprefix("whitecap.")
    return inner if inner.split(".")[0] in MAY_IMPORT else name


def _roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in _imported(path)}


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_from_the_rooms_it_may(room: str) -> None:
    for path in _modules(room):
        forbidden = (_roots(path) & set(MAY_IMPORT)) - MAY_IMPORT[room]
        assert not forbidden, f"{path.relative_to(ROOT)} imports {sorted(forbidden)}"


def test_reports_use_of_the_engine_only_what_is_recorded_and_errors() -> None:
    for path in _modules("reports"):
        used = {name for name in _imported(path) if name.split(".")[0] == "engine"}
        assert used <= REPORTS_MAY_USE, f"{path.relative_to(ROOT)} imports {sorted(used)}"


def test_nothing_in_the_engine_can_read_a_clock_a_random_number_or_another_thread() -> None:
    for path in _modules("engine"):
        forbidden = _roots(path) & FORBIDDEN_IN_ENGINE
        assert not forbidden, f"{path.relative_to(ROOT)} imports {sorted(forbidden)}"


@pytest.mark.parametrize("library", sorted(ONE_HOME))
def test_a_library_with_one_home_is_imported_nowhere_else(library: str) -> None:
    for room in MAY_IMPORT:
        for path in _modules(room):
            place = path.relative_to(ROOT).as_posix()
            at_home = any(place.startswith(home) for home in ONE_HOME[library])
            assert at_home or library not in _roots(path), f"{place} imports {library}"


def _package_of(module: str) -> str:
    """The folder of a module, below its room; a module at the top of a room is its own."""
    inner = module.split(".")[1:]
    folder = (ROOT / module.replace(".", "/")).is_dir()
    return ".".join(inner if folder or len(inner) == 1 else inner[:-1])


def _is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def _modules_imported(path: Path) -> Iterator[str]:
    """What a file imports, anywhere in it; of a package the module that is asked for."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import():
                yield from (_in_its_room(alias.name) for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                package = _in_its_room(module)
                for alias in node.names:
                    submodule = f"{package}.{alias.name}"
                    yield submodule if _is_module(submodule) else package


def _imports_between_packages(room: str) -> dict[tuple[str, str], str]:
    """(Package that imports, package that it imports from) -> a file that does so."""
    imports: dict[tuple[str, str], str] = {}
    for path in _modules(room):
        place = path.relative_to(ROOT)
        stem = place.parent if path.stem == "__init__" else place.with_suffix("")
        importing = _package_of(".".join(stem.parts))
        for module in _modules_imported(path):
            imported = _package_of(module)
            if module.split(".")[0] == room and imported != importing:
                imports.setdefault((importing, imported), place.as_posix())
    return imports


def _circle(imports: dict[tuple[str, str], str]) -> str | None:
    """The first circle of packages, each step with a file that makes it."""
    packages = TopologicalSorter[str]()
    for importing, imported in imports:
        packages.add(importing, imported)
    try:
        packages.prepare()
    except CycleError as error:
        steps = pairwise(error.args[1][::-1])
        return "; ".join(f"{pair[0]} -> {pair[1]} in {imports[pair]}" for pair in steps)
    return None


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_the_packages_of_a_room_go_in_no_circle(room: str) -> None:
    assert _circle(_imports_between_packages(room)) is None


def test_a_package_of_the_engine_imports_from_lower_layers_only() -> None:
    layer_of = {package: n for n, layer in enumerate(ENGINE_LAYERS) for package in layer}
    imports = _imports_between_packages("engine")
    assert {package for pair in imports for package in pair} == layer_of.keys()
    for (importing, imported), place in imports.items():
        lower = layer_of[imported] < layer_of[importing]
        assert lower, f"{place}: {importing} imports {imported}, which is not below it"

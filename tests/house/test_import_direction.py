"""The rooms may import only in the direction of the house plan: engine <- sim <- whitecap."""

from __future__ import annotations

import ast
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

REPORTS_MAY_USE = {"engine.recorded", "engine.errors"}
"""Of the engine, the reports know what recordings hold and how to refuse bad input, no more."""

ONE_HOME = {
    "simpy": {"sim/kernel.py"},
    "py4j": {"sim/replay"},
}
"""Library -> the only places that may import it."""

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

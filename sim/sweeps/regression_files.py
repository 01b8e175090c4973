"""Regression scenarios as files: which of them state an `expect:`, read, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem, noted
from whitecap.sim.bundled import bundled_in, read_named
from whitecap.sim.loading import cell_of, load_scenario
from whitecap.sim.machine.processes import Processes
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.sweep import DEFAULT_REPLICATIONS
from whitecap.sim.scenario.yaml.text import YamlText


class LoadedScenario(Struct, frozen=True):
    """A scenario file: its cells with their labels, or what is wrong with it."""

    path: Path
    name: str = ""
    cells: tuple[tuple[Mapping[str, str], Scenario], ...] = ()
    replications: int = DEFAULT_REPLICATIONS
    problems: tuple[Problem, ...] = ()
    seed: int = 0


Accept = Callable[[Sequence[LoadedScenario]], list[Problem]]
"""Says what is wrong with these scenarios for whoever wants them run."""


def load_regressions(
    paths: Sequence[Path], processes: Processes, accept: Accept | None
) -> list[LoadedScenario]:
    """The scenarios at these paths. Raises `InvalidInput` with every problem, as `accept` does."""
    files, problems = _files_in(paths, needs_expectations=accept is None)
    loaded = list(processes.map(_loaded, files))
    problems += [problem for each in loaded for problem in each.problems]
    if accept and not problems:
        problems += accept(loaded)
    if problems:
        raise InvalidInput(problems)
    return loaded


def require_runnable(paths: Sequence[Path], *, needs_expectations: bool) -> None:
    """Raises `InvalidInput` with every problem of the scenarios at these paths; runs nothing."""
    files, problems = _files_in(paths, needs_expectations)
    problems += [problem for file in files for problem in _loaded(file).problems]
    if problems:
        raise InvalidInput(problems)


def _loaded(path: Path) -> LoadedScenario:
    try:
        scenario = load_scenario(path)
    except InvalidInput as error:
        return LoadedScenario(path, problems=error.problems)
    return LoadedScenario(
        path,
        scenario.name,
        _cells_of(scenario),
        scenario.replications,
        seed=scenario.seed,
    )


def _cells_of(scenario: Scenario) -> tuple[tuple[Mapping[str, str], Scenario], ...]:
    """The cells of its sweep; itself, without labels, if it has none."""
    if scenario.sweep is None:
        return (({}, scenario),)
    return tuple((labels, cell_of(scenario, labels)) for labels in scenario.sweep.cells())


def _files_in(paths: Sequence[Path], needs_expectations: bool) -> tuple[list[Path], list[Problem]]:
    """The files to run, and what is wrong with `paths`.

    Of a folder, also of a bundled one, those with an `expect:`. A file that is named itself must
    have one only if `needs_expectations`.
    """
    problems: list[Problem] = []
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files.update(dict.fromkeys(_expecting(sorted(path.rglob("*.yaml")), problems)))
        elif inside := bundled_in(str(path)):
            names = [Path(each.name) for each in inside if not each.is_table]
            files.update(dict.fromkeys(_expecting(names, problems)))
        else:
            files[path] = None
            if needs_expectations and _expects_nothing(path):
                problems.append(Problem(str(path), "expects nothing: it has no `expect:`"))
    if not files and not problems:
        listed = ", ".join(str(path) for path in paths)
        problems.append(Problem(listed, "no scenario with an `expect:` lies there"))
    return list(files), problems


def _expecting(paths: Sequence[Path], problems: list[Problem]) -> Iterator[Path]:
    for path in paths:
        content = _content_of(path, problems)
        if content is not None and "expect" in content:
            yield path


def _expects_nothing(path: Path) -> bool:
    """Of a file that has keys; what else is wrong with it is told where it is loaded."""
    content = _content_of(path, [])
    return content is not None and "expect" not in content


def _content_of(path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    """The keys of a file, `None` if it cannot be read, which is noted, or has none."""
    content: Any = None
    with noted(problems):
        content = read_named(path).last_given
    return content if isinstance(content, dict) else None


def line_of_expectation(text: YamlText, labels: Mapping[str, str], number: int) -> int:
    """The line of a cell's expectation, by its number among those of the cell."""
    content = text.content if isinstance(text.content, dict) else {}
    stated = enumerate(content.get("expect") or [])
    own = [
        position for position, each in stated if (each.get("when") or {}).items() <= labels.items()
    ]
    return text.line_of(("expect", *own[number : number + 1]))

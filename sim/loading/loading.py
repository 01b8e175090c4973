"""From a scenario file to a checked `Scenario`, or to all of its problems at once.

Names that a scenario refers to are filled in first: the store's profile and catalogued faults. Then
every part is validated; parts that are well formed are checked against each other even where others
are not, so that one look at the message is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace
from pydantic import ValidationError

from whitecap.engine.errors import (
    InvalidInput,
    Problem,
    noted,
    require_format,
)
from whitecap.sim.bundled import read_named
from whitecap.sim.loading import real_tables
from whitecap.sim.loading.cells import document_of_cell
from whitecap.sim.loading.checks.agreement import Parts, disagreements
from whitecap.sim.loading.checks.expectations import commands_nobody_runs
from whitecap.sim.loading.dotted_paths import changed_as_can_be
from whitecap.sim.loading.named_parts import filled_in
from whitecap.sim.loading.profiles import with_profiles
from whitecap.sim.loading.traces import with_traces
from whitecap.sim.scenario.cells import CellChoice, Labels, show_cell
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.model import SCENARIO_FORMAT, Document, Scenario
from whitecap.sim.scenario.problems import problems_of
from whitecap.sim.scenario.store import StoreSection
from whitecap.sim.scenario.sweep import Changes, SweepSection
from whitecap.sim.scenario.yaml.text import YamlText, show_document

ESSENTIAL = frozenset({"duration", "table", "tables", "store", "writers"})
"""A document that has none of these is something else, whose keys are not told one by one."""

OF_STORES = StoreSection.model_fields.keys() - Scenario.model_fields.keys()
"""The keys by which a store profile is told."""


def load_scenario(
    path: Path | str,
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: CellChoice | None = None,
) -> Scenario:
    """Read, fill in and check a scenario; `changes` are applied last (dotted paths).

    `path` is a file, or the name of a bundled scenario (`events`).

    With `cells`, every cell of its sweep is checked too. With `cell` (axis -> label, or its name)
    it is the scenario of that cell alone; an axis may be left out if it has a single label.

    Raises:
        InvalidInput: everything that is wrong, each with file, line, path and nearest valid name.
    """
    return _checked(read_named(Path(str(path))), changes or {}, cells, cell)


def parse_scenario(
    text: str,
    name: str = "scenario",
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: CellChoice | None = None,
) -> Scenario:
    """As `load_scenario`, from text."""
    return _checked(YamlText(text, name), changes or {}, cells, cell)


def scenario_of(
    document: Document,
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: CellChoice | None = None,
) -> Scenario:
    """As `load_scenario`, from a scenario's `document`."""
    name = str(document.get("name", "scenario"))
    return parse_scenario(show_document(document), name, changes, cells=cells, cell=cell)


def unwritten_scenario(document: Document) -> Scenario:
    """As `scenario_of`, for callers who ask whether there can be such a scenario at all.

    It gives the same scenario for a document that YAML can hold, several times as fast; problems
    have no lines.
    """
    name = str(document.get("name", "scenario"))
    return _checked(YamlText.unwritten(document, name), {}, False, None)


def cell_of(scenario: Scenario, cell: Labels) -> Scenario:
    """The scenario of one cell of its sweep. Raises `InvalidInput`."""
    return scenario_of(scenario.document, cell=cell).is_of(scenario.source)


def _checked(text: YamlText, changes: Changes, cells: bool, choice: CellChoice | None) -> Scenario:
    _require_scenario(text)
    document, labels, unread = _read(text, changes, choice)
    document, wrong_traces = with_traces(document, Path(text.path).parent)
    scenario, parts, problems = _validated(document, text)
    problems = text.repeated_keys + unread + problems + wrong_traces
    if cells and choice is None:
        problems += _problems_of_cells(document, parts.expectations, text, problems)
    if scenario is None or problems:
        raise InvalidInput(text.in_order(problems))
    return scenario.comes_from(document, text.name if text.path else "", labels, changes)


def _read(
    text: YamlText, changes: Changes, choice: CellChoice | None
) -> tuple[Document, Labels, list[Problem]]:
    """The document with its own files read, of the cell of `choice`, and with `changes` set.

    Returns with it all labels of the cell, and what could not be read or set. Raises `InvalidInput`
    where the log of a real table cannot be read: without it nothing else can be checked.
    """
    labels: Labels = {}
    problems: list[Problem] = []
    folder = Path(text.path).parent
    document = with_profiles(text.last_given, folder, problems)
    document, unread_logs = real_tables.pinned(document, folder, text)
    if choice is not None:
        with noted(problems):
            labels, document = document_of_cell(document, choice, text)
    text.notes_changes(changes)
    given_changes = with_profiles(dict(changes), Path(), problems)
    read_changes, unread_logs_of_changes = real_tables.pinned(given_changes, Path(), text)
    if unread_logs + unread_logs_of_changes:
        unread = unread_logs + unread_logs_of_changes
        raise InvalidInput(text.in_order(text.repeated_keys + problems + unread))
    return changed_as_can_be(document, read_changes, problems), labels, problems


def _require_scenario(text: YamlText) -> None:
    """Raises `InvalidInput`, with what to do: a file of another format is not read in part."""
    if not isinstance(text.last_given, dict):
        said = "is not a scenario: it needs keys with values, such as `duration: 1 h`"
        raise InvalidInput([Problem(text.name, said)])
    version = text.last_given.get("format_version", SCENARIO_FORMAT)
    if isinstance(version, int):
        remedy = "docs/scenario-keys.md has the keys of this one"
        require_format(version, SCENARIO_FORMAT, text.where(("format_version",)), remedy)
    if ESSENTIAL.isdisjoint(text.last_given):
        raise InvalidInput([Problem(text.name, _what_else_it_is(text.last_given))])


def _what_else_it_is(document: Document) -> str:
    """What to say of a document with no key that every scenario has."""
    if document.keys() & OF_STORES:
        return "is a store profile, not a scenario: a scenario names it under `store:`"
    return "is not a scenario: it has neither `table:` nor `writers:`, `store:` or `duration:`"


def _validated(document: Document, text: YamlText) -> tuple[Scenario | None, Parts, list[Problem]]:
    filled, problems = filled_in(document, text)
    scenario = None
    try:
        scenario = Scenario.model_validate(filled)
    except ValidationError as error:
        problems += problems_of(error, Scenario, text)
    parts = Parts.of(filled)
    problems += disagreements(parts, text)
    return scenario, parts, problems


def _problems_of_cells(
    document: Document,
    expectations: Mapping[int, Expectation],
    text: YamlText,
    of_document: list[Problem],
) -> list[Problem]:
    """Problems that only a cell of the sweep has, told once per variant that brings them."""
    try:
        sweep = SweepSection.model_validate(document.get("sweep"))
    except ValidationError:
        return []
    of_cells: dict[tuple[str, str], Problem] = {}
    reported = {(problem.place, problem.text) for problem in of_document}
    for cell in sweep.cells():
        meant = {n: e for n, e in expectations.items() if e.when.items() <= cell.items()}
        plain = {key: part for key, part in document.items() if key not in ("sweep", "expect")}
        within = text.setting({p: ("sweep", *at) for p, at in sweep.places(cell).items()})
        for problem in _problems_of_cell(plain, sweep.changes(cell), meant, within):
            said = (problem.place, problem.text)
            if said not in reported:
                place = f"{text.where(('sweep',))} ({show_cell(cell)}): {problem.place}"
                of_cells.setdefault(said, Problem(place, problem.text, problem.nearest))
    return list(of_cells.values())


def _problems_of_cell(
    document: Document, changes: Changes, meant: dict[int, Expectation], text: YamlText
) -> list[Problem]:
    """What is wrong with a cell, and with the expectations of it (`meant`), by their position."""
    unset: list[Problem] = []
    _, parts, problems = _validated(changed_as_can_be(document, changes, unset), text)
    vain = commands_nobody_runs(meant, parts.writers, len(parts.tables))
    unset = [replace(each, place=text.where(tuple(each.place.split(".")))) for each in unset]
    return unset + problems + text.problems(vain)

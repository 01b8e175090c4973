"""From a scenario file to a checked `Scenario`, or to all of its problems at once.

Names that a scenario refers to are filled in first: the store's profile and catalogued faults. Then
every part is validated; parts that are well formed are checked against each other even where others
are not, so that one look at the message is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from whitecap.engine.errors import (
    InvalidInput,
    Problem,
    gathered,
    nearest,
    noted,
    require_format,
    unknown_name,
)
from whitecap.scenarios import SCENARIOS
from whitecap.sim.bundled import read_named
from whitecap.sim.loading import profiles, real_tables
from whitecap.sim.loading.checks.agreement import Parts, disagreements
from whitecap.sim.loading.checks.expectations import commands_nobody_runs
from whitecap.sim.loading.profiles import merged, with_profiles
from whitecap.sim.loading.traces import with_traces
from whitecap.sim.scenario.expect import Expectation
from whitecap.sim.scenario.model import SCENARIO_FORMAT, Document, Scenario
from whitecap.sim.scenario.problems import problems_of
from whitecap.sim.scenario.sweep import Changes, Labels, SweepSection, show_cell
from whitecap.sim.scenario.yaml_text import KeyPath, YamlText, read_shipped, show_document

FAULT_CATALOGUE = SCENARIOS / "faults.yaml"


def load_scenario(
    path: Path | str,
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: Labels | None = None,
) -> Scenario:
    """Read, fill in and check a scenario; `changes` are applied last (dotted paths).

    `path` is a file, or the name of a bundled scenario (`events`).

    With `cells`, every cell of its sweep is checked too. With `cell` (axis -> label) it is the
    scenario of that cell alone; an axis may be left out if it has a single label.

    Raises:
        InvalidInput: everything that is wrong, each with file, line, path and nearest valid name.
    """
    return _checked(read_named(Path(path)), changes or {}, cells, cell)


def parse_scenario(
    text: str,
    name: str = "scenario",
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: Labels | None = None,
) -> Scenario:
    """As `load_scenario`, from text."""
    return _checked(YamlText(text, name), changes or {}, cells, cell)


def scenario_of(
    document: Document,
    changes: Changes | None = None,
    *,
    cells: bool = True,
    cell: Labels | None = None,
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


def _cell(document: Document, given: Labels, text: YamlText) -> tuple[Labels, Document]:
    """All labels of a cell, and the document with its changes. Raises `InvalidInput`."""
    try:
        sweep = SweepSection.model_validate(document.get("sweep"))
    except ValidationError as error:
        if "sweep" not in document:
            raise InvalidInput([Problem(text.name, "has no sweep, and so no cells")]) from None
        raise InvalidInput(problems_of(error, SweepSection, text, ("sweep",))) from None
    labels = sweep.cell(given)
    return labels, changed(_document_of(labels, document), sweep.changes(labels))


def _document_of(cell: Labels, document: Document) -> Document:
    """The document without its sweep, and of its expectations those for this cell."""
    plain = {key: value for key, value in document.items() if key != "sweep"}
    if isinstance(plain.get("expect"), list):
        plain["expect"] = [_said_plainly(e) for e in plain["expect"] if _is_for(cell, e)]
    return plain


def _is_for(cell: Labels, expectation: Any) -> bool:
    when = expectation.get("when") if isinstance(expectation, dict) else None
    return not isinstance(when, dict) or when.items() <= cell.items()


def _said_plainly(expectation: Any) -> Any:
    if not isinstance(expectation, dict):
        return expectation
    return {key: value for key, value in expectation.items() if key != "when"}


def changed(document: Document, changes: Changes) -> Document:
    """A copy of `document` with each dotted path set. Raises `InvalidInput`."""
    with gathered() as problems:
        return _changed_as_can_be(document, changes, problems)


def _changed_as_can_be(document: Document, changes: Changes, problems: list[Problem]) -> Document:
    """A copy with each path set that can be; notes why others cannot."""
    result: Document = _apart(document)
    for path, value in changes.items():
        with noted(problems):
            *parents, last = path.split(".")
            _require_named(path, parents, result)
            _holder(result, path, parents)[last] = _apart(value)
    return result


def _holder(document: Document, path: str, parents: Sequence[str]) -> Document:
    """The part of a document that holds the last part of a path; it is made if it is not there."""
    holder = document
    for part in parents:
        if part == "store" and isinstance(holder.get(part), str):
            holder[part] = {"profile": holder[part]}
        holder = holder.setdefault(part, {})
        if not isinstance(holder, dict):
            raise InvalidInput([Problem(path, f"{part!r} holds no keys")])
    return holder


BY_NAME = {"writers": "writer", "tables": "table"}
"""Sections of a scenario whose keys are names -> what these name."""


def _require_named(path: str, parents: Sequence[str], document: Document) -> None:
    """A part of a writer can only be set where there is that writer: it would be half of one.

    So it is with a table.
    """
    if len(parents) < 2 or parents[0] not in BY_NAME:
        return
    named = document.get(parents[0])
    if isinstance(named, dict) and parents[1] not in named:
        said = unknown_name(BY_NAME[parents[0]], parents[1], map(str, named))
        raise InvalidInput([Problem(path, *said)])


def _apart(value: Any) -> Any:
    """A copy in which no two places share a part, as YAML's anchors and aliases make them do."""
    match value:
        case dict():
            return {key: _apart(part) for key, part in value.items()}
        case list():
            return [_apart(part) for part in value]
        case _:
            return value


def _checked(text: YamlText, changes: Changes, cells: bool, given: Labels | None) -> Scenario:
    _require_scenario(text)
    document, labels, unread = _read(text, changes, given)
    document, wrong_traces = with_traces(document, Path(text.path).parent)
    scenario, parts, problems = _validated(document, text)
    problems = unread + problems + wrong_traces
    if cells and given is None:
        problems += _problems_of_cells(document, parts.expectations, text, problems)
    if scenario is None or problems:
        raise InvalidInput(text.in_order(problems))
    return scenario.comes_from(document, text.name if text.path else "", labels, changes)


def _read(
    text: YamlText, changes: Changes, given: Labels | None
) -> tuple[Document, Labels, list[Problem]]:
    """The document with its own files read, of the cell that is `given`, and with `changes` set.

    Returns with it all labels of the cell, and what could not be read or set. Raises `InvalidInput`
    where the log of a real table cannot be read: without it nothing else can be checked.
    """
    labels: Labels = {}
    problems: list[Problem] = []
    folder = Path(text.path).parent
    document = with_profiles(text.content, folder, problems)
    document, unread_logs = real_tables.pinned(document, folder, text)
    if given is not None:
        with noted(problems):
            labels, document = _cell(document, given, text)
    text.notes_changes(changes)
    given_changes = with_profiles(dict(changes), Path(), problems)
    read_changes, unread_logs_of_changes = real_tables.pinned(given_changes, Path(), text)
    if unread_logs + unread_logs_of_changes:
        raise InvalidInput(problems + unread_logs + unread_logs_of_changes)
    return _changed_as_can_be(document, read_changes, problems), labels, problems


def _require_scenario(text: YamlText) -> None:
    """Raises `InvalidInput`, with what to do: a file of another format is not read in part."""
    if not isinstance(text.content, dict):
        said = "is not a scenario: it needs keys with values, such as `duration: 1 h`"
        raise InvalidInput([Problem(text.name, said)])
    version = text.content.get("format_version", SCENARIO_FORMAT)
    if isinstance(version, int):
        remedy = "docs/scenario-keys.md has the keys of this one"
        require_format(version, SCENARIO_FORMAT, text.where(("format_version",)), remedy)


def _validated(document: Document, text: YamlText) -> tuple[Scenario | None, Parts, list[Problem]]:
    filled, problems = _filled_in(document, text)
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
    of_cells: dict[str, Problem] = {}
    reported = {problem.text for problem in of_document}
    for cell in sweep.cells():
        meant = {n: e for n, e in expectations.items() if e.when.items() <= cell.items()}
        plain = {key: part for key, part in document.items() if key not in ("sweep", "expect")}
        for problem in _problems_of_cell(plain, sweep.changes(cell), meant, text):
            if problem.text not in reported:
                place = f"{text.where(('sweep',))} ({show_cell(cell)}): {problem.place}"
                of_cells.setdefault(problem.text, Problem(place, problem.text, problem.nearest))
    return list(of_cells.values())


def _problems_of_cell(
    document: Document, changes: Changes, meant: dict[int, Expectation], text: YamlText
) -> list[Problem]:
    """What is wrong with a cell, and with the expectations of it (`meant`), by their position."""
    unset: list[Problem] = []
    _, parts, problems = _validated(_changed_as_can_be(document, changes, unset), text)
    vain = commands_nobody_runs(meant, parts.writers, len(parts.tables))
    return unset + problems + text.problems(vain)


def _filled_in(document: Document, text: YamlText) -> tuple[Document, list[Problem]]:
    """The document with tables, store profile and catalogued faults in place of their names."""
    filled, problems = real_tables.filled_in(document, text)
    if "store" in filled:
        filled["store"] = profiles.filled_in(filled["store"], text, problems)
    if isinstance(filled.get("writers"), dict):
        filled["writers"] = {
            name: _with_log_store(group, ("writers", name, "log_store"), text, problems)
            for name, group in filled["writers"].items()
        }
    if isinstance(filled.get("faults"), list):
        filled["faults"] = [
            _fault(fault, position, text, problems)
            for position, fault in enumerate(filled["faults"])
        ]
    return filled, problems


def _with_log_store(group: Any, place: KeyPath, text: YamlText, problems: list[Problem]) -> Any:
    """A writer group with the log store of the profile that it names."""
    name = group.get("log_store") if isinstance(group, dict) else None
    if not isinstance(name, str):
        return group
    try:
        profile = profiles.profile_named(name)
    except InvalidInput:
        profile_names = profiles.shipped_profiles()
        said = f"no store profile {name!r} has a log store: there are {', '.join(profile_names)}"
        problems.append(Problem(text.where(place), said, nearest(name, profile_names)))
        return {key: part for key, part in group.items() if key != "log_store"}
    return {**group, "log_store": profile.log_store.model_dump(mode="json")}


def _fault(given: Any, position: int, text: YamlText, problems: list[Problem]) -> Any:
    overrides = {"use": given} if isinstance(given, str) else given
    if not isinstance(overrides, dict) or "use" not in overrides:
        return given
    catalogue = read_shipped(FAULT_CATALOGUE).content
    name = str(overrides["use"])
    if name not in catalogue:
        said = unknown_name("catalogued fault", name, catalogue)
        problems.append(Problem(text.where(("faults", position, "use")), *said))
        name = next(iter(catalogue))
    rest = {key: value for key, value in overrides.items() if key != "use"}
    return merged(_by_plan_if_said(catalogue[name], rest), rest)


def _by_plan_if_said(catalogued: Document, overrides: Document) -> Document:
    """A catalogued fault without its probability, where it is to strike the nth request."""
    return {
        key: {k: v for k, v in part.items() if k != "probability"}
        if isinstance(part, dict) and _says_nth(overrides.get(key))
        else part
        for key, part in catalogued.items()
    }


def _says_nth(override: Any) -> bool:
    return isinstance(override, dict) and "nth" in override

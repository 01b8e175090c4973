"""Real tables that a scenario names by `from`: the newest version is pinned, and keys filled in.

A document names a table by its whole path and at a version, so that whoever is given the document
(a worker, a recording, a replay) begins with the same files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from whitecap.engine.dialects import DEFAULT_DIALECT, DIALECTS
from whitecap.engine.errors import InvalidInput, Problem
from whitecap.sim.real_table.keys import keys_of
from whitecap.sim.real_table.places import shown_place
from whitecap.sim.real_table.reading import RealTable, read_table, table_at_version
from whitecap.sim.real_table.refusals import refusals_of
from whitecap.sim.recording.dataset.place import is_uri, local_path
from whitecap.sim.scenario.model import Document
from whitecap.sim.scenario.yaml.text import KeyPath, YamlText

TABLE, TABLES, FROM, VERSION = "table", "tables", "from", "version"

REAL_TABLE_KEYS = ("schema", "partition_by", "cluster_by", "exists", "initial")
"""Keys that a table with `from` does not take: its log says them."""


def pinned(document: Document, folder: Path, text: YamlText) -> tuple[Document, list[Problem]]:
    """The document with the whole path and a version of each table that it names, and what is
    wrong with these. Paths are relative to the `folder` of the scenario.
    """
    pinning = _Pinning(folder, text)
    return pinning.filled(document, ()), pinning.problems


class _Pinning(Struct):
    """Wherever a table is named: in `table` and `tables`, and among the paths that a sweep sets."""

    folder: Path
    text: YamlText
    problems: list[Problem] = field(default_factory=list)

    def filled(self, value: Any, place: KeyPath) -> Any:
        """A part of a document at its `place`."""
        match value:
            case dict():
                return self._keys({k: self.filled(v, (*place, k)) for k, v in value.items()}, place)
            case list():
                return [self.filled(part, (*place, at)) for at, part in enumerate(value)]
            case _:
                return value

    def _keys(self, value: dict[Any, Any], place: KeyPath) -> dict[Any, Any]:
        for key, source in list(value.items()):
            if _names_a_table((*place, key)) and isinstance(source, str):
                whole = _whole(source, self.folder)
                version = f"{str(key).removesuffix(FROM)}{VERSION}"
                value[key] = whole
                if value.get(version) is None:
                    value[version] = self._newest(whole, (*place, key))
        return value

    def _newest(self, source: str, place: KeyPath) -> int | None:
        where = self.text.where(place)
        try:
            _require_no_secret(source)
            return read_table(source).snapshot.version
        except InvalidInput as error:
            self.problems += [Problem(where, str(problem)) for problem in error.problems]
            return None


def _names_a_table(place: KeyPath) -> bool:
    """Whether it is `table.from` or `tables.<name>.from`, as keys or as a dotted path."""
    *_, table, name, last = ("", "", *".".join(map(str, place)).split("."))
    return last == FROM and (name == TABLE or table == TABLES)


def _whole(source: str, folder: Path) -> str:
    return source if is_uri(source) else str((folder / local_path(source)).absolute())


def _require_no_secret(source: str) -> None:
    """Raises `InvalidInput` for a URI that holds a password: every recording would hold it too."""
    if is_uri(source) and urlsplit(source).password:
        said = "holds a password, which recordings would hold too: leave it to the environment"
        raise InvalidInput([Problem(shown_place(source), said)])


def filled_in(document: Document, text: YamlText) -> tuple[Document, list[Problem]]:
    """The document with what their logs say of tables that it names, and with a `start` then."""
    filling = _Filling(text, document.get("dialect"))
    filled = dict(document)
    if isinstance(filled.get(TABLE), dict):
        filled[TABLE] = filling.table(filled[TABLE], (TABLE,))
    if isinstance(filled.get(TABLES), dict):
        filled[TABLES] = {
            name: filling.table(table, (TABLES, name)) for name, table in filled[TABLES].items()
        }
    if filling.newest_ms and filled.get("start") is None:
        instant = datetime.fromtimestamp(filling.newest_ms / 1000, UTC)
        filled["start"] = instant.replace(tzinfo=None).isoformat(" ")
    return filled, filling.problems


class _Filling(Struct):
    """Makes tables whole; `newest_ms` is when the last of their versions was committed."""

    text: YamlText
    dialect: Any
    problems: list[Problem] = field(default_factory=list)
    newest_ms: int = 0

    def table(self, given: Any, place: KeyPath) -> Any:
        """A table with what its log says of it, if it names one."""
        if not isinstance(given, dict) or not isinstance(given.get(FROM), str):
            return given
        try:
            table = table_at_version(given[FROM], _version(given))
        except InvalidInput as error:
            where = self.text.where((*place, FROM))
            raise InvalidInput([Problem(where, str(each)) for each in error.problems]) from None
        wrong = [*_contradictions(given, table), *((FROM, r) for r in refusals_of(table.snapshot))]
        self.problems += [Problem(self.text.where((*place, key)), said) for key, said in wrong]
        self.newest_ms = max(self.newest_ms, table.snapshot.timestamp_ms)
        dialect = DIALECTS.get(str(self.dialect), DEFAULT_DIALECT)
        return keys_of(table, {k: v for k, v in given.items() if k not in REAL_TABLE_KEYS}, dialect)


def _version(given: Mapping[str, Any]) -> int:
    version = given.get(VERSION)
    if isinstance(version, int) and not isinstance(version, bool):
        return version
    raise InvalidInput([Problem(VERSION, f"needs a whole number, not {version!r}")])


def _contradictions(given: Mapping[str, Any], table: RealTable) -> Iterator[tuple[str, str]]:
    for key in REAL_TABLE_KEYS:
        if given.get(key) is not None:
            yield key, f"{key} is that of the table at {table.place}: leave it out, or from"
    columns = table.snapshot.partition_columns
    values = given.get("values")
    for name in values if isinstance(values, dict) else ():
        if name not in columns:
            said = f"values of {name!r}, which is no partition column, are not in the log of"
            yield "values", f"{said} {table.place}: give them to the parameter, with among"

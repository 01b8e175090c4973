"""Scenarios and tables that come with Whitecap, found by name, also where it is installed.

A name is that of the file without its ending, with or without its folder: `events`, `late-commit`,
`regression/late-commit`. A user's own file goes before: `events` means `events.yaml` of the working
directory where there is one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from whitecap.engine.errors import InvalidInput, Problem
from whitecap.engine.spelling import likely_names
from whitecap.scenarios import SCENARIOS
from whitecap.sim.scenario.yaml.text import YamlText, read_yaml

TABLES = "explain"
"""The folder of small tables with two statements each, for `whitecap explain`."""

NO_SCENARIOS = frozenset({"faults.yaml", "prices.yaml", "restarts.yaml", "stores"})
"""What scenarios name: catalogues, and profiles of stores."""

ENDINGS = (".yaml", ".yml")

MOST_ALIKE = 3
"""Names that an unknown one is answered with."""

EDITOR_LINE = "# yaml-language-server: $schema="
"""What names the schema at the top of a file: the convention of YAML's language server."""


class Bundled(Struct, frozen=True):
    """One bundled file. `folder` is empty for what lies in none."""

    folder: str
    stem: str

    @property
    def name(self) -> str:
        """What names it, whatever else is there."""
        return f"{self.folder}/{self.stem}" if self.folder else self.stem

    @property
    def file(self) -> Path:
        """Where it lies."""
        return SCENARIOS / f"{self.name}.yaml"

    @property
    def is_table(self) -> bool:
        """Whether it is for `whitecap explain`; the others are scenarios."""
        return self.folder == TABLES


@lru_cache(maxsize=1)
def all_bundled() -> tuple[Bundled, ...]:
    """Everything that can be named: what lies in no folder first, then folder by folder."""
    files = [path.relative_to(SCENARIOS) for path in SCENARIOS.rglob("*.yaml")]
    named = [path for path in files if path.parts[0] not in NO_SCENARIOS]
    return tuple(
        Bundled(path.parent.as_posix() if path.parent.name else "", path.stem)
        for path in sorted(named, key=lambda path: (path.parent, path.stem))
    )


def bundled_in(folder: str) -> list[Bundled]:
    """What a folder holds, nothing if there is none of that name; shells complete it with a `/`."""
    name = folder.rstrip("/")
    return [each for each in all_bundled() if each.folder == name and name]


def bundled_named(name: str) -> Bundled:
    """The scenario or table of that name. Raises `InvalidInput` with the nearest names."""
    named = {**_by_name(tables=False), **_by_name(tables=True)}
    if name not in named:
        raise InvalidInput([_unknown(Path(name), named)])
    return named[name]


def text_to_start_from(bundled: Bundled) -> str:
    """The file, asking for a schema that lies beside it, wherever it will lie."""
    text = bundled.file.read_text(encoding="utf-8")
    return text.replace(f"{EDITOR_LINE}../", EDITOR_LINE, 1)


def read_named(given: Path, *, tables: bool = False) -> YamlText:
    """The file that a user means: one of their own, or a bundled scenario (or table).

    Raises `InvalidInput`: there is neither, or it is not YAML.
    """
    first, *more = str(given).splitlines() or [""]
    if more:
        said = "is the first line of a text where a file is named: write the text to a file"
        raise InvalidInput([Problem(first, said)])
    own = _own_file(given)
    if own is not None:
        return read_yaml(own)
    named = _by_name(tables=tables)
    if str(given) in named:
        return read_yaml(named[str(given)].file, str(given))
    if os.path.exists(given):
        return read_yaml(given)
    if given.suffix not in ENDINGS:
        raise InvalidInput([_unknown(given, named)])
    return _read_with_hint(given, named)


def _own_file(given: Path) -> Path | None:
    """What lies there, with or without its ending; a folder is no file."""
    candidates = [given] if given.suffix in ENDINGS else [given, Path(f"{given}.yaml")]
    return next((each for each in candidates if os.path.isfile(each)), None)


def _by_name(*, tables: bool) -> Mapping[str, Bundled]:
    """All scenarios, or all tables, by each name that they go by."""
    there = [each for each in all_bundled() if each.is_table == tables]
    return {name: each for each in there for name in (each.stem, each.name)}


def _read_with_hint(given: Path, named: Mapping[str, Bundled]) -> YamlText:
    """A file that is not there: perhaps it is bundled (`scenarios/events.yaml`), or misspelt."""
    try:
        return read_yaml(given)
    except InvalidInput as error:
        hint = given.stem if given.stem in named else next(iter(_beside(given)), None)
        raise InvalidInput([Problem(p.place, p.text, hint) for p in error.problems]) from None


def _unknown(given: Path, named: Mapping[str, Bundled]) -> Problem:
    if given.as_posix() in _folders(named):
        return Problem(str(given), f"is a folder of bundled ones: `whitecap scenarios {given}`")
    alike = _beside(given) or _alike(given.name, named)
    nearest = f": did you mean {' or '.join(alike)}?" if alike else ""
    said = "is not there, and nothing bundled has that name (`whitecap scenarios`)"
    return Problem(str(given), f"{said}{nearest}")


def _beside(given: Path) -> list[str]:
    """Folders and scenarios where it was looked for that are called nearly so; of a path only."""
    if len(given.parts) < 2 or not os.path.isdir(given.parent):
        return []
    there = sorted(e for e in given.parent.iterdir() if e.is_dir() or e.suffix in ENDINGS)
    named = {_without_ending(each): each for each in there}
    return [str(named[name]) for name in likely_names(_without_ending(given), named)[:MOST_ALIKE]]


def _without_ending(path: Path) -> str:
    return path.stem if path.suffix in ENDINGS else path.name


def _folders(named: Mapping[str, Bundled]) -> set[str]:
    return {each.folder for each in named.values() if each.folder}


def _alike(name: str, named: Mapping[str, Bundled]) -> list[str]:
    """The nearest names, without their folders, and those of folders."""
    names = {each.stem for each in named.values()} | _folders(named)
    return likely_names(name, sorted(names))[:MOST_ALIKE]

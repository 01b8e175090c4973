"""Where the results of a run go: the recording, its tables, the history of its writers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from whitecap.engine.errors import Problem
    from whitecap.sim.run import FinishedRun
    from whitecap.sim.scenario.model import Scenario


class ResultPlaces(Struct, frozen=True):
    """What is written where; nothing of what has no place."""

    out: Path | None
    export: Path | None
    history: Path | None
    tables: tuple[str, ...] = ("",)
    """Names of the tables that are exported; of an unread scenario one without a name."""

    def of(self, scenario: Scenario) -> ResultPlaces:
        """The same for the tables of a scenario."""
        return replace(self, tables=tuple(table.name for table in scenario.all_tables))

    @property
    def exports(self) -> dict[str, Path]:
        """Where each table is exported to: several of them below the directory that is given."""
        if self.export is None:
            return {}
        if len(self.tables) == 1:
            return {self.tables[0]: self.export}
        return {name: self.export / name for name in self.tables}

    def problems(self, *, overwrite: bool) -> list[Problem]:
        """Before the work: what cannot be written of all that is asked for?"""
        from whitecap.sim.machine.places import refused_places, require_file
        from whitecap.sim.oracles.history import BEGINS
        from whitecap.sim.recording.recording import require_free_for_run
        from whitecap.sim.table.export import require_free_for_table

        free_for_run = partial(require_free_for_run, overwrite=overwrite)
        free_for_table = partial(require_free_for_table, overwrite=overwrite)
        return [
            *refused_places(free_for_run, self.out),
            *refused_places(free_for_table, *self.exports.values()),
            *refused_places(partial(require_file, begins=BEGINS), self.history),
            *self._within_each_other(),
        ]

    def write(
        self, finished: FinishedRun, *, data: bool, overwrite: bool
    ) -> Iterator[WrittenPlaces]:
        """Write what is asked for beside the recording; after each step what is written by then.

        Raises `NotWritten`, whose `result` is the run.
        """
        from whitecap.sim.machine.places import written
        from whitecap.sim.table.export import export_table

        recorded = replace(self, export=None, history=None)
        yield WrittenPlaces(recorded)
        versions = {}
        for name, place in self.exports.items():
            store = finished.world.table_named(name).store
            export = partial(export_table, store, data=data, overwrite=overwrite)
            versions[name] = written(finished, export, place)
        yield WrittenPlaces(replace(self, history=None), versions)
        if self.history is not None:
            written(finished, partial(_write_history, finished), self.history)
            yield WrittenPlaces(self, versions)

    def _within_each_other(self) -> Iterator[Problem]:
        from whitecap.engine.errors import Problem
        from whitecap.out_file import not_apart

        given = (self.out, *self.exports.values())
        directories = [each.absolute() for each in given if each is not None]
        for directory, other in combinations(directories, 2):
            if directory.is_relative_to(other) or other.is_relative_to(directory):
                yield Problem("", "--out and --export must not lie within each other")
        file = None if self.history is None else self.history.absolute()
        if file is not None and any(each.is_relative_to(file) for each in directories):
            yield Problem("", "--history is a file, and --out or --export a directory there")
            return
        into = {"--out": self.out, "--export": self.export}
        yield from not_apart({"--history": self.history}, into)


class WrittenPlaces(Struct, frozen=True):
    """What was written, with the version of each table that was exported."""

    places: ResultPlaces = ResultPlaces(None, None, None)
    versions: Mapping[str, int] = {}


def _write_history(finished: FinishedRun, file: Path) -> None:
    """What the writers of a run know, for `whitecap oracle`."""
    from whitecap.sim.machine.places import write_whole
    from whitecap.sim.oracles.history import history_lines
    from whitecap.sim.oracles.runs.of_run import history_of

    names = [table.name for table in finished.scenario.all_tables]
    lines = [
        history_lines(history_of(finished, name), name if len(names) > 1 else None)
        for name in names
    ]
    write_whole(file, b"".join(lines))

"""The table of a replay on disk: laid out as the recording has it at a version, and moved on.

The whole recorded table is written once; each layout shares its data files and has as much of its
log as is wanted. Recorded commits can be put on top one by one, as another engine would commit
them, as long as no command has committed on the layout itself: files that a real command writes
have other names than recorded ones.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from whitecap.engine.log.commit_file import LOG_DIRECTORY
from whitecap.sim.replay.real.tables import commit_files, forget_table, name_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Stage:
    """Layouts of one recorded table, each in a folder of its own, called `name` in SQL.

    `recorded` is the whole table as a Delta table on disk, its log beginning with version 0.
    """

    def __init__(self, spark: SparkSession, recorded: Path, work: Path, name: str) -> None:
        self._spark = spark
        self._recorded = recorded
        self._work = work
        self._name = name
        self._layouts = 0
        self.table = recorded

    def lay_out(self, version: int) -> Path:
        """Set the table up as it was at `version`; returns its folder."""
        self._layouts += 1
        self.table = self._work / f"layout-{self._layouts}"
        kept = {path.name for path in commit_files(self._recorded)[: version + 1]}
        shutil.copytree(
            self._recorded, self.table, copy_function=_shared, ignore=_of_the_log_all_but(kept)
        )
        name_table(self._spark, self._name, self.table)
        return self.table

    def put(self, version: int) -> None:
        """Put the recorded commit of `version` on top."""
        name = commit_files(self._recorded)[version].name
        shutil.copyfile(self._recorded / LOG_DIRECTORY / name, self.table / LOG_DIRECTORY / name)

    def close(self) -> None:
        """Take back the name; the folders stay."""
        forget_table(self._spark, self._name)


def _shared(source: str, place: str) -> str:
    """The same file under another name: nobody changes a file of a Delta table."""
    os.link(source, place)
    return place


def _of_the_log_all_but(kept: set[str]) -> Callable[[str, list[str]], set[str]]:
    """Leaves out other commits, and what repeats them: checkpoints, checksums."""

    def others(folder: str, names: list[str]) -> set[str]:
        return set(names) - kept if Path(folder).name == LOG_DIRECTORY else set()

    return others

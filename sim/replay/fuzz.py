"""The engine against a real Delta Lake on races drawn at random, until time is up.

What real Delta does is the expectation; a race on which the engine does otherwise is made smaller
as long as the difference stays, and is then a conformance case of its own.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from whitecap.engine.races.conformance.case import CaseResult, CaseStatus, StatementCase
from whitecap.engine.races.conformance.compare import skipped
from whitecap.engine.races.conformance.run import run_cases
from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.replay.drawing.races import DrawnRace, draw_race
from whitecap.sim.replay.real.environment import EnvironmentMissing
from whitecap.sim.replay.real.jvm import Jvm
from whitecap.sim.replay.real.releases import release_here
from whitecap.sim.replay.real.session import delta_session
from whitecap.sim.replay.statement_cases import Templates, race

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHRINKS = 30
"""Smaller races that are tried at most; each costs real commits. Ours."""

EXPECTED_KEYS = (
    "current",
    "winner",
    "rerun",
    "error_class",
    "version",
    "isolation_level",
    "is_blind_append",
    "rows",
)
"""What is compared of a race."""


class FuzzedRace(Struct, frozen=True):
    """One race and how the engine did on it; `case` expects what real Delta did."""

    case: StatementCase
    result: CaseResult

    @property
    def differs(self) -> bool:
        """Whether the engine did something else than real Delta."""
        return self.result.status is CaseStatus.FAILED


class Fuzzer:
    """Plays drawn races on both engines."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._templates = Templates(spark, folder / "templates")

    def play(self, drawn: DrawnRace) -> FuzzedRace:
        """One race on both engines; skipped, with the reason, if the real one cannot play it."""
        case = replace(drawn.case(), dialect=release_here().dialect)
        try:
            case = self.observed(case)
        except EnvironmentMissing:
            raise
        except Exception as trouble:  # the next race is none the worse for it
            reraise_interruption(trouble)
            self._spark.range(1).count()  # else there is no next race: the session is gone
            return FuzzedRace(case, skipped(case, f"not played on real Delta: {trouble}"))
        (result,) = run_cases([case])
        return FuzzedRace(case, result)

    def observed(self, case: StatementCase) -> StatementCase:
        """The case with what real Delta did as its expectation."""
        place = self._folder / "race"
        asking = replace(case, expect={"rows": []})
        try:
            facts = race(self._spark, asking, self._templates, place)
        finally:
            shutil.rmtree(place, ignore_errors=True)
            Jvm(self._spark).forget_tables()
        expect = {key: _plain(facts[key]) for key in EXPECTED_KEYS if key in facts}
        return replace(case, expect=expect)

    def shrink(self, drawn: DrawnRace, finding: FuzzedRace) -> FuzzedRace:
        """The smallest race found on which the engines still differ."""
        tries = SHRINKS
        smallest = finding
        candidates = drawn.smaller()
        while tries > 0:
            smaller = next(candidates, None)
            if smaller is None:
                break
            tries -= 1
            smaller_finding = self.play(smaller)
            if smaller_finding.differs:
                drawn, smallest, candidates = smaller, smaller_finding, smaller.smaller()
        return smallest


def fuzz(
    minutes: float,
    seed: int,
    spark: SparkSession | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[FuzzedRace]:
    """Play races of a seed for so many minutes from the first one on; differences come shrunk.

    Raises EnvironmentMissing.
    """
    folder = Path(tempfile.mkdtemp(prefix="whitecap-fuzz-"))
    fuzzer = Fuzzer(spark or delta_session(), folder)
    number = 0
    deadline = clock() + minutes * 60
    try:
        while clock() < deadline:
            drawn = draw_race(seed, number)
            finding = fuzzer.play(drawn)
            yield fuzzer.shrink(drawn, finding) if finding.differs else finding
            number += 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def save_case(case: StatementCase, folder: Path) -> Path:
    """Write a case as a file that `whitecap conformance` reads. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.id}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode([case]), indent=1) + b"\n")
    return path


def _plain(value: Any) -> Any:
    """Rows with values as a case file holds them."""
    match value:
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case date() | datetime():
            return value.isoformat()
        case _:
            return value

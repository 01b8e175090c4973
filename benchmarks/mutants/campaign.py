"""The one campaign that all bugs are hunted with: drawn, and run without any bug, once for all.

What a run draws is tried on the engine, so that a bug in it would draw another campaign; and a run
in which the code without a bug goes wrong, because of its faults, cannot show one. So every run is
drawn and made in a process without a bug, and kept if nothing is wrong with it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from benchmarks.mutants.mutant import ROOT

if TYPE_CHECKING:
    from whitecap.sim.chaos.swarm import DrawnVariation

SEED = 20_261_122

NAMES = (
    "one-of-each", "same-rows", "lost-replies", "small-files", "under-compaction", "other-stores",
    "rows-and-conditions", "plain-appends",
)  # fmt: skip
"""What is varied, in turn."""

SCENARIOS = tuple(f"benchmarks/mutants/scenarios/{name}.yaml" for name in NAMES)

KEPT = ROOT / "out/mutants"

ROOMS = ("engine", "sim")
"""What a run depends on, besides the scenarios."""


class CleanRun(Struct, frozen=True):
    """What a run without any bug came to: if anything is wrong, what, and what it follows from."""

    number: int
    anomaly: str = ""
    cause: str = ""

    @property
    def shows_bugs(self) -> bool:
        """Whether what goes wrong in it with a bug is the bug's doing."""
        return not self.anomaly


class HuntingCampaign(Struct, frozen=True):
    """The runs of one state of the source, as files: `NUMBER.pickle` holds what was drawn."""

    directory: Path

    @classmethod
    def of_this_source(cls) -> HuntingCampaign:
        """That of the source as it is now."""
        return cls(KEPT / source_hash())

    def clean(self, number: int) -> CleanRun | None:
        """What is known of a run without any bug."""
        path = self.directory / f"{number}.json"
        return msgspec.json.decode(path.read_bytes(), type=CleanRun) if path.exists() else None

    def missing(self, numbers: Sequence[int]) -> list[int]:
        """Those that are still to be made."""
        return [number for number in numbers if self.clean(number) is None]

    def prepare(self, number: int) -> CleanRun:
        """Draw a run, make it, judge it, and keep both: in a process without any bug."""
        drawn = _drawn(number)
        clean = _judged(drawn, number)
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / f"{number}.pickle").write_bytes(pickle.dumps(drawn))
        (self.directory / f"{number}.json").write_bytes(msgspec.json.encode(clean))
        return clean

    @property
    def races(self) -> dict[str, tuple[str, ...]] | None:
        """How the races of the small world end without any bug, where they were played."""
        path = self.directory / "races.json"
        if not path.exists():
            return None
        return msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[str, ...]])

    def keep_races(self, races: dict[str, tuple[str, ...]]) -> None:
        """Keep that."""
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "races.json").write_bytes(msgspec.json.encode(races))

    def variations(self, numbers: Sequence[int]) -> Iterator[tuple[int, DrawnVariation]]:
        """The runs that show bugs, with their numbers."""
        for number in numbers:
            clean = self.clean(number)
            if clean is not None and clean.shows_bugs:
                path = self.directory / f"{number}.pickle"
                yield number, pickle.loads(path.read_bytes())


def scenario_of(number: int) -> str:
    """The name of the scenario that a run varies."""
    return NAMES[number % len(NAMES)]


def source_hash() -> str:
    """Of everything that decides what the campaign draws, and what comes of it without a bug."""
    digest = hashlib.blake2b(str(SEED).encode(), digest_size=8)
    sources = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    for path in (*sources, *(ROOT / name for name in SCENARIOS)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def scenarios_hash(numbers: Iterable[int]) -> str:
    """Of what these runs vary: of other scenarios they are other runs."""
    names = sorted({scenario_of(number) for number in numbers})
    digest = hashlib.blake2b(f"{SEED} {NAMES}".encode(), digest_size=8)
    for name in names:
        digest.update(_path(name).read_bytes())
    return digest.hexdigest()


def _path(name: str) -> Path:
    return ROOT / f"benchmarks/mutants/scenarios/{name}.yaml"


def _drawn(number: int) -> DrawnVariation:
    from whitecap.sim.chaos.swarm import drawn
    from whitecap.sim.loading import load_scenario

    scenario = load_scenario(_path(scenario_of(number)), cells=False)
    return drawn(scenario, SEED, number)


def _judged(drawn: DrawnVariation, number: int) -> CleanRun:
    from whitecap.sim.chaos.examining import examine
    from whitecap.sim.chaos.one_run import judged
    from whitecap.sim.oracles.runs.reopening import judgement_with_readers

    run = judged(judgement_with_readers, drawn, number)
    if run.is_sound:
        return CleanRun(number)
    cause = examine(run, judgement_with_readers, make_small=False).cause
    anomaly = run.findings[0].anomaly.value if run.findings else run.broken.splitlines()[-1]
    return CleanRun(number, anomaly, cause or "nothing that is known")

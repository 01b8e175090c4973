"""What hunts came to until now, kept beside the planted bugs, so that later ones can go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.mutants.campaign import CleanRun
from benchmarks.mutants.hunting import Hunted
from benchmarks.mutants.mutant import ROOT, Mutant

KEPT = ROOT / "benchmarks/mutants/results.json"


class HuntResults(Struct):
    """Every hunt by the bug's name, and the runs without any bug in which something is wrong.

    `clean`: how many were made without any, of the source as it was on `clean_day`. `alike`: bugs
    that are said to change nothing, each with what it changes in the small world.
    """

    hunted: dict[str, Hunted] = {}
    clean: int = 0
    clean_day: str = ""
    wrong: list[CleanRun] = []
    alike: dict[str, str] = {}

    @classmethod
    def read(cls, mutants: Mapping[str, Mutant], path: Path = KEPT) -> HuntResults:
        """Those of other times, as far as bug, source and campaign are still the same."""
        if not path.exists():
            return cls()
        kept = msgspec.json.decode(path.read_bytes(), type=cls)
        kept.hunted = {
            name: hunt
            for name, hunt in kept.hunted.items()
            if name in mutants and not mutants[name].equivalent and hunt.still_holds(mutants[name])
        }
        return kept

    def keep(self, path: Path = KEPT) -> None:
        """Write all down."""
        self.hunted = dict(sorted(self.hunted.items()))
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")

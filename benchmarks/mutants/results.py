"""What hunts came to until now, kept in a file so that one that was cut short can go on."""

from __future__ import annotations

from pathlib import Path

import msgspec

from benchmarks.mutants.hunting import Hunted
from benchmarks.mutants.mutant import ROOT
from benchmarks.mutants.planted import MUTANTS

KEPT = ROOT / "out/mutants.json"


class Results(msgspec.Struct):
    """Every hunt by the bug's name; `clean`: so many runs the code without any bug is to make."""

    runs: int
    clean: int
    hunted: dict[str, Hunted] = {}
    without: Hunted | None = None
    minutes: float = 0.0
    _before: float = 0.0

    @classmethod
    def read(cls, runs: int, clean: int, path: Path = KEPT) -> Results:
        """Those of the last time, of bugs that there still are."""
        if not path.exists():
            return cls(runs, clean)
        kept = msgspec.json.decode(path.read_bytes(), type=cls)
        kept.hunted = {name: one for name, one in kept.hunted.items() if name in MUTANTS}
        kept.runs, kept.clean, kept._before = max(runs, kept.runs), clean, kept.minutes
        return kept

    def keep(self, hunted: Hunted | None, minutes: float, path: Path = KEPT) -> None:
        """Take one in, after so many minutes of this time, and write all down."""
        if hunted is not None:
            self.hunted[hunted.name] = hunted
        self.minutes = self._before + minutes
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self)))

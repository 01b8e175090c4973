"""One generic campaign against one planted bug, in a process of its own.

`python -m benchmarks.mutants.hunting NAME` prints what it came to as JSON. The campaign is the same
for every bug, and for the code without any.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.mutants.mutant import ROOT, Mutant
from benchmarks.mutants.planting import plant

RUNS = 1_000
"""No campaign has more."""

SEED = 20_261_122

SCENARIOS = (
    "benchmarks/mutants/scenarios/one-of-each.yaml",
    "benchmarks/mutants/scenarios/same-rows.yaml",
    "benchmarks/mutants/scenarios/lost-replies.yaml",
)
"""What is varied: all commands, both isolation levels, streams, lost replies."""


@dataclass(frozen=True, slots=True)
class Hunted:
    """What a campaign came to: after how many runs it found something, and what."""

    mutant: str
    runs: int
    anomaly: str | None
    sentence: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether the bug was found out."""
        return self.anomaly is not None


def hunt(name: str, mutant: Mutant | None, runs: int = RUNS, seed: int = SEED) -> Hunted:
    """Run the campaign here until it finds something that no catalogued failure explains."""
    if mutant is not None:
        plant(mutant)
    from whitecap.sim.chaos.campaign import Campaign
    from whitecap.sim.chaos.examining import examine
    from whitecap.sim.chaos.one_run import make
    from whitecap.sim.loading import load_scenario
    from whitecap.sim.oracles.of_run import judgement_of

    scenarios = [load_scenario(ROOT / path, cells=False) for path in SCENARIOS]
    for planned in Campaign(scenarios, runs, seed).planned():
        run = make(judgement_of, planned)
        if run.is_sound or examine(run, judgement_of, make_small=False).is_explained:
            continue
        if run.findings:
            first = run.findings[0]
            return Hunted(name, planned.number + 1, first.anomaly.value, first.sentence)
        return Hunted(name, planned.number + 1, "the run broke", run.broken.splitlines()[-1])
    return Hunted(name, runs, None)


def hunt_apart(name: str, runs: int = RUNS) -> Hunted:
    """The same in a fresh process: a bug is planted before anything is imported."""
    command = [sys.executable, "-m", "benchmarks.mutants.hunting", name, str(runs)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return Hunted(**json.loads(ended.stdout))


def main(arguments: Sequence[str]) -> None:
    from benchmarks.mutants.planted import MUTANTS

    name, runs = arguments[0], int(arguments[1]) if len(arguments) > 1 else RUNS
    mutant = None if name == "none" else MUTANTS[name]
    print(json.dumps(asdict(hunt(name, mutant, runs))))


if __name__ == "__main__":
    main(sys.argv[1:])

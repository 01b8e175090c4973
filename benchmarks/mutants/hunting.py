"""One generic campaign against one planted bug; conformance cases against what harms no data.

The campaign is the same for every bug, and for the code without any, in which it finds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

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
"""What is varied: all commands that change rows, streams, maintenance, lost replies."""

CASES = ROOT / "tests/conformance/cases"

BROKE = "the run broke"


@dataclass(frozen=True, slots=True)
class Hunted:
    """What a campaign came to: after how many runs, or cases, it found something, and what.

    `needs` is the fault or dialect without which it is gone, in the same seed.
    """

    name: str
    tries: int
    caught_as: str | None
    sentence: str = ""
    needs: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether the bug was found out."""
        return self.caught_as is not None


def hunt(mutant: Mutant | None, runs: int = RUNS) -> Hunted:
    """Look for what is wrong with the code with a bug in it, here: once in a process."""
    if mutant is not None:
        plant(mutant)
        try:
            return _by_campaign(mutant.name, runs) if mutant.unsafe else _by_cases(mutant.name)
        except Exception as error:  # with a bug planted anything may break, the oracles too
            return Hunted(mutant.name, 1, BROKE, f"{type(error).__name__}: {error}")
    return _by_campaign("none", runs)


HARMFUL = "stale_listing"
"""A fault by which whoever lists misses what was acknowledged, whatever the engine: what follows
from it shows no bug."""


def _by_campaign(name: str, runs: int) -> Hunted:
    from whitecap.sim.chaos.campaign import Campaign
    from whitecap.sim.chaos.examining import examine
    from whitecap.sim.chaos.one_run import make
    from whitecap.sim.loading import load_scenario
    from whitecap.sim.oracles.runs.reopening import judgement_with_readers

    scenarios = [load_scenario(ROOT / path, cells=False) for path in SCENARIOS]
    for planned in Campaign(scenarios, runs, SEED).planned():
        run = make(judgement_with_readers, planned)
        if run.is_sound:
            continue
        needs = examine(run, judgement_with_readers, make_small=False).cause or ""
        if HARMFUL in needs:
            continue
        if run.findings:
            first = run.findings[0]
            return Hunted(name, planned.number + 1, first.anomaly.value, first.sentence, needs)
        said = [line for line in run.broken.splitlines() if not line.startswith("to reproduce")]
        return Hunted(name, planned.number + 1, BROKE, said[-1], needs)
    return Hunted(name, runs, None)


def _by_cases(name: str) -> Hunted:
    from whitecap.engine.races.conformance.case import CaseStatus, load_cases
    from whitecap.engine.races.conformance.run import run_cases

    cases = [case for path in sorted(CASES.glob("*.json")) for case in load_cases(path)]
    for tries, result in enumerate(run_cases(cases), start=1):
        if result.status is CaseStatus.FAILED:
            return Hunted(name, tries, "conformance", f"case {result.id}")
    return Hunted(name, len(cases), None)

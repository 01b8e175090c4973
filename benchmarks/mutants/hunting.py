"""The campaign against one planted bug; cases and races against what harms no data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.mutants.campaign import HuntingCampaign, scenario_of, scenarios_hash
from benchmarks.mutants.mutant import ROOT, Area, Mutant
from benchmarks.mutants.planting import plant
from benchmarks.mutants.small_world import SmallWorld, difference

CASES = ROOT / "tests/conformance/cases"

BROKE = "the run broke"

CONFORMANCE = "conformance"

RACE = "another ending of a race"

_BY_ROWS = ("same-rows", "under-compaction", "rows-and-conditions")

LIKELY = {
    Area.ROWS: _BY_ROWS,
    Area.VECTORS: _BY_ROWS,
    Area.STORE: ("lost-replies", "other-stores"),
    Area.CLIENT: ("lost-replies", "other-stores"),
    Area.READS: ("one-of-each", "small-files", "plain-appends"),
    Area.RULES: ("one-of-each", "small-files", "plain-appends"),
    Area.COMMANDS: ("one-of-each", "plain-appends"),
}
"""Area of a bug -> the scenarios in which it is looked for first."""


class Hunted(Struct, frozen=True):
    """What the hunt of one bug came to: by which run, or case, it was seen, and as what.

    `tries`: that run of the campaign, counted from one, or how many there were in vain. `day`:
    when. `place` and `scenarios`: hashes of the source with the bug in it and of what was varied,
    by which a later hunt knows whether this one still says something.
    """

    name: str
    tries: int
    caught_as: str | None
    sentence: str = ""
    day: str = ""
    place: str = ""
    scenarios: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether the bug was found out."""
        return self.caught_as is not None

    def still_holds(self, mutant: Mutant) -> bool:
        """Whether the bug is the same in the same source, and the runs vary the same."""
        return (self.place, self.scenarios) == (mutant.place(), self.hash_of_scenarios())

    def hash_of_scenarios(self) -> str:
        """Of the run that found it, or of all runs that did not; nothing where none was made."""
        if self.caught_as in (CONFORMANCE, RACE):
            return ""
        return scenarios_hash(range(self.tries - 1 if self.is_caught else 0, self.tries))


class Hunt(Struct, frozen=True):
    """A bug, and the runs of the campaign that are to find it."""

    mutant: Mutant
    campaign: HuntingCampaign
    numbers: Sequence[int]

    def __call__(self) -> Hunted:
        """Plant it and look for what is wrong, here: once in a process."""
        mutant = self.mutant
        plant(mutant)
        try:
            tries, caught_as, sentence = self._by_campaign() if mutant.unsafe else self._by_cases()
        except Exception as error:  # with a bug planted anything may break, the oracles too
            tries, caught_as, sentence = 1, BROKE, f"{type(error).__name__}: {error}"
        day = datetime.now(tz=UTC).date().isoformat()
        hunted = Hunted(mutant.name, tries, caught_as, sentence, day, mutant.place())
        return replace(hunted, scenarios=hunted.hash_of_scenarios())

    def _by_campaign(self) -> tuple[int, str | None, str]:
        from whitecap.sim.chaos.one_run import judged
        from whitecap.sim.oracles.runs.reopening import judgement_with_readers

        for number, variation in self.campaign.variations(self._in_order()):
            run = judged(judgement_with_readers, variation, number)
            if run.findings:
                first = run.findings[0]
                return number + 1, first.anomaly.value, first.sentence
            if run.broken:
                lines = run.broken.splitlines()
                return number + 1, BROKE, [x for x in lines if not x.startswith("to reproduce")][-1]
        return max(self.numbers) + 1, None, ""

    def _in_order(self) -> list[int]:
        """The runs, those of the scenarios that were written for the bug's area first.

        That saves time; which run finds it first in the campaign's own order is not asked.
        """
        first = LIKELY.get(self.mutant.area, ())
        return sorted(self.numbers, key=lambda number: scenario_of(number) not in first)

    def _by_cases(self) -> tuple[int, str | None, str]:
        """By what real Delta does; of what only other engines do, by the small world."""
        from whitecap.engine.races.conformance.case import CaseStatus, load_cases
        from whitecap.engine.races.conformance.run import run_cases

        cases = [case for path in sorted(CASES.glob("*.json")) for case in load_cases(path)]
        for tries, result in enumerate(run_cases(cases), start=1):
            if result.status is CaseStatus.FAILED:
                return tries, CONFORMANCE, f"case {result.id}"
        without = self.campaign.races
        if without is None:
            return len(cases), None, ""
        changed = difference(SmallWorld().shown(None), without)
        return len(cases) + len(without), None if changed is None else RACE, changed or ""

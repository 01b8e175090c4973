"""What is made of a run that went wrong: its cause by name, and the smallest scenario like it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from whitecap.sim.chaos.explaining import explanation
from whitecap.sim.chaos.one_run import MOST_ROWS, ChaosRun, RunJudge, judged_to_the_end
from whitecap.sim.chaos.parts import NO_SCENARIO
from whitecap.sim.chaos.shrinking import Shrunk, shrink
from whitecap.sim.chaos.trials import Tell, tell_nobody
from whitecap.sim.loading import parse_scenario
from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.oracles.finding import Anomaly, Finding
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.store.contents.objects import Overgrown


class Examined(Struct, frozen=True):
    """A run that went wrong. `cause` is `None` where nothing that is catalogued explains it."""

    run: ChaosRun
    cause: str | None
    shrunk: Shrunk | None

    @property
    def is_explained(self) -> bool:
        """Whether it is there because of a catalogued failure, and gone without it."""
        return self.cause is not None

    @property
    def finding(self) -> Finding | None:
        """The first thing that is wrong, `None` where the run itself broke."""
        return self.run.findings[0] if self.run.findings else None

    @property
    def small_finding(self) -> Finding | None:
        """The same of the small scenario, whose transactions and versions are others."""
        return self.shrunk.finding if self.shrunk and self.shrunk.finding else self.finding


def examine(
    run: ChaosRun, judge: RunJudge, *, make_small: bool = True, tell: Tell = tell_nobody
) -> Examined:
    """Look for the cause of what is wrong with it, and make it small.

    That a run broke is a defect of ours, whatever it takes to bring it about. So it is of one that
    was misdrawn, or whose scenario cannot be read again: nothing can be made of that.
    """
    if run.misdrawn:
        return Examined(run, None, None)
    try:
        scenario = parse_scenario(run.text, run.name, cells=False)
    except NO_SCENARIO as error:
        return Examined(replace(run, misdrawn=str(error)), None, None)
    tell(0)
    fails = _Fails.like(run.findings, judge)
    cause = None if run.broken else _cause(scenario, judge, run.findings)
    small = shrink(scenario, fails.with_what, tell=tell) if make_small else None
    return Examined(run, cause, small)


def _cause(scenario: Scenario, judge: RunJudge, findings: Collection[Finding]) -> str | None:
    """What all of them follow from, or else those of each anomaly; `None` if some from nothing."""
    of_anomaly: dict[Anomaly, list[Finding]] = defaultdict(list)
    for finding in findings:
        of_anomaly[finding.anomaly].append(finding)
    cause = _cause_of(scenario, judge, findings)
    if cause is not None or len(of_anomaly) == 1:
        return cause
    causes = [_cause_of(scenario, judge, of_anomaly[each]) for each in sorted(of_anomaly)]
    named = [each for each in causes if each is not None]
    return ", and ".join(dict.fromkeys(named)) if len(named) == len(causes) else None


def _cause_of(scenario: Scenario, judge: RunJudge, findings: Collection[Finding]) -> str | None:
    only_inserts = all(finding.only_inserts_missed for finding in findings)
    return explanation(scenario, _Fails.like(findings, judge), only_inserts_missed=only_inserts)


class _Fails(Struct, frozen=True):
    """Whether a scenario goes wrong in one of these ways; without any, whether its run breaks.

    Rows without number go wrong in whichever way.
    """

    judge: RunJudge
    anomalies: frozenset[Anomaly]

    @classmethod
    def like(cls, findings: Collection[Finding], judge: RunJudge) -> Self:
        """With the anomalies of some findings."""
        return cls(judge, frozenset(finding.anomaly for finding in findings))

    def __call__(self, scenario: Scenario) -> bool:
        return bool(self.with_what(scenario))

    def with_what(self, scenario: Scenario) -> bool | Finding:
        """The same, with the first of these findings where there is one."""
        try:
            finished = run_scenario(scenario, most_rows=MOST_ROWS)
            judgement = judged_to_the_end(self.judge, finished)
        except Overgrown:
            return bool(self.anomalies)
        except Exception as error:
            reraise_interruption(error)
            return not self.anomalies
        alike = (each for each in judgement.findings if each.anomaly in self.anomalies)
        return next(alike, False)

"""One run of a campaign: drawn, made, judged, and now and then made twice."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Callable

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whitecap.engine.errors import InvariantViolated
from whitecap.engine.recorded import RecordedOutcome
from whitecap.sim.chaos.exercised import COLUMNS, exercised
from whitecap.sim.chaos.parts import NO_SCENARIO
from whitecap.sim.chaos.swarm import DrawnVariation, drawn
from whitecap.sim.chaos.timeline import Lane, lanes_of
from whitecap.sim.machine.garbage import seldom_collecting
from whitecap.sim.machine.interruption import reraise_interruption
from whitecap.sim.oracles.finding import Anomaly, Finding, Judgement, NotChecked, Oracle
from whitecap.sim.oracles.runs.of_run import history_of
from whitecap.sim.run import FinishedRun, run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.yaml.text import show_document
from whitecap.sim.store.contents.objects import Overgrown

RunJudge = Callable[[FinishedRun], Judgement]
"""What says whether a finished run is sound."""

TWICE = 50
"""Every so manieth run is made a second time: the same scenario and seed must give the same."""


FEWEST_COMMITS = 20
"""A run with fewer has hardly put anything to the test: it is drawn again, longer."""

LONGEST = 8.0
"""By how much it is longer then, at most: where nobody can commit, more jobs do not help."""


MOST_ROWS = 2_000_000
"""Written to a table in a run, which is then given up: the shipped scenarios write up to 80,000.
Where an engine checks too little, concurrent compactions keep each file several times, and the next
ones the copies: rows grow without bounds, and so would the computing time."""


class ChaosRun(Struct, frozen=True):
    """What is kept of a run. `trace` names what happened in it: equal for equal recordings.

    `broken` is the text of an error that ended it, which is a defect of ours; `misdrawn` says why
    what was drawn is no scenario, which is one of the draw. `rows`: whether its statements were run
    again. `overgrown`: it was given up when it had written `MOST_ROWS`. `lanes` show what happened
    around the first finding.
    """

    number: int
    name: str
    text: str
    trace: str
    choices: dict[str, object] = field(default_factory=dict)
    in_vain: tuple[str, ...] = ()
    commits: int = 0
    transactions: int = 0
    findings: tuple[Finding, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    exercised: frozenset[str] = frozenset()
    seconds: float = 0.0
    broken: str = ""
    misdrawn: str = ""
    rows: bool = True
    lanes: tuple[Lane, ...] = ()
    overgrown: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return not (self.findings or self.broken or self.misdrawn)

    @property
    def is_short(self) -> bool:
        """Whether hardly anything was put to the test."""
        return self.commits < FEWEST_COMMITS and not self.overgrown


class CampaignRun(Struct, frozen=True):
    """Run `number` of a campaign over `scenario` with `seed`, without faults of some kinds.

    `rows`: whether statements are run again beside it, or their dependencies are judged alone.
    """

    scenario: Scenario
    seed: int
    number: int
    without: frozenset[str] = frozenset()
    rows: bool = True

    def drawn(self, length: float) -> DrawnVariation:
        """What it is, with so many times as many jobs. Raises one of `NO_SCENARIO`."""
        return drawn(self.scenario, self.seed, self.number, self.without, length)


def make(judge: RunJudge, planned: CampaignRun) -> ChaosRun:
    """Draw it, run it, judge it; once more, longer, if little was committed and nothing is wrong.

    Raises nothing that the run itself is to blame for.
    """
    began = time.perf_counter()
    with seldom_collecting():
        made = _made(judge, planned)
    return replace(made, seconds=time.perf_counter() - began, rows=planned.rows)


def _made(judge: RunJudge, planned: CampaignRun) -> ChaosRun:
    made = _of_length(1.0, judge, planned)
    if made.is_sound and made.is_short:
        made = _of_length(min(2 * FEWEST_COMMITS / max(made.commits, 1), LONGEST), judge, planned)
    return made


def _of_length(length: float, judge: RunJudge, planned: CampaignRun) -> ChaosRun:
    try:
        variation = planned.drawn(length)
    except NO_SCENARIO as error:
        return _misdrawn(planned, str(error))
    return judged(judge, variation, planned.number)


def _misdrawn(planned: CampaignRun, why: str) -> ChaosRun:
    """One that never was; no other is the same."""
    trace = f"run {planned.number}"
    return ChaosRun(planned.number, planned.scenario.name, "", trace, misdrawn=why)


def judged(judge: RunJudge, variation: DrawnVariation, number: int) -> ChaosRun:
    """A variation, run and judged."""
    try:
        finished = run_scenario(variation.scenario, most_rows=MOST_ROWS)
        judgement = judged_to_the_end(judge, finished)
        if number % TWICE == 0:
            _check_repeats(finished)
    except Overgrown:
        return replace(_unjudged(variation, number), overgrown=True)
    except InvariantViolated as error:
        return replace(_unjudged(variation, number), broken=str(error))
    except Exception as error:
        reraise_interruption(error)
        return replace(_unjudged(variation, number), broken=traceback.format_exc())
    return _kept(variation, number, finished, judgement)


def _kept(
    variation: DrawnVariation, number: int, finished: FinishedRun, judgement: Judgement
) -> ChaosRun:
    counts, findings = finished.recording.manifest["counts"], judgement.findings
    return ChaosRun(
        number=number,
        name=variation.scenario.name,
        text=finished.recording.scenario,
        choices=variation.choices,
        in_vain=variation.in_vain,
        commits=counts[RecordedOutcome.COMMITTED],
        transactions=counts["submitted"],
        trace=trace_of(finished),
        findings=findings,
        not_checked=judgement.not_checked,
        exercised=exercised(variation, finished.recording.columns(COLUMNS)),
        lanes=lanes_of(history_of(finished).transactions, findings[0]) if findings else (),
    )


def judged_to_the_end(judge: RunJudge, finished: FinishedRun) -> Judgement:
    """What a judge says of a run, and whether everything in it came to an end."""
    judgement = judge(finished)
    findings = (*judgement.findings, *_unresolved(finished))
    return Judgement(findings, judgement.not_checked)


def trace_of(finished: FinishedRun) -> str:
    """A hash of all rows of a recording's tables."""
    digest = hashlib.blake2b(digest_size=16)
    for name, table in sorted(finished.recording.tables.items()):
        digest.update(name.encode())
        digest.update(_bytes(table))
    return digest.hexdigest()


def _bytes(table: pa.Table) -> memoryview:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table.combine_chunks())
    return memoryview(sink.getvalue())


def _unresolved(finished: FinishedRun) -> tuple[Finding, ...]:
    """Once the faults are over and nothing new is begun, everything comes to an end."""
    in_flight = finished.recording.manifest["counts"][RecordedOutcome.IN_FLIGHT]
    if not in_flight:
        return ()
    said = f"{in_flight} transactions are still under way half a day after the last fault"
    return (Finding(oracle=Oracle.LIVENESS, anomaly=Anomaly.UNRESOLVED, sentence=said),)


def _check_repeats(finished: FinishedRun) -> None:
    """Make a run again: what differs then is a defect of ours. Raises `InvariantViolated`."""
    again = run_scenario(finished.scenario)
    if trace_of(again) != trace_of(finished):
        raise InvariantViolated("the same scenario and seed gave another recording")


def _unjudged(variation: DrawnVariation, number: int) -> ChaosRun:
    """One that came to no end."""
    return ChaosRun(
        number=number,
        name=variation.scenario.name,
        text=show_document(variation.scenario.document),
        choices=variation.choices,
        in_vain=variation.in_vain,
        trace=variation.scenario.hash,
    )
